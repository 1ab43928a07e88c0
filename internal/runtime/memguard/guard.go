package memguard

import (
	"context"
	"errors"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// Large is how much work may hold without being refused or ended: almost all work holds less.
	Large = 1 << 20
	// fullPercent is the part of the limit from which no large work begins, and nearPercent that
	// from which the largest work is ended.
	fullPercent, nearPercent = 85, 92
	// grace is how long ended work may take to give back what it holds, before other work is ended.
	grace = time.Second
)

// ErrEnded is why work was ended.
var ErrEnded error = &busy{"the server has almost used up its memory, and this was the largest work: it was ended, and will be tried again"}

// ErrFull is why work is not let hold more.
var ErrFull error = &busy{"the server has almost used up its memory, so that no large work begins: it will be tried again"}

// busy is an error after which another attempt may succeed.
type busy struct{ text string }

// Error implements error.
func (b *busy) Error() string { return b.text }

// Timeout and Temporary make it a net.Error, which callers know to try again.
func (*busy) Timeout() bool { return false }

// Temporary reports that another attempt may succeed.
func (*busy) Temporary() bool { return true }

// Guard ends the largest work when the memory of the process is almost used up. The mutex guards
// everything below it. A nil guard ends and refuses nothing.
type Guard struct {
	limit int64
	// live is the heap that is in use, and now the clock.
	live func() int64
	now  func() time.Time
	// onEnd is told which work was ended; nil is told nothing.
	onEnd func(name string, held int64)

	mutex sync.Mutex
	works map[*Work]struct{}
	// endedAt is when work was ended last, which is not over yet; ended is that work.
	endedAt time.Time
	ended   *Work
}

// New returns a guard for a heap with a limit; nil without a limit. OnEnd is told which work was ended.
func New(limit int64, onEnd func(name string, held int64)) *Guard {
	if limit <= 0 {
		return nil
	}
	return &Guard{limit: limit, live: liveHeap, now: time.Now, onEnd: onEnd, works: map[*Work]struct{}{}}
}

// liveHeap is what the last collection of the heap has found in use. It does not count garbage, of
// which a heap near its limit is always full.
func liveHeap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(min(sample[0].Value.Uint64(), none))
}

// Work is a piece of work that can be ended. A nil work holds nothing.
type Work struct {
	guard  *Guard
	name   string
	cancel context.CancelCauseFunc
	held   int64
	// over says that it was ended, and may still hold what it held.
	over bool
}

type workKey struct{}

// Begin returns a context for a piece of work, which says what it holds by Book. The caller calls done
// when the work is over, and Reason to learn whether it was ended.
func (g *Guard) Begin(ctx context.Context, name string) (with context.Context, done func()) {
	if g == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Work{guard: g, name: name, cancel: cancel}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.works[w] = struct{}{}
	return context.WithValue(ctx, workKey{}, w), func() {
		cancel(nil)
		g.mutex.Lock()
		defer g.mutex.Unlock()
		delete(g.works, w)
		if g.ended == w {
			g.ended = nil
		}
	}
}

// Of returns the work of a context, or nil.
func Of(ctx context.Context) *Work {
	w, _ := ctx.Value(workKey{}).(*Work)
	return w
}

// Reason returns why work has failed: that it was ended, if it was.
func Reason(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), ErrEnded) {
		return ErrEnded
	}
	return err
}

// Book notes that work holds more; ErrFull says that it must not. What is booked and not given back
// counts until the work is over.
func (w *Work) Book(bytes int64) error {
	if w == nil || bytes <= 0 {
		return nil
	}
	g := w.guard
	g.mutex.Lock()
	defer g.mutex.Unlock()
	held := w.held + bytes
	if held > Large {
		// Only large work asks how much there is: the usual one costs nothing.
		if g.isAbove(g.live(), fullPercent) {
			return ErrFull
		}
	}
	w.held = held
	return nil
}

// Release notes that work has given something back.
func (w *Work) Release(bytes int64) {
	if w == nil || bytes <= 0 {
		return
	}
	w.guard.mutex.Lock()
	defer w.guard.mutex.Unlock()
	w.held = max(w.held-bytes, 0)
}

// Check ends the largest work if the memory is almost used up. It is called after each collection of
// the heap: near the limit, there are many.
func (g *Guard) Check() {
	if g == nil {
		return
	}
	if live := g.live(); g.isAbove(live, nearPercent) {
		if w, held := g.endLargest(); w != nil && g.onEnd != nil {
			g.onEnd(w.name, held)
		}
	}
}

// endLargest ends the work that holds most, unless it holds little, or other work was ended just now.
func (g *Guard) endLargest() (largest *Work, held int64) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	now := g.now()
	if g.ended != nil && now.Before(g.endedAt.Add(grace)) {
		return nil, 0
	}
	for w := range g.works {
		if w.held > Large && !w.over && (largest == nil || w.held > largest.held) {
			largest = w
		}
	}
	if largest == nil {
		return nil, 0
	}
	g.ended, g.endedAt, largest.over = largest, now, true
	largest.cancel(ErrEnded)
	return largest, largest.held
}

// isAbove reports whether so much is more than a part of the limit.
func (g *Guard) isAbove(live int64, percent int64) bool { return live > g.limit/100*percent }

// Held is how much work holds.
func (w *Work) Held() int64 {
	if w == nil {
		return 0
	}
	w.guard.mutex.Lock()
	defer w.guard.mutex.Unlock()
	return w.held
}
