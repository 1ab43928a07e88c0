package execution

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// TestRecreated: an object in a cache may no longer exist, and a new one may have its name. The new
// one must not lose its finalizer.
func TestRecreated(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "new", Finalizers: []string{v1alpha1.Finalizer}}
	for reason, test := range map[string]struct {
		object client.Object
		let    func(b *bench, old client.Object) error
	}{
		"an Execution": {&v1alpha1.Execution{ObjectMeta: meta}, func(b *bench, old client.Object) error {
			return b.release(t.Context(), &snapshot{exec: old.(*v1alpha1.Execution)})
		}},
		"an item that stays installed": {&v1alpha1.DeployItem{ObjectMeta: meta}, func(b *bench, old client.Object) error {
			return b.letGo(t.Context(), &snapshot{}, old.(*v1alpha1.DeployItem))
		}},
	} {
		t.Run(reason, func(t *testing.T) {
			b := newBench(t, test.object)
			old := test.object.DeepCopyObject().(client.Object)
			old.SetUID("old")
			old.SetResourceVersion("1")
			if err := test.let(b, old); job.OutcomeOf(err) != job.Conflict {
				t.Errorf("got %v, want a conflict", err)
			}
			if err := b.api.Get(t.Context(), key, test.object); err != nil || !controllerutil.ContainsFinalizer(test.object, v1alpha1.Finalizer) {
				t.Errorf("the new one has lost its finalizer: %v", err)
			}
		})
	}
}
