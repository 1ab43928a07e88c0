package execution

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func TestDecide(t *testing.T) {
	exec := func(id, finished string, phase v1alpha1.ExecutionPhase) *v1alpha1.Execution {
		return &v1alpha1.Execution{Status: v1alpha1.ExecutionStatus{JobID: id, JobIDFinished: finished, ExecutionPhase: phase}}
	}
	deleting := func(exec *v1alpha1.Execution) *v1alpha1.Execution {
		now := metav1.NewTime(time.Unix(1, 0))
		exec.DeletionTimestamp = &now
		return exec
	}
	interrupted := func(exec *v1alpha1.Execution) *v1alpha1.Execution {
		exec.Annotations = map[string]string{v1alpha1.OperationAnnotation: "interrupt"}
		return exec
	}
	parent := func(id, finished string, phase v1alpha1.InstallationPhase) *v1alpha1.Installation {
		return &v1alpha1.Installation{Status: v1alpha1.InstallationStatus{JobID: id, JobIDFinished: finished, InstallationPhase: phase}}
	}
	tests := []struct {
		reason string
		s      snapshot
		want   step
	}{
		{"nobody handed a job over", snapshot{exec: exec("", "", "")}, rest},
		{"the parent still writes children", snapshot{exec: exec("", "", ""), parent: parent("a", "", "Init")}, rest},
		{"the parent hands its job over", snapshot{exec: exec("", "", ""), parent: parent("a", "", "Progressing")}, adopt},
		{"a further job of the parent", snapshot{exec: exec("a", "a", "Succeeded"), parent: parent("b", "a", "Progressing")}, adopt},
		{"the job of the parent is done already", snapshot{exec: exec("a", "a", "Succeeded"), parent: parent("a", "", "Progressing")}, rest},
		{"the parent's job has ended without us", snapshot{exec: exec("", "", ""), parent: parent("a", "a", "Failed")}, rest},
		{"a tool handed a job over, without a parent", snapshot{exec: exec("a", "", "")}, begin},
		{"a tool handed a further job over", snapshot{exec: exec("b", "a", "Failed")}, begin},
		{"a start that was cut short", snapshot{exec: exec("a", "", "Init")}, begin},
		{"items are at work", snapshot{exec: exec("a", "", "Progressing")}, advance},
		{"all items are done", snapshot{exec: exec("a", "", "Completing")}, complete},
		{"an interruption comes first", snapshot{exec: interrupted(exec("a", "", "Progressing"))}, interrupt},
		{"an interruption that arrives before its job waits for the job", snapshot{exec: interrupted(exec("", "", "")), parent: parent("a", "", "Init")}, rest},
		{"the job comes before its interruption", snapshot{exec: interrupted(exec("", "", "")), parent: parent("a", "", "Progressing")}, adopt},
		{"an interruption without a job is dismissed", snapshot{exec: interrupted(exec("a", "a", "Succeeded")), parent: parent("a", "a", "Failed")}, interrupt},
		{"a deletion waits for the parent's word", snapshot{exec: deleting(exec("a", "a", "Succeeded")), parent: parent("b", "a", "InitDelete")}, rest},
		{"the parent deletes", snapshot{exec: deleting(exec("a", "a", "Succeeded")), parent: parent("b", "a", "Deleting")}, adopt},
		{"the parent is gone without a word", snapshot{exec: deleting(exec("a", "a", "Succeeded")), orphaned: true}, adopt},
		{"a failed deletion is tried again only on request", snapshot{exec: deleting(exec("b", "b", "DeleteFailed")), parent: parent("b", "b", "DeleteFailed")}, rest},
		{"items are to be deleted", snapshot{exec: deleting(exec("b", "a", "InitDelete"))}, remove},
		{"items are being deleted", snapshot{exec: deleting(exec("b", "a", "Deleting"))}, drain},
	}
	for _, test := range tests {
		if got := decide(test.s); got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
}
