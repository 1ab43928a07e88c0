package readiness

import (
	"testing"
	"testing/synctest"
	"time"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestStoreOfTheTargetIsRestored: the watch shows an older version than was written, for ever. The
// check is triggered, asks the cluster once, and continues with what exists.
func TestStoreOfTheTargetIsRestored(t *testing.T) {
	for _, test := range []struct {
		reason, live string
		want         string
	}{
		{"what is there is ready", readyPod, ""},
		{"what is there is not", startingPod, "its condition Ready is not True: pulling the image"},
		{"nothing is there any more", "", "it does not exist any more"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster, triggered := fakecluster.New(), make(chan struct{}, 10)
				check, stored := checkOf(t, cluster, func() { triggered <- struct{}{} }, startingPod)
				stored.SetResourceVersion("999999")
				if test.live == "" {
					cluster.Remove("Pod", "ns", "p")
				} else {
					cluster.Put(parse(t, test.live))
				}
				for begun := time.Now(); time.Since(begun) < time.Minute; {
					unready, err := check.Look(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if gets := cluster.Counts()["get"]; gets > 0 {
						why := ""
						if len(unready) > 0 {
							why = unready[0].Why
						}
						if why != test.want || gets > 1 {
							t.Errorf("%q after %d requests", why, gets)
						}
						return
					}
					select {
					case <-triggered:
					case <-time.After(time.Hour):
						t.Fatal("nothing triggers it")
					}
				}
				t.Error("the cluster is never asked")
			})
		})
	}
}
