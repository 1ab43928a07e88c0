package chart

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/server"
)

func TestLint(t *testing.T) {
	for _, chart := range []Chart{Landscaper, ShootFlux} {
		directory, err := chart.Directory()
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range lint.RunAll(directory, nil, chart.Namespace).Messages {
			// An icon is decoration; everything else counts.
			if !strings.Contains(message.Error(), "icon is recommended") {
				t.Errorf("%s: %v", chart.Name, message)
			}
		}
	}
}

func TestRender(t *testing.T) {
	tests := []struct {
		reason string
		values map[string]any
		kind   string
		name   string
		want   []string
	}{
		{"the defaults run all controllers", nil, "Deployment", "landscaper", []string{"--controllers=" + strings.Join(server.Controllers(), ","), "landscaper:0.1.0", "--leader-elect"}},
		{"the image is pinned", map[string]any{"image": map[string]any{"digest": "sha256:0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc", "tag": "ignored"}}, "Deployment", "landscaper", []string{`"image":"landscaper@sha256:0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc"`}},
		{"the image of the installer is pinned", map[string]any{"image": map[string]any{"digest": "sha256:0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc"}}, "Job", "landscaper-install", []string{`"image":"landscaper@sha256:0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc0abc"`}},
		{"metrics may be switched off", map[string]any{"metrics": map[string]any{"enabled": false}}, "Deployment", "landscaper", []string{"--metrics-address=0"}},
		{"collectors of metrics are let in", map[string]any{"networkPolicy": map[string]any{"metricsFrom": []any{map[string]any{"podSelector": map[string]any{}}}}}, "NetworkPolicy", "landscaper", []string{`"from":[{"podSelector":{}}]`, `"port":"metrics"`}},
		{"without collectors of metrics, no client is let in", nil, "NetworkPolicy", "landscaper", []string{`"ingress":[]`, `"except":["169.254.0.0/16"]`, `"port":53`}},
		{"an installer runs before the program", nil, "Job", "landscaper-install", []string{"/landscaper", "install"}},
		{"a deployer may run elsewhere", map[string]any{"controllers": []any{"installation", "execution"}, "workers": map[string]any{"installation": 64}}, "Deployment", "landscaper", []string{"--controllers=installation,execution", "--workers=installation=64"}},
		{"permissions reach installer and program", map[string]any{"install": map[string]any{"importNamespaces": []any{map[string]any{"from": "shared", "to": []any{"team-a"}}}}}, "Job", "landscaper-install", []string{"--allow-import-from=shared=team-a"}},
		{"the default repository reaches the program", map[string]any{"contexts": map[string]any{"repositoryContext": map[string]any{"type": "ociRegistry", "baseUrl": "r"}}}, "ConfigMap", "landscaper", []string{`repositoryContext: {\"baseUrl\":\"r\",\"type\":\"ociRegistry\"}`}},
		{"traces are sent to the configured endpoint", map[string]any{"traceEndpoint": "https://c:4318"}, "Deployment", "landscaper", []string{"--trace-endpoint=https://c:4318"}},
		{"the program writes its health", map[string]any{"healthCheck": "health"}, "ConfigMap", "landscaper", []string{"lsDeployments: {deploymentsNamespace: landscaper-system, lsHealthCheckName: health}"}},
		{"a console", console(nil), "ConfigMap", "landscaper", []string{`\"url\":\"https://c.example.org\"`, `\"login\":{\"token\":true}`, `\"address\":\":8443\"`}},
		{"its Service", console(nil), "Service", "landscaper-console", []string{`"name":"http"`, `"targetPort":"console"`}},
		{"its Secrets are mounted", console(map[string]any{
			"tls":   map[string]any{"secretName": "console-tls"},
			"login": map[string]any{"oidc": map[string]any{"issuer": "https://sso.example.org", "clientID": "c", "secretName": "sso"}},
		}), "Deployment", "landscaper", []string{`"secretName":"console-tls"`, `"mountPath":"/etc/console/tls"`, `"secretName":"sso"`, `"mountPath":"/etc/console/oidc"`, `"containerPort":8443`}},
		{"who is acted for is named", console(map[string]any{"actions": map[string]any{"enabled": true, "users": []any{"jane"}, "groups": []any{"dev"}}}), "ClusterRole", "landscaper-console",
			[]string{`"resourceNames":["jane"],"resources":["users"],"verbs":["impersonate"]`, `"resourceNames":["dev"],"resources":["groups"],"verbs":["impersonate"]`}},
		{"plans need no actions", console(map[string]any{"plans": map[string]any{"enabled": true}}), "ConfigMap", "landscaper", []string{`\"plans\":{\"enabled\":true}`, `\"actions\":{\"enabled\":false,\"groups\":[]}`}},
		{"clients of the console are let in", map[string]any{
			"featureGates": withConsole, "console": console(nil)["console"], "networkPolicy": map[string]any{"consoleFrom": []any{map[string]any{"podSelector": map[string]any{}}}},
		}, "NetworkPolicy", "landscaper", []string{`"from":[{"podSelector":{}}]`, `"port":"console"`}},
		{"without a console, its clients are not", map[string]any{
			"networkPolicy": map[string]any{"consoleFrom": []any{map[string]any{"podSelector": map[string]any{}}}},
		}, "NetworkPolicy", "landscaper", []string{`"ingress":[]`}},
		{"an address for notifications", webhook("hook-tls"), "ConfigMap", "landscaper", []string{`channels: {webhook: {address: \":8444\", tls: {certificate: /etc/webhook/tls/tls.crt, key: /etc/webhook/tls/tls.key}}}`}},
		{"its Service", webhook(""), "Service", "landscaper-webhook", []string{`"name":"http"`, `"targetPort":"webhook"`}},
		{"its Secret is mounted", webhook("hook-tls"), "Deployment", "landscaper", []string{`"secretName":"hook-tls"`, `"mountPath":"/etc/webhook/tls"`, `"containerPort":8444`}},
		{"senders of notifications are let in", webhook(""), "NetworkPolicy", "landscaper", []string{`"from":[{"podSelector":{}}]`, `"port":"webhook"`}},
		{"files for the program come from volumes", map[string]any{
			"volumes":      []any{map[string]any{"name": "registry", "secret": map[string]any{"secretName": "registry-files"}}},
			"volumeMounts": []any{map[string]any{"name": "registry", "mountPath": "/etc/registry"}},
		}, "Deployment", "landscaper", []string{`"secretName":"registry-files"`, `"mountPath":"/etc/registry"`, `"mountPath":"/etc/landscaper"`}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			contains(t, render(t, test.values), test.kind, test.name, test.want)
		})
	}
}

