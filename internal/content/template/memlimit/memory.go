// Package memlimit shares the memory of a process among renderings. Each has a limit
// of its own, but many at the same time would still exceed what the process has.
package memlimit

import (
	"context"
	"sync"
	"sync/atomic"
)

// Budget is memory that renderings share. It can be used by any number of goroutines
// at the same time.
type Budget struct {
	mutex       sync.Mutex
	total, used int64
	open        map[*Account]struct{}
	// released is closed when memory was given back; nil if no rendering waits for that.
	released chan struct{}
}

// New returns a budget of a number of bytes.
func New(total int64) *Budget {
	return &Budget{total: total, open: map[*Account]struct{}{}}
}

// Total is how much there is.
func (b *Budget) Total() int64 { return b.total }

// Account is what one rendering holds. Only one goroutine uses it.
type Account struct {
	budget *Budget
	held   int64
	// yields is set when the rendering has to end for the sake of others.
	yields atomic.Bool
}

// Busy says that a rendering ended because others need memory, too. Another attempt may succeed.
type Busy struct{}

// Error implements error.
func (*Busy) Error() string {
	return "the server has no more memory for templates at the moment: it will try again"
}

// Timeout and Temporary make it a net.Error, which callers know to try again.
func (*Busy) Timeout() bool { return false }

// Temporary reports that another attempt may succeed.
func (*Busy) Temporary() bool { return true }

// Open returns an account for a rendering, which closes it.
func (b *Budget) Open() *Account {
	a := &Account{budget: b}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.open[a] = struct{}{}
	return a
}

// Close gives everything back.
func (a *Account) Close() {
	b := a.budget
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.open, a)
	b.release(a, a.held)
}

// Release gives a part back.
func (a *Account) Release(bytes int64) {
	b := a.budget
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.release(a, bytes)
}

func (b *Budget) release(a *Account, bytes int64) {
	bytes = min(bytes, a.held)
	a.held -= bytes
	b.used -= bytes
	if b.released != nil {
		close(b.released)
		b.released = nil
	}
}

// wait returns what is closed when memory is given back.
//
// The channel is closed once and replaced with the next wait: all waiting renderings try again, and
// most of them wait anew. The lock is held.
func (b *Budget) wait() <-chan struct{} {
	if b.released == nil {
		b.released = make(chan struct{})
	}
	return b.released
}

// Take books memory. If none is left, the rendering that holds most ends with Busy: this one at
// once, or another one, whose end this one waits for. So a rendering that needs little is never
// refused because of those that need much.
func (a *Account) Take(ctx context.Context, bytes int64) error {
	for {
		released, err := a.try(bytes)
		if released == nil || err != nil {
			return err
		}
		select {
		case <-released:
		case <-ctx.Done():
			return &Busy{}
		}
	}
}

// try books memory or returns what to wait for.
func (a *Account) try(bytes int64) (released <-chan struct{}, err error) {
	b := a.budget
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if a.yields.Load() {
		return nil, &Busy{}
	}
	// No other rendering has to end for a request that never fits. Below that no sum can overflow.
	if bytes > b.total {
		return nil, &Busy{}
	}
	if b.used+bytes <= b.total {
		b.used += bytes
		a.held += bytes
		return nil, nil
	}
	most := a
	for other := range b.open {
		// Those that are ending already give their memory back soon.
		if other.held > most.held+bytes && !other.yields.Load() {
			most = other
		}
	}
	if most != a {
		most.yields.Store(true)
		return b.wait(), nil
	}
	for other := range b.open {
		if other.yields.Load() && other.held > 0 {
			return b.wait(), nil
		}
	}
	return nil, &Busy{}
}

// Check returns Busy if the rendering has to end for the sake of others.
func (a *Account) Check() error {
	if a.yields.Load() {
		return &Busy{}
	}
	return nil
}
