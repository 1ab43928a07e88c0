package memguard

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// bench is a guard of a heap of 100 MiB, whose size the test sets.
type bench struct {
	*Guard
	heap   int64
	clock  time.Time
	victim []string
}

func newBench() *bench {
	b := &bench{clock: time.Unix(1000, 0)}
	b.Guard = New(100<<20, func(name string, _ int64) { b.victim = append(b.victim, name) })
	b.live, b.Guard.now = func() int64 { return b.heap }, func() time.Time { return b.clock }
	return b
}

func (b *bench) begin(t *testing.T, name string, holds int64) (ctx context.Context, done func()) {
	t.Helper()
	ctx, done = b.Begin(t.Context(), name)
	if err := Of(ctx).Book(holds); err != nil {
		t.Fatal(err)
	}
	return ctx, done
}

// TestLargestFirst: near the limit, the largest work ends, one at a time, and small work never.
func TestLargestFirst(t *testing.T) {
	b := newBench()
	small, _ := b.begin(t, "small", Large)
	large, _ := b.begin(t, "large", 10*Large)
	largest, over := b.begin(t, "largest", 20*Large)
	b.heap = 80 << 20
	b.Check()
	if largest.Err() != nil {
		t.Fatal("there is memory left")
	}
	b.heap = 95 << 20
	b.Check()
	b.Check()
	if !errors.Is(context.Cause(largest), ErrEnded) || large.Err() != nil || small.Err() != nil {
		t.Fatalf("%v were ended", b.victim)
	}
	if err := Reason(largest, errors.New("the context was cancelled")); !errors.Is(err, ErrEnded) {
		t.Errorf("it fails with %v", err)
	}
	if err := Reason(large, nil); err != nil {
		t.Errorf("what has succeeded fails with %v", err)
	}
	over()
	b.Check()
	if large.Err() == nil || small.Err() != nil {
		t.Fatalf("%v were ended", b.victim)
	}
	b.clock = b.clock.Add(2 * grace)
	b.Check()
	if small.Err() != nil || len(b.victim) != 2 {
		t.Errorf("%v were ended", b.victim)
	}
}

// TestDeaf: work that does not end when it is told to does not protect other work.
func TestDeaf(t *testing.T) {
	b := newBench()
	large, _ := b.begin(t, "large", 10*Large)
	_, _ = b.begin(t, "deaf", 20*Large)
	b.heap = 95 << 20
	b.Check()
	b.clock = b.clock.Add(2 * grace)
	b.Check()
	if large.Err() == nil {
		t.Errorf("%v were ended", b.victim)
	}
}

// TestRefused: near the limit no large work begins, and small work does.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		reason      string
		heap        int64
		has, wanted int64
		want        error
	}{
		{"there is memory", 80 << 20, 0, 50 * Large, nil},
		{"small work", 99 << 20, 0, Large, nil},
		{"large work near the limit", 90 << 20, 0, 2 * Large, ErrFull},
		{"work that becomes large near the limit", 90 << 20, Large, 1, ErrFull},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench()
			ctx, _ := b.begin(t, "work", test.has)
			b.heap = test.heap
			if err := Of(ctx).Book(test.wanted); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			Of(ctx).Release(test.has)
			if test.has > 0 && Of(ctx).held != 0 {
				t.Errorf("it holds %d after it has given all back", Of(ctx).held)
			}
		})
	}
}

// TestUnguarded: without a limit nothing is ended or refused.
func TestUnguarded(t *testing.T) {
	g := New(0, nil)
	ctx, done := g.Begin(t.Context(), "work")
	if err := Of(ctx).Book(1 << 50); err != nil || g != nil {
		t.Errorf("got %v", err)
	}
	Of(ctx).Release(1)
	g.Check()
	done()
}

// TestRealHeap: real memory, which real collections find in use, ends the work that holds it.
func TestRealHeap(t *testing.T) {
	runtime.GC()
	const size = 64 << 20
	g := New(liveHeap()+size/2, nil)
	modest, _ := g.Begin(t.Context(), "modest")
	greedy, done := g.Begin(t.Context(), "greedy")
	defer done()
	if err := errors.Join(Of(modest).Book(2*Large), Of(greedy).Book(size)); err != nil {
		t.Fatal(err)
	}
	g.Check()
	if greedy.Err() != nil {
		t.Fatal("nothing is in use yet")
	}
	text := make([]byte, size)
	runtime.GC()
	g.Check()
	if !errors.Is(context.Cause(greedy), ErrEnded) || modest.Err() != nil {
		t.Errorf("greedy %v, modest %v", greedy.Err(), modest.Err())
	}
	runtime.KeepAlive(text)
}
