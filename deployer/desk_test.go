package deployer

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// without takes the job of an item away that newItem has given it.
func without(item *v1alpha1.DeployItem) { item.Status = v1alpha1.DeployItemStatus{} }

// TestJobFromTheDesk: a job that is handed over in the process is stored with the end of
// the work, and nothing before, unless there is something to tell.
func TestJobFromTheDesk(t *testing.T) {
	script := &script{}
	s := onStage(t, script, newItem(without))
	s.reconciler.options.Desk = &Desk{}
	s.look()
	if len(script.calls) != 0 {
		t.Fatalf("work without a job: %v", script.calls)
	}
	s.reconciler.options.Desk.Serve("test", func(item *v1alpha1.DeployItem) { s.reconciler.enqueue(keyOf(item)) })
	before := s.item()
	if !s.reconciler.options.Desk.Hand(before.DeepCopy(), "job", s.clock) || len(s.woken) != 1 {
		t.Fatalf("the deployer is not woken: %v", s.woken)
	}
	s.look()
	done := s.item()
	if done.Status.JobID != "job" || done.Status.JobIDFinished != "job" || done.Status.Phase != v1alpha1.DeployItemPhases.Succeeded ||
		done.Status.JobIDGenerationTime == nil || done.Status.TransitionTimes.TriggerTime == nil {
		t.Errorf("status %+v", done.Status)
	}
	if calls := len(script.calls); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	s.look()
	if len(script.calls) != 1 || s.reconciler.options.Desk.Open() != 0 {
		t.Errorf("the job is done twice: %v, %d open", script.calls, s.reconciler.options.Desk.Open())
	}
}

// TestDeletionFromTheDesk: an item goes without that the job of its deletion is stored.
func TestDeletionFromTheDesk(t *testing.T) {
	s := onStage(t, &script{}, newItem(without))
	s.reconciler.options.Desk = &Desk{}
	s.reconciler.options.Desk.Serve("test", func(*v1alpha1.DeployItem) {})
	if err := s.reconciler.client.Delete(t.Context(), s.item()); err != nil {
		t.Fatal(err)
	}
	s.look()
	s.reconciler.options.Desk.Hand(s.item(), "job", s.clock)
	s.look()
	if err := s.reconciler.client.Get(t.Context(), key, &v1alpha1.DeployItem{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Fatalf("the item is still there: %v", err)
	}
	s.look()
	if open := s.reconciler.options.Desk.Open(); open != 0 {
		t.Errorf("%d jobs of what is gone are remembered", open)
	}
}
