package deployer

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestHistoryIsRewound: the store of the API server was restored from a backup, so that an item
// is older than what was written. The attempt leaves a wake, and one of the next does the job.
func TestHistoryIsRewound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onStage(t, &script{}, newItem())
		late := s.item()
		late.ResourceVersion = "999999"
		s.reconciler.memory.of(late).written.Record(late)
		for range 3 {
			result := s.look()
			if len(s.script.calls) > 0 {
				return
			}
			if result.RequeueAfter <= 0 || result.RequeueAfter > 10*time.Second {
				t.Fatalf("the next look comes in %s: the job stands still", result.RequeueAfter)
			}
			<-time.After(result.RequeueAfter)
		}
		t.Error("the job is never begun")
	})
}
