package execution

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestDeletedByHand: a user deletes two items that the Execution wants, one of which depends on the other.
// The next job uninstalls them in the order of a deletion, writes them anew, and deploys them in the order
// of a deployment.
func TestDeletedByHand(t *testing.T) {
	b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}, v1alpha1.DeployItemTemplate{Name: "two", DependsOn: []string{"one"}}))
	b.handOver(t, "a")
	for range 3 {
		b.reconcile(t)
		b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	}
	for _, name := range []string{"one", "two"} {
		if err := b.api.Delete(t.Context(), b.item(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	b.handOver(t, "b")
	// Each item in turn: its job to be uninstalled, and the end of the item.
	for _, turn := range []struct{ name, other string }{{"two", "one"}, {"one", ""}} {
		b.reconcile(t)
		if item := b.item(t, turn.name); item == nil || item.Status.JobID != "b" {
			t.Fatalf("it is not the turn of %s: %+v", turn.name, item)
		}
		if other := b.item(t, turn.other); other != nil && other.Status.JobID != "a" {
			t.Errorf("%s has the job at the same time", turn.other)
		}
		b.uninstalled(t, turn.name)
	}
	b.reconcile(t)
	one, two := b.item(t, "one"), b.item(t, "two")
	if one == nil || two == nil || one.DeletionTimestamp != nil || one.Status.JobID != "b" || two.Status.JobID != "" {
		t.Fatalf("they were not written anew: %+v, %+v", one, two)
	}
	for range 3 {
		b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
		b.reconcile(t)
	}
	if status := b.execution(t).Status; status.ExecutionPhase != v1alpha1.ExecutionPhases.Succeeded || status.JobIDFinished != "b" {
		t.Errorf("the job ends with %+v", status)
	}
}

// uninstalled lets the deployer end the deletion of an item.
func (b *bench) uninstalled(t *testing.T, name string) {
	t.Helper()
	item := b.item(t, name)
	item.Finalizers = nil
	if err := client.IgnoreNotFound(b.api.Update(t.Context(), item)); err != nil {
		t.Fatal(err)
	}
}
