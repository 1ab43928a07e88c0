package deployer

import (
	"context"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// TestDeferred: while automatic jobs are deferred, drift is reported and stays, and an item that is not
// compared is not deployed again. Afterwards both are.
func TestDeferred(t *testing.T) {
	for _, compare := range []bool{true, false} {
		deferred := true
		s, r := repeating(t, Repetition{Next: eachMinute, Compare: compare, Correct: compare}, finishedItem())
		s.reconciler.options.Deferred = func(context.Context, *v1alpha1.DeployItem) (bool, error) { return deferred, nil }
		r.drift = func() ([]string, error) { return []string{"ConfigMap a/b"}, nil }
		before := s.item().Status.JobID
		s.clock = s.clock.Add(time.Minute)
		if result := s.look(); result.RequeueAfter != time.Minute || s.item().Status.JobID != before {
			t.Errorf("compare %t: job %s, again after %s", compare, s.item().Status.JobID, result.RequeueAfter)
		}
		if found := job.GetCondition(s.item().Status.Conditions, v1alpha1.DriftedCondition); compare && (found == nil || found.Status != v1alpha1.ConditionTrue) {
			t.Errorf("the drift is not reported: %+v", found)
		}
		deferred = false
		s.clock = s.clock.Add(time.Minute)
		if s.look(); s.item().Status.JobID == before {
			t.Errorf("compare %t: it is not deployed again", compare)
		}
	}
}