// webhook are the values of an address for notifications.
func webhook(secret string) map[string]any {
	return map[string]any{
		"featureGates":  map[string]any{"Fleets": true},
		"channels":      map[string]any{"webhook": map[string]any{"enabled": true, "tls": map[string]any{"secretName": secret}}},
		"networkPolicy": map[string]any{"webhookFrom": []any{map[string]any{"podSelector": map[string]any{}}}},
	}
}

// TestWebhookConfiguration: the program accepts what the chart writes for it.
func TestWebhookConfiguration(t *testing.T) {
	object, err := Find(render(t, webhook("hook-tls")), "ConfigMap", Release)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := unstructured.NestedString(object.Object, "data", "config.yaml")
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config := server.Default()
	warnings, err := config.Load(path)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v", warnings, err)
	}
	if err := config.Validate(); err != nil || !config.Channels.Enabled() || config.Channels.Webhook.TLS.Key == "" {
		t.Errorf("%+v, %v", config.Channels, err)
	}
}

// withConsole switches the console on.
var withConsole = map[string]any{"ServerConsole": true}

// console are the values of a console.
func console(more map[string]any) map[string]any {
	values := map[string]any{"enabled": true, "url": "https://c.example.org"}
	maps.Copy(values, more)
	return map[string]any{"featureGates": withConsole, "console": values}
}

// TestConsoleConfiguration: the program accepts what the chart writes for it.
func TestConsoleConfiguration(t *testing.T) {
	values := console(map[string]any{
		"tls": map[string]any{"secretName": "console-tls"}, "sessionTime": "12h",
		"actions": map[string]any{"enabled": true, "groups": []any{"dev"}},
		"plans":   map[string]any{"enabled": true},
		"login": map[string]any{
			"oidc":  map[string]any{"issuer": "https://sso.example.org", "clientID": "c", "secretName": "sso", "caFromSecret": true, "usernameClaim": "email", "scopes": []any{"email"}},
			"proxy": map[string]any{"usernameHeader": "X-User", "secretHeader": "X-Secret", "certificateNames": []any{"front"}, "secretName": "proxy"},
		},
	})
	object, err := Find(render(t, values), "ConfigMap", Release)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := unstructured.NestedString(object.Object, "data", "config.yaml")
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config := server.Default()
	warnings, err := config.Load(path)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v", warnings, err)
	}
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
	login := config.Console.Login
	if actions := config.Console.Actions; !actions.Enabled || !slices.Equal(actions.Groups, []string{"dev"}) {
		t.Errorf("%+v", actions)
	}
	if !config.Console.Plans.Enabled {
		t.Error("there are no plans")
	}
	if !config.Console.Enabled() || !login.Token || login.OIDC.ClientSecret != "/etc/console/oidc/clientSecret" || login.OIDC.CertificateAuthorities == "" ||
		login.Proxy.Secret != "/etc/console/proxy/secret" || login.Proxy.CertificateAuthorities != "/etc/console/proxy/ca.crt" {
		t.Errorf("%+v", config.Console)
	}
}

