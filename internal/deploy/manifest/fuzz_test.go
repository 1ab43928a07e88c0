package manifest

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// FuzzConfiguration reads what blueprints make of configurations, and what others may
// have made of the status. Messages do not repeat it.
func FuzzConfiguration(f *testing.F) {
	const head = `{"apiVersion":"manifest.deployer.landscaper.gardener.cloud/v1alpha2","kind":"ProviderConfiguration",`
	const old = `{"apiVersion":"manifest.deployer.landscaper.gardener.cloud/v1alpha1","kind":"ProviderConfiguration",`
	for _, text := range []string{
		head + `"manifests":[{"policy":"manage","manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}}]}`,
		old + `"manifests":[{"apiVersion":"v1","kind":"ConfigMap"}]}`,
		head + `"updateStrategy":["hunter2hunter2"]}`, head + `"readinessChecks":{"timeout":"hunter2hunter2"}}`,
		head + `"deletionGroups":[{"predefinedResourceGroup":{"type":"hunter2hunter2"}}]}`, head + `"exports":{"exports":[{"key":"a","jsonPath":"{.hunter2hunter2["}]}}`,
		head + `"managedResources":[{"policy":"hunter2hunter2","resource":{"name":7}}]}`, "null", "[]", `{"kind":7}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, configErr := parseConfig(&runtime.RawExtension{Raw: text})
		_, statusErr := parseInventory(&runtime.RawExtension{Raw: text})
		for _, err := range []error{configErr, statusErr} {
			if err != nil && strings.Contains(err.Error(), "hunter2hunter2") {
				t.Error(err)
			}
		}
	})
}
