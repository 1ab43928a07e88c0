package planstore

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestRemembered: a plan is of one job, and the oldest are dropped when there are too many.
func TestRemembered(t *testing.T) {
	r := &planCache{}
	large := func(job string) *storedPlan { return &storedPlan{job: job, content: make([]byte, maxCachedBytes/3)} }
	for _, uid := range []types.UID{"a", "b", "a", "c", "d"} {
		r.note(uid, large("job-1"))
	}
	for uid, want := range map[types.UID]bool{"a": true, "b": false, "c": true, "d": true} {
		if got := r.of(uid, "job-1") != nil; got != want {
			t.Errorf("the plan of %s is remembered: %t", uid, got)
		}
	}
	if r.of("c", "job-2") != nil {
		t.Error("a plan of another job is used")
	}
	for _, uid := range []types.UID{"a", "c", "d", "e"} {
		r.forget(uid)
	}
	if r.bytes != 0 || len(r.order) != 0 {
		t.Errorf("%d bytes and %d plans are left", r.bytes, len(r.order))
	}
	r.note("e", &storedPlan{content: make([]byte, maxCachedBytes+1)})
	if r.of("e", "") != nil || r.bytes != 0 {
		t.Error("what is larger than all together is remembered")
	}
}
