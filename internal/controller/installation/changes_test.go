package installation

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/runtime/changetally"
)

// TestRecordedChanges: the record of a job has what was counted, also if the job has deleted a
// subinstallation, whose job is the same. The counter forgets what is recorded.
func TestRecordedChanges(t *testing.T) {
	b, tally := newBench(t, nested(t)...), changetally.New()
	b.Changes = tally
	b.reconcile(t)
	tally.Note("job-1", changetally.Created, "one")
	b.settle(t)
	inst := b.installation(t)
	if tally.Of("job-1") != nil {
		t.Error("a job that is recorded is still counted")
	}
	testbuilders.Describe(t, inst, subinstallations[:strings.Index(subinstallations, "- name: b")])
	inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
	if err := b.api.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	b.reconcile(t)
	tally.Note("job-2", changetally.Deleted, "one")
	b.settle(t)
	var got []v1alpha1.ObjectCounts
	for _, job := range b.jobs(t) {
		if job.Objects == nil {
			t.Fatalf("%+v", job)
		}
		got = append(got, *job.Objects)
	}
	if len(got) != 2 || got[0] != (v1alpha1.ObjectCounts{Deleted: 1}) || got[1] != (v1alpha1.ObjectCounts{Created: 1}) {
		t.Errorf("the records have %+v", got)
	}
}
