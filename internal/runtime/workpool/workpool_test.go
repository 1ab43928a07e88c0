package workpool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// bench is a pool with a channel of the enqueued objects.
type bench struct {
	t     *testing.T
	pool  *Pool[string]
	queue chan types.NamespacedName
}

func newBench(t *testing.T, change func(*Options)) *bench {
	b := &bench{t: t, queue: make(chan types.NamespacedName, 1000)}
	options := Options{MaxConcurrent: 4, MaxPerNamespace: 2, MaxResults: 10, PreemptAfter: time.Hour, Timeout: time.Hour, Enqueue: func(key types.NamespacedName) { b.queue <- key }}
	if change != nil {
		change(&options)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	b.pool = New[string](ctx, options)
	return b
}

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

var first = Version{UID: "u", Job: "1", Generation: 1}

// enqueued waits until an object is enqueued.
func (b *bench) enqueued(want types.NamespacedName) {
	b.t.Helper()
	select {
	case got := <-b.queue:
		if got != want {
			b.t.Fatalf("%s is enqueued, want %s", got, want)
		}
	case <-time.After(5 * time.Minute):
		b.t.Fatalf("%s is not enqueued: %s", want, b.pool.Counts())
	}
}

// begin asks for slow work and returns when it runs. The work ends when the returned
// function is called, or when its context is cancelled.
func (b *bench) begin(k types.NamespacedName, v Version) (end func()) {
	b.t.Helper()
	began, over := make(chan struct{}), make(chan struct{})
	if _, how, err := b.pool.Fetch(k, v, slow(began, over, k.Name)); how != Working || err != nil {
		b.t.Fatalf("%s: %v", k, err)
	}
	select {
	case <-began:
	case <-time.After(5 * time.Minute):
		b.t.Fatalf("%s does not begin: %s", k, b.pool.Counts())
	}
	return func() { close(over) }
}

func slow(began, over chan struct{}, value string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		close(began)
		select {
		case <-over:
			return value, nil
		case <-ctx.Done():
			return "", fmt.Errorf("read: %w", ctx.Err())
		}
	}
}

// wait asks for work that has to wait for its turn. The returned channel is closed
// when it begins.
func (b *bench) wait(k types.NamespacedName, v Version) chan struct{} {
	b.t.Helper()
	began := make(chan struct{})
	if _, how, err := b.pool.Fetch(k, v, slow(began, nil, k.Name)); how != Working || err != nil {
		b.t.Fatalf("%s: %v", k, err)
	}
	return began
}

func (b *bench) mustBegin(began chan struct{}, reason string) {
	b.t.Helper()
	select {
	case <-began:
	case <-time.After(5 * time.Minute):
		b.t.Fatalf("%s: it does not begin: %s", reason, b.pool.Counts())
	}
}

func (b *bench) counts(want, reason string) {
	b.t.Helper()
	if got := b.pool.Counts(); got != want {
		b.t.Errorf("%s: %s, want %s", reason, got, want)
	}
}

// never is work that must not run.
func never(t *testing.T) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		t.Error("the work is done again")
		return "", nil
	}
}

// TestFetch: the caller gets no result while the work goes on, its object is enqueued, and it gets the
// result once.
func TestFetch(t *testing.T) {
	b := newBench(t, nil)
	k := key("a", "x")
	end := b.begin(k, first)
	if _, how, err := b.pool.Fetch(k, first, never(t)); how != Working || err != nil {
		t.Errorf("while it runs: %v", err)
	}
	end()
	b.enqueued(k)
	if !b.pool.Has(k, first) || b.pool.Has(k, Version{}) || b.pool.Has(key("a", "y"), first) {
		t.Error("what is known is this version of this object")
	}
	if value, _, err := b.pool.Fetch(k, first, never(t)); value != "x" || err != nil {
		t.Errorf("got %q, %v", value, err)
	}
	b.counts("0 waiting, 0 running, 0 fetchable", "the result was handed out")
	b.begin(k, first)()
	b.enqueued(k)
}

// TestErrors: what goes wrong is a result as well.
func TestErrors(t *testing.T) {
	failure := errors.New("no such version")
	for _, test := range []struct {
		reason string
		work   func(context.Context) (string, error)
		check  func(error) bool
	}{
		{"an error of the work", func(context.Context) (string, error) { return "", failure }, func(err error) bool { return errors.Is(err, failure) }},
		{"nothing lasts for ever", func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Timeout = 100 * time.Millisecond })
			if _, how, err := b.pool.Fetch(key("a", "x"), first, test.work); how != Working || err != nil {
				t.Fatal(err)
			}
			b.enqueued(key("a", "x"))
			if _, _, err := b.pool.Fetch(key("a", "x"), first, never(t)); !test.check(err) {
				t.Errorf("got %v", err)
			}
			b.counts("0 waiting, 0 running, 0 fetchable", "the place is free")
		})
	}
}

