package job

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestInterrupted: the error of an interrupted job still names what the job waited for.
func TestInterrupted(t *testing.T) {
	waits := []v1alpha1.Condition{{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: "Waiting", Message: "waiting for ConfigMap a/b"}}
	tests := []struct {
		reason     string
		conditions []v1alpha1.Condition
		last       *v1alpha1.Error
		want       string
	}{
		{"a job without an error", nil, nil, "operation was interrupted"},
		{"a job that waited", waits, nil, "operation was interrupted; until then: waiting for ConfigMap a/b; ask for another job when that is mended"},
		{"a job that retried", nil, &v1alpha1.Error{Reason: "GetComponentVersion", Message: "503"}, "operation was interrupted; until then: 503; ask for another job when that is mended"},
		{"a job that was interrupted before", nil, &v1alpha1.Error{Reason: "InterruptOperation", Message: "operation was interrupted"}, "operation was interrupted"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Interrupted(test.conditions, test.last).Error(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
