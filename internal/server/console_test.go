package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const working = `{address: ":8443", url: "https://c.example.org", login: {token: true}}`

// TestConsoleConfig: each mistake is named by its field.
func TestConsoleConfig(t *testing.T) {
	tests := []struct {
		reason, console string
		want            []string
	}{
		{"no console", `{}`, nil},
		{"a console", working, nil},
		{"a console that is switched off may be incomplete", `{address: "0", login: {proxy: {}}}`, nil},
		{"no address in browsers", `{address: ":8443", login: {token: true}}`, []string{"console.url is missing"}},
		{"no way in", `{address: ":8443", url: "https://c.example.org"}`, []string{"console.login has no way in"}},
		{"an address without a port", `{address: "host", url: "https://c.example.org", login: {token: true}}`, []string{`--console-address "host"`}},
		{"half a certificate", strings.Replace(working, "{", "{tls: {certificate: x}, ", 1), []string{"console.tls needs both"}},
		{"sessions without end", strings.Replace(working, "{", "{sessionTime: 1000h, ", 1), []string{"console.sessionTime is not a time from 1m"}},
		{"sessions that are no time", strings.Replace(working, "{", "{sessionTime: long, ", 1), []string{"console.sessionTime"}},
		{"an issuer without anything", strings.Replace(working, "token: true", "oidc: {}", 1), []string{"console.login.oidc.issuer is missing", "console.login.oidc.clientID is missing"}},
		{"an issuer in clear text", strings.Replace(working, "token: true", "oidc: {issuer: 'http://sso', clientID: c}", 1), []string{"console.login.oidc.issuer is \"http://sso\""}},
		{"users of Kubernetes", strings.Replace(working, "token: true", "oidc: {issuer: 'https://sso', clientID: c, usernamePrefix: 'system:'}", 1), []string{"console.login.oidc.usernamePrefix"}},
		{"a proxy that anyone could be", strings.Replace(working, "token: true", "proxy: {usernameHeader: X-User}", 1), []string{"console.login.proxy.secret is missing, and so is certificateAuthorities"}},
		{"a proxy without a header", strings.Replace(working, "token: true", "proxy: {secret: s, secretHeader: X-Secret}", 1), []string{"console.login.proxy.usernameHeader is missing"}},
		{"a secret without a header", strings.Replace(working, "token: true", "proxy: {usernameHeader: X-User, secret: s}", 1), []string{"console.login.proxy.secretHeader and secret need each other"}},
		{"a certificate of any client of an authority", strings.Replace(working, "token: true", "proxy: {usernameHeader: X-User, certificateAuthorities: ca}", 1),
			[]string{"console.login.proxy.certificateAuthorities and certificateNames need each other", "console.login.proxy.certificateAuthorities needs console.tls"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			config, warnings, err := load(t, "featureGates: {ServerConsole: true}\nconsole: "+test.console)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("%v %v", warnings, err)
			}
			err = config.Validate()
			if (err != nil) != (len(test.want) > 0) {
				t.Fatalf("%v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
		})
	}
	config, _, err := load(t, "console: "+working)
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Validate(); err == nil || !strings.Contains(err.Error(), "--feature-gates=ServerConsole=true") {
		t.Errorf("an alpha feature that was not switched on: %v", err)
	}
	if _, _, err := load(t, "console: {login: {tokn: true}}"); err == nil || !strings.Contains(err.Error(), "did you mean console.login.token?") {
		t.Errorf("a misspelt login: %v", err)
	}
}

// lent is what a console gets of a manager.
type lent struct {
	manager.Manager
	added []manager.Runnable
}

func (l *lent) Add(what manager.Runnable) error { l.added = append(l.added, what); return nil }
func (l *lent) GetConfig() *rest.Config         { return &rest.Config{} }

// TestConsoleFiles: what the configuration names is read, and named if it cannot be.
func TestConsoleFiles(t *testing.T) {
	directory := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret, empty := file("secret", "s3cret\n"), file("empty", "\n")
	config := Default()
	config.Console.SessionKey = file("key", strings.Repeat("k", 32))
	config.Console.Login.OIDC = &ConsoleOIDC{ClientSecret: secret}
	config.Console.Login.Proxy = &ConsoleProxy{Secret: secret}
	host, err := newConsoleHost(t.Context(), &lent{}, config)
	if err != nil || string(host.ClientSecret) != "s3cret" || string(host.ProxySecret) != "s3cret" || len(host.Key) != 32 || host.SessionTime != 8*time.Hour || host.IssuerAuthorities != nil {
		t.Errorf("%+v, %v", host, err)
	}
	config.Console.Login.OIDC = &ConsoleOIDC{ClientSecret: empty, CertificateAuthorities: secret}
	config.Console.Login.Proxy = &ConsoleProxy{Secret: filepath.Join(directory, "absent")}
	_, err = newConsoleHost(t.Context(), &lent{}, config)
	for _, want := range []string{"console.login.oidc.clientSecret: ", "console.login.oidc.certificateAuthorities: ", "console.login.proxy.secret: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestConsoleKey: replicas share a key, which is not that of stored plans.
func TestConsoleKey(t *testing.T) {
	cluster := fake.NewClientBuilder().WithScheme(Scheme()).Build()
	first, err := secretKey(t.Context(), cluster, cluster, "landscaper", ConsoleKeySecret, "sessions")
	if err != nil {
		t.Fatal(err)
	}
	second, err := secretKey(t.Context(), cluster, cluster, "landscaper", ConsoleKeySecret, "sessions")
	if err != nil || string(first) != string(second) {
		t.Errorf("two keys: %v", err)
	}
	if plans, err := planKey(t.Context(), cluster, cluster, "landscaper"); err != nil || string(plans) == string(first) {
		t.Errorf("the key of plans is that of sessions: %v", err)
	}
}

// TestNoConsole: a process without a console does nothing for it.
func TestNoConsole(t *testing.T) {
	config := Default()
	if err := addConsole(t.Context(), nil, config, nil, nil); err != nil || config.consoleCaches() != nil {
		t.Errorf("%v", err)
	}
	config.Console.Address = ":8443"
	if err := addConsole(t.Context(), nil, config, nil, nil); err == nil || len(config.consoleCaches()) != 1 {
		t.Errorf("a program without a console: %v", err)
	}
}
