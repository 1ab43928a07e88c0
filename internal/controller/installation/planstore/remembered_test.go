package planstore

import "testing"

// TestRemembered: a plan is of one job, and the oldest are dropped when there are too many.
func TestRemembered(t *testing.T) {
	cache, known := &Cache{}, map[string]*Known{"a": {}, "b": {}, "c": {}, "d": {}, "e": {}}
	for _, name := range []string{"a", "b", "a", "c", "d"} {
		known[name].set(cache, &storedPlan{job: "job-1", content: make([]byte, maxCachedBytes/3)})
	}
	for name, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true, "e": false} {
		if got := known[name].of("job-1") != nil; got != want {
			t.Errorf("the plan of %s is remembered: %t", name, got)
		}
	}
	if known["c"].of("job-2") != nil {
		t.Error("a plan of another job is used")
	}
	for _, of := range known {
		of.End()
	}
	if cache.bytes != 0 || len(cache.recent) != 0 {
		t.Errorf("%d bytes and %d plans are left", cache.bytes, len(cache.recent))
	}
	known["e"].set(cache, &storedPlan{content: make([]byte, maxCachedBytes+1)})
	if known["e"].of("") != nil || cache.bytes != 0 {
		t.Error("what is larger than all together is remembered")
	}
}
