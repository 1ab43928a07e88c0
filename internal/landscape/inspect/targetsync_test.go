package inspect

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func TestTargetSyncState(t *testing.T) {
	ready := func(status v1alpha1.ConditionStatus) []v1alpha1.Condition {
		return []v1alpha1.Condition{{Type: v1alpha1.TargetSyncReady, Status: status, Message: "1 of 2 could not be synchronised"}}
	}
	now := metav1.Now()
	tests := []struct {
		reason string
		sync   v1alpha1.TargetSync
		want   State
		why    string
	}{
		{"a new one", v1alpha1.TargetSync{}, Waiting, "it was not synchronised yet (" + ask + ")"},
		{"all is well", v1alpha1.TargetSync{Status: v1alpha1.TargetSyncStatus{Conditions: ready(v1alpha1.ConditionTrue)}}, Ready, ""},
		{"a Target has failed", v1alpha1.TargetSync{Status: v1alpha1.TargetSyncStatus{Conditions: ready(v1alpha1.ConditionFalse)}}, Failed, "1 of 2 could not be synchronised"},
		{"what it says is about an earlier spec", v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: v1alpha1.TargetSyncStatus{ObservedGeneration: 1, Conditions: ready(v1alpha1.ConditionTrue)}}, Waiting, "the spec has changed since it was synchronised"},
		{"a deletion", v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}, Status: v1alpha1.TargetSyncStatus{Conditions: ready(v1alpha1.ConditionTrue)}}, Running, "it is being deleted"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if state, why := TargetSyncState(&test.sync); state != test.want || why != test.why {
				t.Errorf("%s: %q", state, why)
			}
		})
	}
}
