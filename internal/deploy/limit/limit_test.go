package limit

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestLimitWakes: who sleeps until the limit finds it reached when it is woken.
func TestLimitWakes(t *testing.T) {
	woken := make(chan bool, 1)
	var limit atomic.Pointer[Limit]
	set := make(chan struct{})
	limit.Store(New(time.Nanosecond, func() {
		<-set
		woken <- limit.Load().Reached()
	}))
	close(set)
	select {
	case reached := <-woken:
		if !reached {
			t.Error("it wakes before it is reached")
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("nobody is woken")
	}
	// The work has ended by it; whoever tidies up afterwards may end it once more.
	limit.Load().End()
	limit.Load().End()
	if !limit.Load().Reached() {
		t.Error("it is forgotten when it ends")
	}
}

// TestNoLimit: a configuration without one, or with one that makes no sense, limits
// nothing.
func TestNoLimit(t *testing.T) {
	for reason, after := range map[string]time.Duration{"none": 0, "a negative one": -time.Hour, "the smallest ever": -1 << 63} {
		t.Run(reason, func(t *testing.T) {
			limit := New(after, func() { t.Error("woken") })
			if limit != nil || limit.Reached() {
				t.Errorf("there is one: %v", limit)
			}
			limit.End()
		})
	}
}

// TestEndedLimit: work that is done in time is not woken any more.
func TestEndedLimit(t *testing.T) {
	limit := New(1<<62, func() { t.Error("woken") })
	limit.End()
	limit.End()
	if limit.Reached() {
		t.Error("it is reached although nothing has passed")
	}
}
