package published

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"go.landscaper.dev/api/v1alpha1"
)

// TestLargeUpgrade upgrades the release of an earlier commit while many Installations are at rest, and
// measures that. It leaves them to the end of the lab.
func TestLargeUpgrade(t *testing.T) {
	u := installEarlier(t)
	began := time.Now()
	begin(t, "rest", *atRest)
	awaitAll(t)
	t.Logf("%d Installations are at rest after %.0f s", *atRest, time.Since(began).Seconds())

	settled := stored(t)
	since, err := u.edge.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u.helm.version = bare
	u.timed(t, "upgrade", func() { u.helm.upgrade(t, map[string]any{"egress": loopback}) })
	u.timed(t, "an Installation right after it", func() { succeed(t, begin(t, "next", 1)) })
	if writes := u.writes(t, since); len(writes) != 1 {
		t.Errorf("the server has written %v", writes)
	}
	wantStored(t, settled)
}

// awaitAll waits until all Installations have succeeded. One watch for each would be most of the work.
func awaitAll(t *testing.T) {
	t.Helper()
	open := 0
	err := wait.PollUntilContextTimeout(t.Context(), 2*time.Second, time.Hour, true, func(ctx context.Context) (bool, error) {
		var all v1alpha1.InstallationList
		err := admin.List(ctx, &all)
		open = 0
		for i := range all.Items {
			if all.Items[i].Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
				open++
			}
		}
		return open == 0, err
	})
	if err != nil {
		t.Fatalf("%d Installations have not succeeded: %v\n%s", open, err, pods(t))
	}
}