// TestNoConsole: without being asked for, there is nothing of it.
func TestNoConsole(t *testing.T) {
	for _, object := range render(t, nil) {
		text, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "console") {
			t.Errorf("%s %s: %s", object.GetKind(), object.GetName(), text)
		}
	}
}

// contains looks for parts of an object.
func contains(t *testing.T, objects []*unstructured.Unstructured, kind, name string, parts []string) {
	t.Helper()
	object, err := Find(objects, kind, name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range parts {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

func render(t *testing.T, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	objects, err := Render(values)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestRenderedConfiguration shows that the program understands what the chart
// writes.
func TestRenderedConfiguration(t *testing.T) {
	objects, err := Render(map[string]any{
		"contexts":                  map[string]any{"excludedNamespaces": []any{"kube-system"}},
		"install":                   map[string]any{"importNamespaces": []any{map[string]any{"from": "shared", "to": []any{"team-a"}}}},
		"registry":                  map[string]any{"oci": map[string]any{"certificateAuthorities": "/etc/registry/ca.pem", "redirects": map[string]any{"hosts": []any{".example.org"}}}},
		"signatureVerification":     "Enforce",
		"disabledTemplateFunctions": []any{"getOidcKubeconfig"},
		"blueprints":                map[string]any{"namedTargets": true},
		"namespaces":                []any{"team-a", "team-b"},
		"metrics":                   map[string]any{"authenticated": false},
	})
	if err != nil {
		t.Fatal(err)
	}
	configMap, err := Find(objects, "ConfigMap", "landscaper")
	if err != nil {
		t.Fatal(err)
	}
	content, _, err := unstructured.NestedString(configMap.Object, "data", "config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	config := server.Default()
	warnings, err := config.Load(path)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("warnings %v, error %v", warnings, err)
	}
	if !slices.Equal(config.ExcludedNamespaces, []string{"kube-system"}) || !slices.Equal(config.SourceNamespaces["shared"], []string{"team-a"}) {
		t.Errorf("got %+v", config)
	}
	if !slices.Equal(config.Namespaces, []string{"team-a", "team-b"}) || !config.OpenMetrics || !config.NamedTargets {
		t.Errorf("got namespaces %v, open metrics %t, named Targets %t", config.Namespaces, config.OpenMetrics, config.NamedTargets)
	}
	oci := config.Registry.OCI
	if oci.CertificateAuthorities != "/etc/registry/ca.pem" || !slices.Equal(oci.Redirects.Hosts, []string{".example.org"}) || config.Verification != installation.VerifyAlways || !slices.Equal(config.DisabledFunctions, []string{"getOidcKubeconfig"}) {
		t.Errorf("got %+v", config)
	}
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
}

// TestLeastPrivilege shows that no rule is for everything.
func TestLeastPrivilege(t *testing.T) {
	ours, oursErr := Render(nil)
	flux, fluxErr := ShootFlux.Render(nil)
	if err := errors.Join(oursErr, fluxErr); err != nil {
		t.Fatal(err)
	}
	for _, object := range append(ours, flux...) {
		if object.GetKind() != "ClusterRole" && object.GetKind() != "Role" {
			continue
		}
		rules, _, err := unstructured.NestedSlice(object.Object, "rules")
		if err != nil || len(rules) == 0 {
			t.Errorf("%s: no rules (%v)", object.GetName(), err)
		}
		for _, rule := range rules {
			for field, values := range rule.(map[string]any) {
				if slices.Contains(values.([]any), any("*")) {
					t.Errorf("%s %s has a rule for all %s", object.GetKind(), object.GetName(), field)
				}
			}
		}
	}
}
