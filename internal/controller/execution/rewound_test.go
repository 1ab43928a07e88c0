package execution

import (
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestHistoryIsRewound: the store of the API server was restored from a backup, so that an object
// is older than what was written. The attempt leaves a wake, and one of the next continues.
func TestHistoryIsRewound(t *testing.T) {
	for _, test := range []struct {
		reason string
		// written is what was written in a version that will never be shown.
		written func(*testing.T, *bench) client.Object
	}{
		{"the Execution", func(t *testing.T, b *bench) client.Object { return b.execution(t) }},
		{"an item", func(t *testing.T, b *bench) client.Object { return &b.items(t)[0] }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}))
				b.handOver(t, "a")
				b.reconcile(t)
				b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
				object := test.written(t, b)
				object.SetResourceVersion("999999")
				b.memory.wrote(object)
				for range 3 {
					result := b.reconcile(t)
					if b.execution(t).Status.ExecutionPhase == "Succeeded" {
						return
					}
					if result.RequeueAfter <= 0 || result.RequeueAfter > 10*time.Second {
						t.Fatalf("the next look comes in %s: the job stands still", result.RequeueAfter)
					}
					<-time.After(result.RequeueAfter)
				}
				t.Errorf("the job has not ended: %+v", b.execution(t).Status)
			})
		})
	}
}
