package inspect

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestAddRefuses: what is no part of a landscape is named by its kind.
func TestAddRefuses(t *testing.T) {
	err := (&Snapshot{}).Add(&corev1.ConfigMap{})
	if want := "a snapshot takes no objects of kind ConfigMap"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
