package sandbox

import (
	"context"
	"slices"
	"time"
)

// slot is the right of a work to compute. A work that waits long for an answer gives it up for that
// time: a cluster or registry that does not answer would otherwise hold the slots of all tenants.
//
// The mutex of the pool guards held.
type slot struct {
	pool   *Pool
	tenant string
	held   bool
}

// waiter waits for a slot.
type waiter struct {
	tenant string
	turn   chan struct{}
}

// enter waits for a slot behind all who wait.
func (s *slot) enter(ctx context.Context) error {
	s.pool.mu.Lock()
	w := s.pool.queue(s.tenant, len(s.pool.waiting))
	s.pool.mu.Unlock()
	return s.await(ctx, w)
}

// await returns when it is the turn of a waiter.
func (s *slot) await(ctx context.Context, w *waiter) error {
	p := s.pool
	select {
	case <-w.turn:
		p.mu.Lock()
		defer p.mu.Unlock()
		s.held = true
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, w); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		return context.Cause(ctx)
	}
	p.release(s.tenant)
	return context.Cause(ctx)
}

// leave gives the slot back, if there is one.
func (s *slot) leave() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.held {
		s.held = false
		s.pool.release(s.tenant)
	}
}

// lend is called when a work with so much memory begins to wait for an answer. What it returns is
// called when the answer is there, and waits until the work has its slot again; works that have
// begun go before new ones.
func (s *slot) lend(ctx context.Context, memory uint64) (back func() error) {
	p := s.pool
	if memory >= p.options.Memory/4 {
		return func() error { return nil } // what it holds would come on top of that of the others
	}
	answered, lent := false, false
	timer := time.AfterFunc(lendAfter, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if answered || p.allAsking >= askingPerSlot*p.options.Slots || p.asking[s.tenant] >= p.share()*askingPerSlot {
			return
		}
		lent, s.held = true, false
		p.allAsking++
		p.asking[s.tenant]++
		p.release(s.tenant)
	})
	return func() error {
		timer.Stop()
		p.mu.Lock()
		if answered = true; !lent {
			p.mu.Unlock()
			return nil
		}
		p.allAsking--
		if p.asking[s.tenant]--; p.asking[s.tenant] == 0 {
			delete(p.asking, s.tenant)
		}
		w := p.queue(s.tenant, 0)
		p.mu.Unlock()
		return s.await(ctx, w)
	}
}

// queue lets a tenant wait at a place of the queue.
func (p *Pool) queue(tenant string, at int) *waiter {
	w := &waiter{tenant, make(chan struct{})}
	p.waiting = slices.Insert(p.waiting, at, w)
	p.admit()
	return w
}

// share is how many slots one tenant has at most, also if it is alone.
func (p *Pool) share() int { return max(p.options.Slots/2, 1) }
