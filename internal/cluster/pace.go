package cluster

import (
	"context"

	"golang.org/x/time/rate"
)

// How fast the watches of a connection are read for long. A cluster may send changes
// as fast as it can, and each costs us time to decode, and wakes whoever waits for the
// object. What is stored may come at once, as it does when a watch begins; a server
// that sends more than this is made to wait.
const (
	eventsPerSecond  = 100
	eventsAtOnce     = maxListed
	watchedPerSecond = 2 << 20
	watchedAtOnce    = maxStored
)

// pace is how fast events are read. All watches of a connection share it, so that to
// begin again brings a cluster nothing.
type pace struct{ events, bytes *rate.Limiter }

func newPace() *pace {
	return &pace{events: rate.NewLimiter(eventsPerSecond, eventsAtOnce), bytes: rate.NewLimiter(watchedPerSecond, watchedAtOnce)}
}

// keep waits until what was read may have been read. Only the end of the context is
// an error.
func (p *pace) keep(ctx context.Context, events, bytes int) error {
	for limiter, count := range map[*rate.Limiter]int{p.events: events, p.bytes: bytes} {
		for count > 0 {
			n := min(count, limiter.Burst())
			if err := limiter.WaitN(ctx, n); err != nil {
				return err // the reader of the answer is told as it is
			}
			count -= n
		}
	}
	return nil
}
