package deployer_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// limits are time limits for jobs that are to run into them at some stage. A limit covers
// the way to that stage as well: where a busy machine takes longer for it, the job is done
// once more and has more time.
var limits = []string{"2s", "10s", "1m"}

// awaitLimit gives an item, which may be new, jobs with growing time limits until one has
// ended as it should, and returns the item at the end of the last of them.
func awaitLimit(t *testing.T, item *v1alpha1.DeployItem, holds func(*v1alpha1.DeployItem) bool) (ended *v1alpha1.DeployItem) {
	t.Helper()
	for _, limit := range limits {
		if item.UID == "" {
			item.Spec.Timeout = duration(limit)
			create(t, item)
		} else {
			if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
				t.Fatal(err)
			}
			change(t, item, func() error {
				item.Spec.Timeout = duration(limit)
				return items.Update(t.Context(), item)
			})
			handOver(t, item)
		}
		jobID := item.Status.JobID
		ended = awaitItem(t, item, "the end of the job", func(item *v1alpha1.DeployItem) bool { return item.Status.JobIDFinished == jobID })
		if last := ended.Status.LastError; last == nil || holds(ended) || !hasCode(last, v1alpha1.ErrorTimeout) {
			break
		}
		t.Logf("with a limit of %s, the job ended with %+v", limit, ended.Status.LastError)
	}
	if ended.Status.LastError == nil {
		t.Fatalf("the job ended in phase %s, before its time was over", ended.Status.Phase)
	}
	return ended
}
