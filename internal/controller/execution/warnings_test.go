package execution

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
)

// TestNoteWarnings: the status of an Execution says which items have warnings, as long as they have
// some.
func TestNoteWarnings(t *testing.T) {
	item := func(name, warning string) *v1alpha1.DeployItem {
		item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Name: "x-" + name, Labels: map[string]string{v1alpha1.ExecutionManagedNameLabel: name}}}
		if warning != "" {
			job.AddWarnings(&item.Status.Conditions, "UnknownFields", []string{warning}, 1, metav1.Now())
		}
		return item
	}
	exec := &v1alpha1.Execution{}
	said := func(items ...*v1alpha1.DeployItem) string {
		s := &snapshot{exec: exec, items: items}
		s.noteWarnings(reporter.Execution(exec), metav1.Now())
		if found := job.GetCondition(exec.Status.Conditions, v1alpha1.ChildWarningsCondition); found != nil {
			return found.Message
		}
		return ""
	}
	if got := said(item("b", "y"), item("a", "x"), item("c", "")); got != `deploy item "a": x; deploy item "b": y` {
		t.Errorf("%q", got)
	}
	onCopy := item("a", "ConfigMap ns/app on Target "+copied)
	onCopy.Spec.Target = &v1alpha1.ObjectReference{Name: copied}
	s := &snapshot{exec: exec, items: []*v1alpha1.DeployItem{onCopy}}
	below(s)
	s.noteWarnings(reporter.Execution(exec), metav1.Now())
	if found := job.GetCondition(exec.Status.Conditions, v1alpha1.ChildWarningsCondition); found == nil || found.Message != `deploy item "a": ConfigMap ns/app on Target prod` {
		t.Errorf("Targets have the names that people know: %+v", found)
	}
	if got := said(item("a", ""), item("b", "")); got != "" || len(exec.Status.Conditions) != 0 {
		t.Errorf("without warnings: %q", got)
	}
}
