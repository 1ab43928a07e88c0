package sandbox

import (
	"context"
	"errors"
	"slices"
	"time"
)

// quickTime is how long a work may compute until it is long, see Pool.quick. Long works have half of
// the slots while others wait, so that those who need little get their turn within this time.
const quickTime = 300 * time.Millisecond

// quickWait is how long a caller that wants no long work waits for a slot at most. It usually learns
// earlier that it would wait for a long one, see Pool.dismiss.
const quickWait = 2 * time.Second

// Quick lets works under the context end when they turn out to be long, or have to wait for their turn.
// Then long is set, and their result does not count.
func Quick(ctx context.Context, long *bool) context.Context {
	return context.WithValue(ctx, quickKey{}, long)
}

type quickKey struct{}

// errLong: the caller wants no long work.
var errLong = errors.New("this takes long")

// slot is the right of a work to compute. A work that waits long for an answer gives it up for that
// time: a cluster or registry that does not answer would otherwise hold the slots of all tenants.
//
// The mutex of the pool guards all of it.
type slot struct {
	pool   *Pool
	tenant string
	held   bool
	since  time.Time
	// begun says that the work has a process; evict ends it while the work computes.
	begun bool
	evict func()
	// long says that the work has turned out to be long, now or before it was evicted;
	// quickOnly that it ends then.
	long, evicted, quickOnly bool
	// turn is closed when the work has its slot, or is dismissed because it would wait for a long one.
	turn      chan struct{}
	dismissed bool
}

// enter waits for a slot.
func (s *slot) enter(ctx context.Context) error {
	if s.quickOnly {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, quickWait, errEvicted)
		defer cancel()
	}
	s.pool.mu.Lock()
	s.begun, s.evicted, s.dismissed = false, false, false
	s.queue()
	s.pool.mu.Unlock()
	return s.await(ctx)
}

// queue lets a work wait for a slot.
func (s *slot) queue() {
	s.turn = make(chan struct{})
	s.pool.waiting = append(s.pool.waiting, s)
	s.pool.admit()
}

// await returns when a work that waits has its slot.
func (s *slot) await(ctx context.Context) error {
	p := s.pool
	select {
	case <-s.turn:
		if s.dismissed {
			return errEvicted
		}
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, s); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	} else if s.held {
		p.release(s)
	}
	return context.Cause(ctx)
}

// leave gives the slot back, if there is one.
func (s *slot) leave() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.held {
		s.pool.release(s)
	}
}

// begin says that the work has a process, which evict ends.
func (s *slot) begin(evict func()) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.begun, s.evict = true, evict
	s.pool.admit()
}

// finish says that the process has done its work, and returns whether it was evicted.
func (s *slot) finish() (evicted bool) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.evict = nil
	return s.evicted
}

// age says that the work is long.
func (s *slot) age() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.long = true
	s.pool.admit()
}

// end evicts a work whose caller wants no long ones.
func (s *slot) end() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.evict != nil {
		s.evicted = true
		s.evict()
	}
}

// lend is called when a work with so much memory begins to wait for an answer. What it returns is
// called when the answer is there, and waits until the work has its slot again.
func (s *slot) lend(ctx context.Context, memory uint64) (back func() error) {
	p := s.pool
	if memory >= p.options.Memory/4 {
		return func() error { return nil } // what it holds would come on top of that of the others
	}
	answered, lent := false, false
	timer := time.AfterFunc(lendAfter, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if answered || !s.held || p.allBeside >= besidePerSlot*p.options.Slots || p.beside[s.tenant] >= p.share()*besidePerSlot {
			return
		}
		lent = true
		p.allBeside++
		p.beside[s.tenant]++
		p.release(s)
	})
	return func() error {
		timer.Stop()
		p.mu.Lock()
		if answered = true; !lent {
			p.mu.Unlock()
			return nil
		}
		s.queue()
		p.mu.Unlock()
		err := s.await(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.allBeside--
		if p.beside[s.tenant]--; p.beside[s.tenant] == 0 {
			delete(p.beside, s.tenant)
		}
		return err
	}
}
