package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/server/feature"
)

// TestFeatureGates: the schema knows the features of the program.
func TestFeatureGates(t *testing.T) {
	gates := map[string]any{}
	for name := range feature.Gates().GetAll() {
		gates[string(name)] = true
	}
	contains(t, render(t, map[string]any{"featureGates": gates}), "ConfigMap", Release, []string{`featureGates: {\"AllAlpha\":true,\"AllBeta\":true,\"DeliveryPolicies\":true,\"Fleets\":true,\"ServerConsole\":true}`})
}

// TestValues: what a value means for the schema of the charts: a mistake is an error before
// anything is installed, and the message names the value.
func TestValues(t *testing.T) {
	for _, row := range []struct {
		chart                 Chart
		values, wrong, reason string
	}{
		{Landscaper, `{}`, "", "the chart's own values"},
		{Landscaper, `{replica: 2}`, "replica", "a word that is not known would have no effect"},
		{Landscaper, `{networkPolicy: {metricFrom: []}}`, "metricFrom", "a network policy that lets nothing in"},
		{Landscaper, `{signatureVerification: enforce}`, "signatureVerification", "the program would end at its start"},
		{Landscaper, `{controllers: [installations]}`, "controllers", "the program would end at its start"},
		{Landscaper, `{image: {digest: "4f5e"}}`, "digest", "no image would be pulled"},
		{Landscaper, `{replicas: "2"}`, "replicas", "the API server would refuse it"},
		{Landscaper, `{topologySpreadConstraints: [{topologyKey: zone}]}`, "whenUnsatisfiable", "the API server would refuse it"},
		{Landscaper, `{install: {importNamespaces: [{from: shared}]}}`, "to", "a permission for no namespace"},
		{Landscaper, `{egress: {allowLoopback: true}, registry: {oci: {allowPlainHttp: true}}}`, "", "the program checks its configuration"},
		{Landscaper, `{featureGates: {ServerConsol: true}}`, "ServerConsol", "the program would end at its start"},
		{Landscaper, `{featureGates: {ServerConsole: "on"}}`, "ServerConsole", "the program would end at its start"},
		{Landscaper, `{console: {enabled: true, url: "https://c.example.org"}}`, "featureGates.ServerConsole", "what may still change needs a word of its own"},
		{Landscaper, `{featureGates: {AllAlpha: true}, console: {enabled: true, url: "https://c.example.org"}}`, "", "all alpha features are on"},
		{Landscaper, `{featureGates: {AllAlpha: true, ServerConsole: false}, console: {enabled: true, url: "https://c.example.org"}}`, "featureGates.ServerConsole", "all but this one"},
		{Landscaper, `{featureGates: {ServerConsole: true}, console: {enabled: true}}`, "console.url", "the program would end at its start"},
		{Landscaper, `{console: {enabled: true, url: "console.example.org"}}`, "url", "browsers need the whole address"},
		{Landscaper, `{console: {url: "https://example.org/console"}}`, "url", "there is no console below a path"},
		{Landscaper, `{console: {login: {tokens: true}}}`, "tokens", "a way in that does not open"},
		{Landscaper, `{console: {login: {oidc: {issuer: "https://sso.example.org"}}}}`, "clientID", "the program would end at its start"},
		{Landscaper, `{console: {login: {oidc: {issuer: "http://sso.example.org", clientID: c}}}}`, "issuer", "tokens in clear text"},
		{Landscaper, `{console: {login: {proxy: {usernameHeader: X-User}}}}`, "secretName", "every client could say who it is"},
		{Landscaper, `{console: {login: {proxy: {usernameHeader: X-User, usernamePrefix: "system:", secretName: s}}}}`, "usernamePrefix", "a user of Kubernetes itself"},
		{Landscaper, `{console: {actions: {enabled: true, groups: ["system:masters"]}}}`, "groups", "the server could do everything"},
		{Landscaper, `{console: {actions: {enabled: true, groups: ["*"]}}}`, "groups", "these are all groups of Kubernetes, too"},
		{Landscaper, `{console: {actions: {enabled: true, users: ["system:kube-controller-manager"]}}}`, "users", "the server could act as a part of Kubernetes"},
		{Landscaper, `{monitoring: {podMonitor: {enabled: true}}}`, "networkPolicy.metricsFrom", "Prometheus would not reach the metrics"},
		{Landscaper, `{monitoring: {podMonitor: {enabled: true}}, metrics: {enabled: false}}`, "metrics.enabled", "there is nothing to collect"},
		{Landscaper, `{monitoring: {podMonitors: {enabled: true}}}`, "podMonitors", "nothing would be collected"},
		{ShootFlux, `{}`, "", "the chart's own values"},
		{ShootFlux, `{gardener: {version: v1.130.0, seed: {name: a}}, global: {}}`, "", "gardenlet adds its own"},
		{ShootFlux, `{flux: {mirror: {checksums: {v2.8.1: "4f5e"}}}}`, "checksums", "no release would be accepted"},
		{ShootFlux, `{defaultWithoutConfig: nothing}`, "defaultWithoutConfig", "the program would end at its start"},
	} {
		t.Run(row.chart.Name+row.values, func(t *testing.T) {
			var values map[string]any
			if err := yaml.Unmarshal([]byte(row.values), &values); err != nil {
				t.Fatal(err)
			}
			_, err := row.chart.Render(values)
			if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%s: %v", row.reason, err)
			}
		})
	}
}

