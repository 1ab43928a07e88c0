package installation

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/model/predicates"
)

// TestRequestForWhatChanged: a changed specification and a new request before the request for the
// running job is removed lead to another job.
func TestRequestForWhatChanged(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	inst := b.installation(t)
	inst.Generation, inst.Status.ObservedGeneration, inst.Status.JobID, inst.Status.InstallationPhase = 2, 1, "job-0", "Init"
	s := snapshotOf(inst)
	if got := decide.Next(s.Situation).Do; got != decide.Accept {
		t.Fatalf("%s is next", got)
	}
	if err := b.accept(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if now := b.installation(t); now.Annotations[v1alpha1.OperationAnnotation] != "reconcile" || !predicates.HasFinalizer(now) {
		t.Errorf("%+v", now.ObjectMeta)
	}
}
