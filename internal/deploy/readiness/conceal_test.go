package readiness

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestConceal: a value that is part of another one leaves nothing of the longer one, and the
// text is the same in each look.
func TestConceal(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"postBuild": map[string]any{"substitute": map[string]any{
		"a": "password", "b": "password-of-the-shop", "c": "password-of", "short": "is",
	}}}}}
	for range 50 {
		if got := conceal("the patch password-of-the-shop is no YAML", object); got != "the patch … is no YAML" {
			t.Fatalf("got %q", got)
		}
	}
}