// TestAvailability: several replicas are on different nodes, nodes can be drained, and neither
// counts the pods of jobs, which have the labels of the server.
func TestAvailability(t *testing.T) {
	objects, err := Render(map[string]any{"replicas": 2, "priorityClassName": "system-cluster-critical", "nodeSelector": map[string]any{"pool": "a"}})
	if err != nil {
		t.Fatal(err)
	}
	deployment, err := Find(objects, "Deployment", Release)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := Find(objects, "PodDisruptionBudget", Release)
	if err != nil {
		t.Fatal(err)
	}
	job, err := Find(objects, "Job", Release+"-install")
	if err != nil {
		t.Fatal(err)
	}
	check, err := Find(objects, "Pod", Release+"-check")
	if err != nil {
		t.Fatal(err)
	}
	spread, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "topologySpreadConstraints")
	if len(spread) != 1 {
		t.Fatalf("the replicas are spread by %v", spread)
	}
	constraint := spread[0].(map[string]any)
	if constraint["topologyKey"] != "kubernetes.io/hostname" || fmt.Sprint(constraint["maxSkew"]) != "1" {
		t.Errorf("the replicas are spread by %v", constraint)
	}
	podLabels := func(object *unstructured.Unstructured, path ...string) map[string]string {
		labels, _, _ := unstructured.NestedStringMap(object.Object, append(path, "metadata", "labels")...)
		return labels
	}
	selectors := map[string]any{"PodDisruptionBudget": budget.Object["spec"].(map[string]any)["selector"], "topologySpreadConstraints": constraint["labelSelector"]}
	for name, selector := range selectors {
		for pod, labels := range map[string]map[string]string{
			"server": podLabels(deployment, "spec", "template"), "install": podLabels(job, "spec", "template"), "check": podLabels(check),
		} {
			if selected := selects(t, selector, labels); selected != (pod == "server") {
				t.Errorf("%s selects the pod of %s: %v", name, pod, selected)
			}
		}
	}
	for name, object := range map[string]map[string]any{
		"server":  deployment.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any),
		"install": job.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any),
	} {
		if object["priorityClassName"] != "system-cluster-critical" || object["nodeSelector"].(map[string]any)["pool"] != "a" {
			t.Errorf("%s runs where others do not: %v", name, object)
		}
	}
	one, err := Render(nil)
	if err != nil {
		t.Fatal(err)
	}
	if deployment, err = Find(one, "Deployment", Release); err != nil {
		t.Fatal(err)
	}
	if spread, found, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "topologySpreadConstraints"); found {
		t.Errorf("a single replica is spread by %v", spread)
	}
}

// selects says that a selector of labels selects a pod.
func selects(t *testing.T, selector any, podLabels map[string]string) bool {
	t.Helper()
	text, err := yaml.Marshal(selector)
	if err != nil {
		t.Fatal(err)
	}
	var read metav1.LabelSelector
	if err := yaml.UnmarshalStrict(text, &read); err != nil {
		t.Fatal(err)
	}
	parsed, err := metav1.LabelSelectorAsSelector(&read)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Matches(labels.Set(podLabels))
}

// TestCheckIsConfined: what "helm test" runs has rights in one namespace that the program works
// in, and is deleted afterwards.
func TestCheckIsConfined(t *testing.T) {
	for namespace, values := range map[string]map[string]any{Namespace: nil, "team-a": {"namespaces": []any{"team-a", "team-b"}}} {
		objects, err := Render(values)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"Role", "RoleBinding", "ServiceAccount", "Pod"} {
			object, err := Find(objects, kind, Release+"-check")
			if err != nil {
				t.Fatal(err)
			}
			want := namespace
			if kind == "ServiceAccount" || kind == "Pod" {
				want = Namespace
			}
			if annotations := object.GetAnnotations(); object.GetNamespace() != want || annotations["helm.sh/hook"] != "test" || !strings.Contains(annotations["helm.sh/hook-delete-policy"], "hook-succeeded") {
				t.Errorf("%s in %s: %v", kind, object.GetNamespace(), annotations)
			}
			if kind == "Pod" {
				containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "containers")
				if arguments := containers[0].(map[string]any)["args"].([]any); !slices.Contains(arguments, any("--namespace="+namespace)) {
					t.Errorf("the check is in %v", arguments)
				}
			}
		}
	}
}

// TestFieldsExist: each object of the charts has only fields that its kind has, so that no
// indentation loses one.
func TestFieldsExist(t *testing.T) {
	everything := map[string]any{
		"replicas": 2, "priorityClassName": "high", "imagePullSecrets": []any{map[string]any{"name": "pull"}}, "nodeSelector": map[string]any{"pool": "a"},
		"tolerations":               []any{map[string]any{"key": "pool", "operator": "Exists"}},
		"affinity":                  map[string]any{"nodeAffinity": map[string]any{}},
		"topologySpreadConstraints": []any{map[string]any{"topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 2}},
		"volumes":                   []any{map[string]any{"name": "registry", "secret": map[string]any{"secretName": "registry"}}},
		"volumeMounts":              []any{map[string]any{"name": "registry", "mountPath": "/etc/registry"}},
		"networkPolicy":             map[string]any{"metricsFrom": []any{map[string]any{"podSelector": map[string]any{}}}},
	}
	for _, row := range []struct {
		chart  Chart
		values map[string]any
	}{{Landscaper, nil}, {Landscaper, everything}, {ShootFlux, nil}} {
		objects, err := row.chart.Render(row.values)
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for _, object := range objects {
			typed, err := scheme.Scheme.New(object.GroupVersionKind())
			if err != nil {
				continue // a kind of others
			}
			text, err := object.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			checked++
			if err := yaml.UnmarshalStrict(text, typed); err != nil {
				t.Errorf("%s: %s %s: %v", row.chart.Name, object.GetKind(), object.GetName(), err)
			}
		}
		if checked < 8 {
			t.Errorf("%s: only %d objects were looked at", row.chart.Name, checked)
		}
	}
}
