package installation

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// TestNoteWarnings: the status of the root has the warnings of all below.
func TestNoteWarnings(t *testing.T) {
	s := &snapshot{}
	s.Inst = &v1alpha1.Installation{}
	s.subject = reporter.Installation(s.Inst)
	s.Exec = &v1alpha1.Execution{}
	job.NoteChildWarnings(&s.Exec.Status.Conditions, []string{`deploy item "a": x`}, 1, metav1.Now())
	sub := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "sub-x", Annotations: map[string]string{v1alpha1.SubinstallationNameAnnotation: "sub"}}}
	job.AddWarnings(&sub.Status.Conditions, "BlueprintWarnings", []string{"deployExecution: unknown field"}, 1, metav1.Now())
	job.NoteChildWarnings(&sub.Status.Conditions, []string{`deploy item "b": y`}, 1, metav1.Now())
	s.Subs = []*v1alpha1.Installation{sub}
	s.noteWarnings(metav1.Now())
	const want = `deploy item "a": x; subinstallation "sub": deploy item "b": y; subinstallation "sub": deployExecution: unknown field`
	if found := job.GetCondition(s.Inst.Status.Conditions, v1alpha1.ChildWarningsCondition); found == nil || found.Message != want {
		t.Errorf("%+v", found)
	}
	s.Exec, s.Subs = nil, nil
	if s.noteWarnings(metav1.Now()); len(s.Inst.Status.Conditions) != 0 {
		t.Errorf("without warnings: %+v", s.Inst.Status.Conditions)
	}
}

// TestOwnWarnings: warnings of the planning are in the status, once, and are removed by the next
// job.
func TestOwnWarnings(t *testing.T) {
	inst := &v1alpha1.Installation{}
	subject := reporter.Installation(inst)
	for range 2 {
		subject.Warn(reasons.ImportWarnings, []string{"a", "b"})
	}
	subject.Warn(reasons.ExportWarnings, []string{"c"})
	if found := job.GetCondition(inst.Status.Conditions, v1alpha1.WarningsCondition); found == nil || found.Message != "a; b; c" || found.Reason != string(reasons.ImportWarnings) {
		t.Errorf("%+v", found)
	}
	if subject.Status.Begin(2, metav1.Now()); len(inst.Status.Conditions) != 0 {
		t.Errorf("in the next job: %+v", inst.Status.Conditions)
	}
}
