// Package limit is for time limits inside the time of a job: it triggers the work when the time is
// over.
package limit

import (
	"sync/atomic"
	"time"
)

// Limit is a time limit. No limit is nil.
type Limit struct {
	timer *time.Timer
	over  atomic.Bool
}

// New begins to count; 0 is no limit.
func New(after time.Duration, wake func()) *Limit {
	if after <= 0 {
		return nil
	}
	l := &Limit{}
	l.timer = time.AfterFunc(after, func() {
		l.over.Store(true)
		wake()
	})
	return l
}

// Reached reports whether the time is over.
func (l *Limit) Reached() bool { return l != nil && l.over.Load() }

// End stops to count. It may be called again.
func (l *Limit) End() {
	if l != nil {
		l.timer.Stop()
	}
}
