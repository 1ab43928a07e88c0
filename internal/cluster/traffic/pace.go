package traffic

import (
	"context"

	"golang.org/x/time/rate"

	"go.landscaper.dev/internal/cluster/answerlimit"
)

// The sustained rate at which the watches of a connection are read. A cluster may send changes as
// fast as it can, and each change costs time to decode, and triggers reconciles. Stored objects may
// arrive in a burst, as at the beginning of a watch; a server that sends more than that is slowed
// down.
const (
	eventsPerSecond  = 100
	eventsAtOnce     = answerlimit.MaxListed
	watchedPerSecond = 2 << 20
	watchedAtOnce    = answerlimit.MaxStored
)

// Pace is how fast events are read. All watches of a connection share it, so that a cluster gains
// nothing by restarting a watch.
type Pace struct{ Events, Bytes *rate.Limiter }

// NewPace returns the pace of one connection.
func NewPace() *Pace {
	return &Pace{Events: rate.NewLimiter(eventsPerSecond, eventsAtOnce), Bytes: rate.NewLimiter(watchedPerSecond, watchedAtOnce)}
}

// Keep waits until the rate permits what was read. Only the end of the context is an error.
func (p *Pace) Keep(ctx context.Context, events, bytes int) error {
	for limiter, count := range map[*rate.Limiter]int{p.Events: events, p.Bytes: bytes} {
		for count > 0 {
			n := min(count, limiter.Burst())
			if err := limiter.WaitN(ctx, n); err != nil {
				return err // unchanged for the reader of the answer
			}
			count -= n
		}
	}
	return nil
}
