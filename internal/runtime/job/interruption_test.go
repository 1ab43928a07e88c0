package job

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestInterrupted: who ends a job that waits is still told for what it waited.
func TestInterrupted(t *testing.T) {
	waits := []v1alpha1.Condition{{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: "Waiting", Message: "waiting for ConfigMap a/b"}}
	tests := []struct {
		reason     string
		conditions []v1alpha1.Condition
		last       *v1alpha1.Error
		want       string
	}{
		{"nothing was wrong", nil, nil, "operation was interrupted"},
		{"it waited", waits, nil, "operation was interrupted; until then: waiting for ConfigMap a/b; ask for another job when that is mended"},
		{"it tried again", nil, &v1alpha1.Error{Reason: "GetComponentVersion", Message: "503"}, "operation was interrupted; until then: 503; ask for another job when that is mended"},
		{"it was interrupted before", nil, &v1alpha1.Error{Reason: "InterruptOperation", Message: "operation was interrupted"}, "operation was interrupted"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Interrupted(test.conditions, test.last).Error(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
