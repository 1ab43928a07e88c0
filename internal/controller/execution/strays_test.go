package execution

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

// TestStrays: which items are released that an Execution has left which does not exist any more, before
// and after there is another one of its name.
func TestStrays(t *testing.T) {
	owner := func(uid types.UID) []metav1.OwnerReference {
		yes := true
		return []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Execution", Name: key.Name, UID: uid, Controller: &yes}}
	}
	for _, test := range []struct {
		reason   string
		change   func(*v1alpha1.DeployItem)
		released bool
	}{
		{"it was created after the Execution was released, and never had a job", func(*v1alpha1.DeployItem) {}, true},
		{"it had a job, and may have deployed something", func(item *v1alpha1.DeployItem) { item.Status.JobID, item.Status.JobIDFinished = "a", "a" }, false},
		{"nothing deletes it yet", func(item *v1alpha1.DeployItem) { item.DeletionTimestamp = nil }, false},
		{"another controller owns it", func(item *v1alpha1.DeployItem) { item.OwnerReferences[0].Kind = "Other" }, false},
		{"it was created by a user", func(item *v1alpha1.DeployItem) { item.OwnerReferences = nil }, false},
	} {
		for _, again := range []bool{false, true} {
			t.Run(test.reason, func(t *testing.T) {
				b := newBench(t, withItems())
				if !again {
					exec := b.execution(t)
					exec.Finalizers = nil
					if err := b.api.Update(t.Context(), exec); err != nil {
						t.Fatal(err)
					}
					if err := b.api.Delete(t.Context(), exec); err != nil {
						t.Fatal(err)
					}
				}
				item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{
					Namespace: key.Namespace, Name: "stray", Labels: map[string]string{v1alpha1.ExecutionManagedByLabel: key.Name, v1alpha1.ExecutionManagedNameLabel: "one"},
					Finalizers: []string{v1alpha1.Finalizer}, OwnerReferences: owner("before"), DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)},
				}}
				test.change(item)
				b.place(t, item)
				b.reconcile(t)
				if left := b.item(t, "one"); (left == nil) != test.released {
					t.Errorf("with another Execution of the name %t: %+v is left", again, left)
				}
			})
		}
	}
}

// place stores an item as it is.
func (b *bench) place(t *testing.T, item *v1alpha1.DeployItem) {
	t.Helper()
	status, deleted := item.Status, item.DeletionTimestamp != nil
	item.DeletionTimestamp = nil
	if err := b.api.Create(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	item.Status = status
	if err := b.api.Status().Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	if !deleted {
		return
	}
	if err := b.api.Delete(t.Context(), item); err != nil {
		t.Fatal(err)
	}
}