// TestVersions: what was made for another job, generation or object is of no use,
// and work for it ends.
func TestVersions(t *testing.T) {
	for _, next := range []Version{{"u", "2", 1}, {"u", "1", 2}, {"other", "1", 1}} {
		b := newBench(t, func(o *Options) { o.MaxConcurrent, o.MaxPerNamespace = 1, 1 })
		k := key("a", "x")
		b.begin(k, first)
		b.begin(k, next)()
		b.enqueued(k)
		if value, _, err := b.pool.Fetch(k, next, never(t)); value != "x" || err != nil {
			t.Errorf("%v: got %q, %v", next, value, err)
		}
		b.begin(k, first)()
		b.enqueued(k)
		b.begin(k, next)
		b.counts("0 waiting, 1 running, 0 fetchable", "a result for an older version is dropped")
	}
}

// TestForget: work and results of an object that needs them no longer are given up.
func TestForget(t *testing.T) {
	b := newBench(t, func(o *Options) { o.MaxConcurrent, o.MaxPerNamespace = 1, 1 })
	b.begin(key("a", "runs"), first)
	b.wait(key("a", "waits"), first)
	after := b.wait(key("b", "after"), first)
	b.pool.Forget(key("a", "waits"))
	b.pool.Forget(key("a", "runs"))
	b.mustBegin(after, "the place is free")
	b.pool.Forget(key("b", "after"))
	b.pool.Forget(key("b", "unknown"))
	b.begin(key("c", "done"), first)()
	b.enqueued(key("c", "done"))
	b.pool.Forget(key("c", "done"))
	b.counts("0 waiting, 0 running, 0 fetchable", "everything is forgotten")
}

// TestKeep: results that are not fetched are bounded. A lost one is worked out again.
func TestKeep(t *testing.T) {
	b := newBench(t, func(o *Options) { o.MaxResults = 2 })
	for _, name := range []string{"x", "y", "z"} {
		b.begin(key("a", name), first)()
		b.enqueued(key("a", name))
	}
	b.counts("0 waiting, 0 running, 2 fetchable", "the bound")
	if value, _, err := b.pool.Fetch(key("a", "z"), first, never(t)); value != "z" || err != nil {
		t.Errorf("the newest: %q, %v", value, err)
	}
	b.begin(key("a", "x"), first)()
	b.enqueued(key("a", "x"))
}

// TestShare: a namespace has its share, also if it is alone, so that there is always
// a place for others.
func TestShare(t *testing.T) {
	b := newBench(t, nil)
	ends := []func(){b.begin(key("greedy", "1"), first), b.begin(key("greedy", "2"), first)}
	third, fourth := b.wait(key("greedy", "3"), first), b.wait(key("greedy", "4"), first)
	b.counts("2 waiting, 2 running, 0 fetchable", "the share is 2")
	b.begin(key("modest", "1"), first)()
	b.enqueued(key("modest", "1"))
	ends[0]()
	b.enqueued(key("greedy", "1"))
	b.mustBegin(third, "the next one of the same namespace")
	ends[1]()
	b.enqueued(key("greedy", "2"))
	b.mustBegin(fourth, "and the next")
}

// TestMost: each namespace may have one piece of work, also if others have all places.
func TestMost(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Most = 6 })
	for _, namespace := range []string{"a", "b"} {
		b.begin(key(namespace, "0"), first)
		b.begin(key(namespace, "1"), first)
	}
	b.wait(key("a", "2"), first)
	b.begin(key("c", "0"), first)
	end := b.begin(key("d", "0"), first)
	b.wait(key("c", "1"), first)
	late := b.wait(key("e", "0"), first)
	b.counts("3 waiting, 6 running, 0 fetchable", "more namespaces than may be")
	end()
	b.enqueued(key("d", "0"))
	b.mustBegin(late, "a namespace without work")
}

