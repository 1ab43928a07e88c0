package execution

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func TestPickupDeadline(t *testing.T) {
	at := func(seconds int64) *metav1.Time {
		moment := metav1.NewTime(time.Unix(seconds, 0))
		return &moment
	}
	tests := []struct {
		reason string
		status v1alpha1.DeployItemStatus
		limit  time.Duration
		want   bool
	}{
		{"a job that nobody has taken up", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100)}, time.Minute, true},
		{"a job that nobody has taken up, after an earlier one", v1alpha1.DeployItemStatus{JobID: "b", JobIDFinished: "a", JobIDGenerationTime: at(100), LastReconcileTime: at(50)}, time.Minute, true},
		{"taken up in the same second", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100), LastReconcileTime: at(100)}, time.Minute, false},
		{"finished", v1alpha1.DeployItemStatus{JobID: "a", JobIDFinished: "a", JobIDGenerationTime: at(100)}, time.Minute, false},
		{"switched off", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100)}, 0, false},
		{"a job that a tool handed over", v1alpha1.DeployItemStatus{JobID: "a"}, time.Minute, false},
	}
	for _, test := range tests {
		deadline, got := pickupDeadline(&v1alpha1.DeployItem{Status: test.status}, test.limit)
		if got != test.want {
			t.Errorf("%s: waiting %t", test.reason, got)
		}
		if got && !deadline.Equal(time.Unix(160, 0)) {
			t.Errorf("%s: deadline %s", test.reason, deadline)
		}
	}
}
