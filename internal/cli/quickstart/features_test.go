package quickstart

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"go.landscaper.dev/internal/server/feature"
	"go.landscaper.dev/internal/server/install"
)

// TestGatesOf: the CRDs of a feature come with the values that switch it on in the chart.
func TestGatesOf(t *testing.T) {
	for _, test := range []struct {
		reason string
		gates  any
		on     bool
		fails  bool
	}{
		{"no values", nil, false, false},
		{"the feature", map[string]any{"DeliveryPolicies": true}, true, false},
		{"the feature is off", map[string]any{"DeliveryPolicies": false}, false, false},
		{"all alpha features", map[string]any{"AllAlpha": true}, true, false},
		{"another feature", map[string]any{"ServerConsole": true}, false, false},
		{"a text is no gate", map[string]any{"DeliveryPolicies": "true"}, false, true},
		{"a name that does not exist", map[string]any{"DeliveryPolicy": true}, false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			gates, err := gatesOf(map[string]any{"featureGates": test.gates})
			if (err != nil) != test.fails || err == nil && gates.Enabled(feature.DeliveryPolicies) != test.on {
				t.Errorf("gates %v, error %v", gates, err)
			}
		})
	}
}

// TestUninstalledDefinitions: an uninstallation removes the CRDs of all features, because it does not
// know which were on.
func TestUninstalledDefinitions(t *testing.T) {
	crds, err := install.AllCRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"installations.landscaper.gardener.cloud", "deliverypolicies.delivery.landscaper.dev"} {
		if !slices.ContainsFunc(crds, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name == name }) {
			t.Errorf("%s stays", name)
		}
	}
}
