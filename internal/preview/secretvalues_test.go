package preview

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
)

// TestSecretImports: what comes from Secrets and what opens a cluster is secret, and
// nothing else.
func TestSecretImports(t *testing.T) {
	target := func(config string) *v1alpha1.Target {
		return &v1alpha1.Target{Spec: v1alpha1.TargetSpec{Configuration: v1alpha1.NewAnyJSONPointer([]byte(config))}}
	}
	known := newSecrets()
	known.addImports(dataflow.Imports{
		Data: map[string]dataflow.DataImport{
			"public":   {Value: v1alpha1.NewAnyJSON([]byte(`"shop.example.org"`))},
			"password": {Value: v1alpha1.NewAnyJSON([]byte(`{"user":"anybody","password":"correct horse"}`)), Salt: "uid"},
			"broken":   {Value: v1alpha1.NewAnyJSON([]byte(`not-JSON-at-all`)), Salt: "uid"},
		},
		Targets: map[string]*v1alpha1.Target{
			"edge":   target(`{"kubeconfig":"clusters: [{name: edge-cluster, cluster: {server: \"https://edge.example.org\"}}]\nusers: [{name: someone, user: {token: eyJhbGciOiJSUzI1NiJ9}}]\n"}`),
			"trusts": target(`{"oidcConfig":{"server":"https://other.example.org","serviceAccount":{"name":"deployer"}}}`),
			"odd":    target(`{"address":"https://odd.test/?key=abcdefghij"}`),
			"text":   target(`{"kubeconfig":"only-some-text"}`),
		},
	})
	item := &v1alpha1.DeployItemTemplate{Configuration: &runtime.RawExtension{Raw: []byte(`{
		"exports":{"exports":[{"key":"token","fromResource":{"kind":"Secret"}},{"key":"address","fromResource":{"kind":"Service"}}]},
		"exportsFromManifests":[{"key":"older","fromResource":{"kind":"Secret"}},{"key":"given"}]}`)}}
	known.addExports(item, map[string]any{"token": "exported-token", "address": "web.shop.svc", "older": "older-token", "given": "a-given-value"})
	known.addExports(item, "no map")
	for text, secret := range map[string]bool{
		"shop.example.org": false, "correct horse": true, "anybody": true, "not-JSON-at-all": true,
		"https://edge.example.org": false, "someone": false, "edge-cluster": false, "eyJhbGciOiJSUzI1NiJ9": true,
		"https://other.example.org": false, "deployer": false, "?key=abcdefghij": true, "only-some-text": true,
		"exported-token": true, "web.shop.svc": false, "older-token": true, "a-given-value": false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := known.repeats(text); got != secret {
				t.Errorf("it is secret: %t", got)
			}
		})
	}
}
