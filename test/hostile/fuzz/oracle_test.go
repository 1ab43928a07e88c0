package fuzz

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

const (
	// memory and limit are what one work may take. The limit is shorter than that of a server, so that
	// there are more works.
	memory, limit = 128 << 20, 3 * time.Second
	// own is what a process takes besides.
	own = 24 << 20
	// usuallyLate is how much later than its limit a work may end on a busy machine.
	usuallyLate = 20 * time.Second
	// maxParent is what this program may keep after a work: the result of one, at most.
	maxParent = 192 << 20
)

// oracle lets processes work, and says what is wrong with how they did.
type oracle struct {
	pool *sandbox.Pool
	late time.Duration
	peak atomic.Int64
	done chan struct{}
}

// newOracle starts a pool of this program. Change may be nil.
func newOracle(t testing.TB, change func(*sandbox.Options)) *oracle {
	t.Helper()
	o := &oracle{late: usuallyLate, done: make(chan struct{})}
	o.pool = sandboxtest.Pool(t, func(options *sandbox.Options) {
		options.Memory, options.Timeout, options.Slots, options.Spare, options.Idle = memory, limit, 2, 1, 1
		if change != nil {
			change(options)
		}
	})
	ended := make(chan struct{})
	t.Cleanup(func() {
		close(o.done)
		<-ended
	})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-o.done:
				return
			case <-tick.C:
				o.peak.Store(max(o.peak.Load(), largestChild()))
			}
		}
	}()
	return o
}

// judge lets a process work and returns what is wrong. Bounded is set for work that is bounded by the
// process alone: all other work must end within the bounds of our own.
func (o *oracle) judge(bounded bool, work func(context.Context) error) error {
	o.peak.Store(0)
	ctx, cancel := context.WithTimeout(context.Background(), limit+o.late)
	defer cancel()
	began := time.Now()
	err := work(ctx)
	took, peak := time.Since(began), o.peak.Load()
	var ended *sandbox.EndedError
	var exceeded *sandbox.ExceededError
	switch {
	case took > limit+o.late:
		return fmt.Errorf("it took %s", took.Round(time.Millisecond))
	case peak > memory+own:
		return fmt.Errorf("the process took %d MiB", peak>>20)
	case job.IsPanic(err):
		return fmt.Errorf("it panics: %w", err)
	case errors.As(err, &ended):
		return fmt.Errorf("the process ended: %w", err)
	case !bounded && errors.As(err, &exceeded):
		return fmt.Errorf("nothing but the process bounds it: %w", err)
	}
	var now runtime.MemStats
	if runtime.ReadMemStats(&now); now.HeapAlloc > maxParent {
		runtime.GC()
		if runtime.ReadMemStats(&now); now.HeapAlloc > maxParent {
			return fmt.Errorf("the program that asked keeps %d MiB", now.HeapAlloc>>20)
		}
	}
	return nil
}

// largestChild is how much memory the largest process of this program takes; 0 where /proc does not
// say it.
func largestChild() (largest int64) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	for _, thread := range threads {
		children, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			status, err := os.ReadFile("/proc/" + child + "/status")
			if err != nil {
				continue // the process has ended
			}
			_, after, _ := strings.Cut(string(status), "RssAnon:")
			fields := strings.Fields(after)
			if len(fields) == 0 {
				continue
			}
			if kilobytes, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
				largest = max(largest, kilobytes<<10)
			}
		}
	}
	return largest
}
