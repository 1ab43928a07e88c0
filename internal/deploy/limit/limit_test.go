package limit

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestLimitEndsTheSleep: the limit is reached when it triggers the work.
func TestLimitEndsTheSleep(t *testing.T) {
	triggered := make(chan bool, 1)
	var limit atomic.Pointer[Limit]
	set := make(chan struct{})
	limit.Store(New(time.Nanosecond, func() {
		<-set
		triggered <- limit.Load().Reached()
	}))
	close(set)
	select {
	case reached := <-triggered:
		if !reached {
			t.Error("it triggers before it is reached")
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("nothing is triggered")
	}
	// The work has ended by it; the clean-up afterwards may end it once more.
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
			limit := New(after, func() { t.Error("triggered") })
			if limit != nil || limit.Reached() {
				t.Errorf("there is one: %v", limit)
			}
			limit.End()
		})
	}
}

// TestEndedLimit: work that is done in time is not triggered any more.
func TestEndedLimit(t *testing.T) {
	limit := New(1<<62, func() { t.Error("triggered") })
	limit.End()
	limit.End()
	if limit.Reached() {
		t.Error("it is reached although nothing has passed")
	}
}
