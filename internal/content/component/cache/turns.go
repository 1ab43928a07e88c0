package cache

import (
	"context"
	"fmt"
	"sync"
)

// turns runs the work for a key one caller at a time.
//
// A failure counts for all callers that were waiting when the failed work began: a server that
// takes long to say that it is busy is asked once for all of them, and not by each in turn. A
// failure of work that began earlier does not count, since what was asked for may be there by now.
type turns struct {
	mu    sync.Mutex
	lines map[string]*line
	// events counts arrivals and beginnings of work, in their order.
	events uint64
}

// line is all that want the work for a key.
type line struct {
	present int
	// current is the running work, last the work that ended before it; each may be nil.
	current, last *turn
}

// turn is work for a key. Its error is set before done is closed.
type turn struct {
	began uint64
	done  chan struct{}
	err   error
}

// do does the work when it is its turn, or returns the error of work that began meanwhile.
func (t *turns) do(ctx context.Context, key string, work func() error) error {
	in, came := t.arrive(key)
	defer t.leave(key, in)
	for {
		own, other, err := t.next(in, came)
		switch {
		case err != nil:
			return err // the work says what it did
		case own != nil:
			return t.work(ctx, in, own, work)
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return fmt.Errorf("wait until the server has answered another request for the same: %w", ctx.Err())
		}
	}
}

func (t *turns) arrive(key string) (in *line, came uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	in, exists := t.lines[key]
	if !exists {
		in = &line{}
		if t.lines == nil {
			t.lines = map[string]*line{}
		}
		t.lines[key] = in
	}
	in.present++
	t.events++
	return in, t.events
}

func (t *turns) leave(key string, in *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if in.present--; in.present == 0 {
		delete(t.lines, key)
	}
}

// next returns a turn of the caller's own, or else that of another one, or the error of one
// that began after the caller came.
func (t *turns) next(in *line, came uint64) (own, other *turn, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last := in.last; last != nil && last.began > came && last.err != nil {
		return nil, nil, last.err
	}
	if in.current != nil {
		return nil, in.current, nil
	}
	t.events++
	in.current = &turn{began: t.events, done: make(chan struct{})}
	return in.current, nil, nil
}

func (t *turns) work(ctx context.Context, in *line, own *turn, work func() error) (err error) {
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if ctx.Err() == nil {
			// That a caller gave up says nothing about the server.
			own.err = err
		}
		in.current, in.last = nil, own
		close(own.done)
	}()
	return work()
}
