package mock

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	mockv1alpha1 "go.landscaper.dev/api/mock/v1alpha1"
)

// TestWrongPhasesInOrder: of two wrong phases the first one is named in each attempt.
func TestWrongPhasesInOrder(t *testing.T) {
	for range 50 {
		_, err := parse(&runtime.RawExtension{Raw: []byte(`{"apiVersion":"` + mockv1alpha1.GroupVersion.String() + `","kind":"ProviderConfiguration","phase":"x","initialPhase":"y"}`)})
		if err == nil || !strings.HasPrefix(err.Error(), "initialPhase ") {
			t.Fatalf("got %v", err)
		}
	}
}