// TestPreemption: work whose time is over is preempted when other work needs its place,
// and only then.
func TestPreemption(t *testing.T) {
	preempting := func(o *Options) { o.PreemptAfter = 200 * time.Millisecond }
	t.Run("work is preempted for another namespace when all places are taken", func(t *testing.T) {
		b := newBench(t, preempting)
		for _, name := range []string{"1", "2"} {
			b.begin(key("greedy", name), first)
		}
		b.begin(key("other", "1"), first)
		b.begin(key("third", "1"), first)
		modest := b.wait(key("modest", "1"), first)
		b.mustBegin(modest, "one of them is preempted")
		b.enqueued(key("greedy", "1"))
		if _, how, err := b.pool.Fetch(key("greedy", "1"), first, never(t)); how != Preempted || err == nil {
			t.Errorf("the preempted work ends with %v", err)
		}
		b.counts("0 waiting, 4 running, 0 fetchable", "one was enough")
	})
	t.Run("work is preempted for its own namespace, which has its share", func(t *testing.T) {
		b := newBench(t, preempting)
		b.begin(key("greedy", "1"), first)
		b.begin(key("greedy", "2"), first)
		own := b.wait(key("greedy", "3"), first)
		b.mustBegin(own, "one of them is preempted")
		b.enqueued(key("greedy", "1"))
	})
	t.Run("work is not preempted if no other work waits", func(t *testing.T) {
		b := newBench(t, func(o *Options) { o.PreemptAfter = time.Nanosecond })
		end := b.begin(key("a", "1"), first)
		b.begin(key("b", "1"), first)()
		b.enqueued(key("b", "1"))
		end()
		b.enqueued(key("a", "1"))
		if value, _, err := b.pool.Fetch(key("a", "1"), first, never(t)); value != "1" || err != nil {
			t.Errorf("got %q, %v", value, err)
		}
	})
	t.Run("other work is preempted if cancelled work does not end", func(t *testing.T) {
		b := newBench(t, func(o *Options) { o.MaxConcurrent, o.MaxPerNamespace, o.PreemptAfter = 2, 2, 100*time.Millisecond })
		deaf, over := make(chan struct{}), make(chan struct{})
		defer close(over)
		_, _, _ = b.pool.Fetch(key("a", "deaf"), first, func(context.Context) (string, error) { close(deaf); <-over; return "", nil })
		b.mustBegin(deaf, "the first")
		b.begin(key("a", "hears"), first)
		b.mustBegin(b.wait(key("b", "1"), first), "the second is preempted")
		b.enqueued(key("a", "hears"))
	})
}

// TestEnd: with the process all work ends, and nothing is enqueued.
func TestEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pool := New[string](ctx, Options{MaxConcurrent: 1, MaxPerNamespace: 1, MaxResults: 1, PreemptAfter: time.Hour, Timeout: time.Hour, Enqueue: func(types.NamespacedName) { t.Error("enqueued") }})
	began, ended := make(chan struct{}), make(chan struct{})
	_, _, _ = pool.Fetch(key("a", "x"), first, func(ctx context.Context) (string, error) {
		defer close(ended)
		close(began)
		<-ctx.Done()
		return "", ctx.Err()
	})
	<-began
	cancel()
	<-ended
}

// TestConcurrentUse lets the race detector look, and counts what runs.
func TestConcurrentUse(t *testing.T) {
	const most, share, namespaces, objects = 6, 2, 4, 25
	var running, highest atomic.Int64
	var perNamespace [namespaces]atomic.Int64
	b := newBench(t, func(o *Options) {
		o.MaxConcurrent, o.MaxPerNamespace, o.MaxResults, o.PreemptAfter = most, share, 1000, time.Millisecond
	})
	var group sync.WaitGroup
	asks := make(chan types.NamespacedName, namespaces*objects*10)
	work := func(k types.NamespacedName) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			now := running.Add(1)
			defer running.Add(-1)
			for old := highest.Load(); now > old && !highest.CompareAndSwap(old, now); old = highest.Load() {
			}
			of := &perNamespace[k.Namespace[0]-'0']
			if of.Add(1) > share {
				t.Errorf("namespace %s has more than its share", k.Namespace)
			}
			defer of.Add(-1)
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(time.Millisecond):
				return k.String(), nil
			}
		}
	}
	var left atomic.Int64
	left.Store(namespaces * objects)
	for i := range namespaces {
		for j := range objects {
			asks <- key(fmt.Sprint(i), fmt.Sprint(j))
		}
	}
	done := make(chan struct{})
	for range 4 {
		group.Go(func() {
			for {
				var k types.NamespacedName
				select {
				case k = <-asks:
				case k = <-b.queue:
				case <-done:
					return
				}
				value, how, err := b.pool.Fetch(k, first, work(k))
				switch {
				case how == Working:
				case err != nil:
					asks <- k
				case value != k.String():
					t.Errorf("%s gets the result of %s", k, value)
				case left.Add(-1) == 0:
					close(done)
				}
			}
		})
	}
	group.Wait()
	if highest.Load() > most {
		t.Errorf("%d ran at the same time", highest.Load())
	}
}
