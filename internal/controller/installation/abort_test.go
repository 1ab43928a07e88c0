package installation

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestAnnotateNamesTheChild: an error names the kind of the child that could not be written.
func TestAnnotateNamesTheChild(t *testing.T) {
	for kind, child := range map[string]client.Object{
		"Installation": &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "child"}},
		"Execution":    &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "child"}},
	} {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t, child)
			b.refuse["patch "+kind] = errors.New("no answer")
			err := b.annotate(t.Context(), child, "key", "value")
			if want := "annotate " + kind + " team-a/child: no answer"; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
