package traffic

import (
	"context"

	"golang.org/x/time/rate"

	"go.landscaper.dev/internal/cluster/answerlimit"
)

// How fast the watches of a connection are read for long. A cluster may send changes
// as fast as it can, and each costs us time to decode, and wakes whoever waits for the
// object. What is stored may come at once, as it does when a watch begins; a server
// that sends more than this is made to wait.
const (
	eventsPerSecond  = 100
	eventsAtOnce     = answerlimit.MaxListed
	watchedPerSecond = 2 << 20
	watchedAtOnce    = answerlimit.MaxStored
)

// Pace is how fast events are read. All watches of a connection share it, so that to
// begin again brings a cluster nothing.
type Pace struct{ Events, Bytes *rate.Limiter }

// NewPace returns the pace of one connection.
func NewPace() *Pace {
	return &Pace{Events: rate.NewLimiter(eventsPerSecond, eventsAtOnce), Bytes: rate.NewLimiter(watchedPerSecond, watchedAtOnce)}
}

// Keep waits until what was read may have been read. Only the end of the context is
// an error.
func (p *Pace) Keep(ctx context.Context, events, bytes int) error {
	for limiter, count := range map[*rate.Limiter]int{p.Events: events, p.Bytes: bytes} {
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
