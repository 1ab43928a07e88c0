package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

// held is work of a tenant that waits for an answer.
type held struct {
	answer chan struct{}
	ended  chan error
}

// hold begins work of a tenant that holds so many MiB, and returns when it asks.
func hold(ctx context.Context, t *testing.T, p *sandbox.Pool, tenant, size string) *held {
	t.Helper()
	h := &held{make(chan struct{}), make(chan error, 1)}
	asks := make(chan struct{})
	go func() {
		_, err := p.Do(ctx, sandbox.Work{Tenant: tenant, Name: "hold and ask", Title: "work", Encode: input(size), Answer: func([]byte) ([]byte, error) {
			close(asks)
			<-h.answer
			return nil, nil
		}})
		h.ended <- err
	}()
	select {
	case <-asks:
	case <-time.After(time.Minute):
		t.Fatalf("the work of %s does not begin", tenant)
	}
	return h
}

// waits fails if work of a tenant is carried out now.
func waits(t *testing.T, p *sandbox.Pool, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := p.Do(ctx, sandbox.Work{Tenant: "late", Name: "echo", Encode: input("")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s: %v", reason, err)
	}
}

func twoSlots(t *testing.T) *sandbox.Pool {
	return sandboxtest.Pool(t, func(o *sandbox.Options) { o.Slots = 2 })
}

// TestSlotsWhileAsking: who has the slots while works wait for answers.
func TestSlotsWhileAsking(t *testing.T) {
	t.Run("works that wait long for answers leave their slots to others", func(t *testing.T) {
		p := twoSlots(t)
		a, b := hold(t.Context(), t, p, "a", "1"), hold(t.Context(), t, p, "b", "1")
		if body, err := do(p, "c", "echo", "hello"); err != nil || body != "hello" {
			t.Errorf("a third tenant gets %s, %v", body, err)
		}
		close(a.answer)
		close(b.answer)
		if err := errors.Join(<-a.ended, <-b.ended); err != nil {
			t.Error(err)
		}
	})
	t.Run("a work that holds much keeps its slot, so that the memory of all has its bound", func(t *testing.T) {
		p := twoSlots(t)
		for _, tenant := range []string{"a", "b"} {
			defer close(hold(t.Context(), t, p, tenant, "60").answer)
		}
		waits(t, p, "both slots are held")
	})
	t.Run("not more than twice as many works as there are slots wait beside them", func(t *testing.T) {
		p := twoSlots(t)
		for i := range 6 {
			defer close(hold(t.Context(), t, p, fmt.Sprint(i), "1").answer)
		}
		waits(t, p, "four wait beside the slots, and two hold theirs")
	})
	t.Run("a tenant has half of the places beside the slots", func(t *testing.T) {
		p := twoSlots(t)
		for range 3 {
			defer close(hold(t.Context(), t, p, "greedy", "1").answer)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := p.Do(ctx, sandbox.Work{Tenant: "greedy", Name: "echo", Encode: input("")}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the tenant has more: %v", err)
		}
		if _, err := do(p, "modest", "echo", "hello"); err != nil {
			t.Errorf("another tenant: %v", err)
		}
	})
	t.Run("a work that ends before it has its slot back leaves nothing behind", func(t *testing.T) {
		p := twoSlots(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		a := hold(ctx, t, p, "a", "1")
		// Works of others that hold much take both slots.
		b, c := hold(t.Context(), t, p, "b", "60"), hold(t.Context(), t, p, "c", "60")
		close(a.answer)
		enough := errors.New("enough")
		cancel(enough)
		if err := <-a.ended; !errors.Is(err, enough) {
			t.Errorf("the work ends with %v", err)
		}
		waits(t, p, "no slot is free")
		close(b.answer)
		close(c.answer)
		if err := errors.Join(<-b.ended, <-c.ended); err != nil {
			t.Error(err)
		}
		for _, tenant := range []string{"a", "b", "c"} {
			if _, err := do(p, tenant, "echo", "hello"); err != nil {
				t.Error(err)
			}
		}
	})
}

// computes begins works of tenants that compute for so long, one after the other, and returns how often
// each begins, and what is called to wait for their ends.
func computes(ctx context.Context, t *testing.T, p *sandbox.Pool, length string, tenants ...string) (begins []*atomic.Int32, wait func() error) {
	t.Helper()
	ended := make(chan error, len(tenants))
	for _, tenant := range tenants {
		begun, count := make(chan struct{}), &atomic.Int32{}
		begins = append(begins, count)
		go func() {
			_, err := p.Do(ctx, sandbox.Work{Tenant: tenant, Name: "compute", Title: "work", Encode: func() ([]byte, error) {
				if count.Add(1) == 1 {
					close(begun)
				}
				return []byte(length), nil
			}})
			ended <- err
		}()
		<-begun
	}
	return begins, func() error {
		var errs []error
		for range tenants {
			errs = append(errs, <-ended)
		}
		return errors.Join(errs...)
	}
}

// TestLongWorks: works that compute for long have no more than half of the slots while others wait.
func TestLongWorks(t *testing.T) {
	t.Run("works without end in all slots leave one to others", func(t *testing.T) {
		p := twoSlots(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, wait := computes(ctx, t, p, "1h", "a", "b")
		late, end := context.WithTimeout(t.Context(), 50*time.Second)
		defer end()
		for range 3 {
			if _, err := p.Do(late, sandbox.Work{Tenant: "c", Name: "echo", Encode: input("")}); err != nil {
				t.Error(err)
			}
		}
		cancel()
		if err := wait(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("what had to leave begins again, and what began first stays", func(t *testing.T) {
		p := twoSlots(t)
		begins, wait := computes(t.Context(), t, p, "4s", "a", "b")
		if _, err := do(p, "c", "echo", ""); err != nil {
			t.Error(err)
		}
		if err := wait(); err != nil {
			t.Error(err)
		}
		if a, b := begins[0].Load(), begins[1].Load(); a != 1 || b < 2 {
			t.Errorf("the first one begins %d times, the second one %d times", a, b)
		}
	})
	t.Run("nothing has to leave while no other tenant waits", func(t *testing.T) {
		p := twoSlots(t)
		begins, wait := computes(t.Context(), t, p, "2s", "a", "b")
		if _, err := do(p, "a", "echo", ""); err != nil { // waits for the other work of its tenant
			t.Error(err)
		}
		if err := wait(); err != nil {
			t.Error(err)
		}
		if a, b := begins[0].Load(), begins[1].Load(); a != 1 || b != 1 {
			t.Errorf("they begin %d and %d times", a, b)
		}
	})
	t.Run("a caller that wants no long work learns that it is one", func(t *testing.T) {
		long := false
		ctx := sandbox.Quick(t.Context(), &long)
		p := twoSlots(t)
		if _, err := p.Do(ctx, sandbox.Work{Tenant: "a", Name: "echo", Encode: input("")}); err != nil || long {
			t.Errorf("a quick one: long %t, %v", long, err)
		}
		if _, err := p.Do(ctx, sandbox.Work{Tenant: "a", Name: "compute", Encode: input("1h")}); err == nil || !long {
			t.Errorf("a long one: long %t, %v", long, err)
		}
		other, cancel := context.WithCancel(t.Context())
		_, wait := computes(other, t, p, "1h", "a")
		long = false
		if _, err := p.Do(ctx, sandbox.Work{Tenant: "a", Name: "echo", Encode: input("")}); err == nil || !long {
			t.Errorf("one that waits for long: long %t, %v", long, err)
		}
		cancel()
		if err := wait(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestShare: works under a share leave the slots beside it to others, and one that is not wanted any more
// does not wait for its turn.
func TestShare(t *testing.T) {
	p := sandboxtest.Pool(t, func(o *sandbox.Options) { o.Slots = 8 })
	shared := sandbox.NewShare(1).In(t.Context())
	first := hold(shared, t, p, "a", "1")
	ctx, cancel := context.WithTimeout(shared, 300*time.Millisecond)
	defer cancel()
	if _, err := p.Do(ctx, sandbox.Work{Tenant: "b", Name: "echo", Encode: input("")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second work under the share: %v", err)
	}
	if body, err := do(p, "a", "echo", "hello"); err != nil || body != "hello" {
		t.Errorf("a work beside the share gets %s, %v", body, err)
	}
	close(first.answer)
	if err := <-first.ended; err != nil {
		t.Error(err)
	}
	if _, err := p.Do(shared, sandbox.Work{Tenant: "b", Name: "echo", Encode: input("")}); err != nil {
		t.Errorf("the share is free: %v", err)
	}
}
