package plan

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// registryThatAsks is a registry without TLS that wants a login and accepts none. It returns its
// address, and the logins that it was sent.
func registryThatAsks(t *testing.T) (string, func() string) {
	t.Helper()
	var mutex sync.Mutex
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		if login := r.Header.Get("Authorization"); login != "" && !slices.Contains(seen, login) {
			seen = append(seen, login)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), func() string {
		mutex.Lock()
		defer mutex.Unlock()
		return strings.Join(seen, " ")
	}
}

// TestCredentialsOfTheUser: a tenant's Context names a registry; the credentials of the user who
// plans go there over TLS only, and only to the host and port that they are for.
func TestCredentialsOfTheUser(t *testing.T) {
	login := "Basic " + base64.StdEncoding.EncodeToString([]byte("operator:s3cr3t"))
	for _, test := range []struct {
		reason, entry, flags, want, message string
	}{
		{"clear text at a port that the Context has chosen", "127.0.0.1", "", "", "are not sent there"},
		{"clear text at the port of the entry", "ADDRESS", "", "", "--plain-http-credentials HOST:PORT"},
		{"plain HTTP is allowed, but not for credentials", "ADDRESS", "--allow-plain-http", "", "are not sent there"},
		{"clear text is allowed for another port", "ADDRESS", "--plain-http-credentials 127.0.0.1:1", "", "are not sent there"},
		{"clear text is allowed for a port that the entry is not for", "127.0.0.1", "--plain-http-credentials ADDRESS", "", "are not sent there"},
		{"the entry is for another port", "127.0.0.1:1", "", "", "give credentials with"},
		{"the user allows it for this host and port", "ADDRESS", "--plain-http-credentials ADDRESS", login, "does not accept the credentials"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			address, seen := registryThatAsks(t)
			fill := strings.NewReplacer("ADDRESS", address).Replace
			terminaltest.WriteFiles(t, map[string]string{"docker.json": fmt.Sprintf(`{"auths":{%q:{"username":"operator","password":"s3cr3t"}}}`, fill(test.entry))})
			s := connectiontest.New(t, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop, uid: u}
spec:
  context: hostile
  componentDescriptor: {ref: {componentName: example.org/shop, version: 1.0.0}}
  blueprint: {ref: {resourceName: blueprint}}
`, fmt.Sprintf(`
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Context
metadata: {name: hostile}
repositoryContext: {type: ociRegistry, baseUrl: "http://%s/components"}
`, address))
			c := &terminaltest.Console{}
			code := s.Run(t, c, NewCommand, append([]string{"shop", "--registry-config", "docker.json"}, terminaltest.Fields(fill(test.flags))...)...)
			if got := seen(); code != 4 || got != test.want {
				t.Errorf("code %d, sent %q: %s", code, got, c.Err.String())
			}
			if !strings.Contains(c.Err.String(), test.message) || strings.Contains(c.Err.String(), "s3cr3t") {
				t.Errorf("want %q: %s", test.message, c.Err.String())
			}
		})
	}
}

// TestTokensOfAccounts: a tenant's Target names a ServiceAccount and a server; the permission of the
// user to request its token is used only when the user says so.
func TestTokensOfAccounts(t *testing.T) {
	const request = "POST /api/v1/namespaces/default/serviceaccounts/deployer/token"
	for _, test := range []struct {
		reason, flags string
		asked         bool
		out           string
	}{
		{"not told to", "", false, "allow it with --request-tokens if you trust the authors of the Targets"},
		{"told to", "--request-tokens", true, "ServiceAccount default/deployer"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop, uid: u}
spec:
  imports: {targets: [{name: cluster, target: edge}]}
  blueprint:
    inline:
      filesystem:
        blueprint.yaml: |
          apiVersion: landscaper.gardener.cloud/v1alpha1
          kind: Blueprint
          imports: [{name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}]
          deployExecutions:
          - name: default
            type: GoTemplate
            template: |
              deployItems:
              - name: own
                type: landscaper.gardener.cloud/kubernetes-manifest
                target: {import: cluster}
                config:
                  apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
                  kind: ProviderConfiguration
                  manifests: [{policy: manage, manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: default}}}]
`, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Target
metadata: {name: edge, uid: e}
spec:
  type: landscaper.gardener.cloud/kubernetes-cluster
  config: {oidcConfig: {server: "https://127.0.0.1:1", serviceAccount: {name: deployer}, audience: [edge]}}
`)
			c := &terminaltest.Console{}
			code := s.Run(t, c, NewCommand, append([]string{"shop"}, terminaltest.Fields(test.flags)...)...)
			if asked := slices.Contains(s.Writes(), request); asked != test.asked || code != 2 || !strings.Contains(c.Out.String(), test.out) {
				t.Errorf("code %d, asked %t: %s%s", code, asked, c.Out.String(), c.Err.String())
			}
		})
	}
}
