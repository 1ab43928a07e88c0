package worklimit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/worklimit"
)

// expect compares an outcome with a part of its message; "" wants none. What ends an
// evaluation is no failure, which an alternative could hide.
func expect(t *testing.T, err error, want string, failure bool) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want %q", err, want)
	}
	if err != nil && (outcome.AsFailure(err) != nil) != failure {
		t.Errorf("%v is a failure: %t", err, !failure)
	}
}

// TestSteps: beyond the limit every further step fails, so that no alternative goes on.
func TestSteps(t *testing.T) {
	m := worklimit.NewMeter(t.Context(), worklimit.Limits{Steps: 10})
	for range 10 {
		expect(t, m.Step(), "", true)
	}
	for range 3 {
		expect(t, m.Step(), "evaluation takes more than 10 steps", true)
	}
	expect(t, m.EnterCall(), "evaluation takes more than 10 steps", true)
}

// TestDefaults: what is not set is generous, and ends all the same.
func TestDefaults(t *testing.T) {
	for _, limits := range []worklimit.Limits{{}, {Depth: -1, Steps: -1, Time: -1}} {
		m := worklimit.NewMeter(t.Context(), limits)
		for range 4_000_000 {
			if err := m.Step(); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, m.Step(), "evaluation takes more than 4000000 steps", true)
	}
}

func TestCalls(t *testing.T) {
	m := worklimit.NewMeter(t.Context(), worklimit.Limits{Depth: 3})
	for i := range 3 {
		if err := m.EnterCall(); err != nil || m.NestedCalls() != i+1 {
			t.Fatalf("call %d: %v, %d are counted", i, err, m.NestedCalls())
		}
	}
	expect(t, m.EnterCall(), "calls are nested deeper than 3 levels", true)
	if m.NestedCalls() != 3 {
		t.Errorf("a refused call is counted, though it is never left: %d", m.NestedCalls())
	}
	m.LeaveCall()
	expect(t, m.EnterCall(), "", true)
}

// TestTheClock looks at what ends an evaluation for good.
func TestTheClock(t *testing.T) {
	cancelled, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the reader has closed the connection"))
	for _, test := range []struct {
		reason string
		ctx    context.Context
		time   time.Duration
		want   string
		is     error
	}{
		{"there is time", context.Background(), time.Hour, "", nil},
		{"the time is over", context.Background(), time.Nanosecond, "evaluation takes longer than 1ns", worklimit.ErrTimeLimit},
		{"the caller has given up", cancelled, time.Hour, "evaluation was cancelled", context.Canceled},
		{"the caller has given up, and the time is over: the limit is not to blame", cancelled, time.Nanosecond, "evaluation was cancelled", context.Canceled},
	} {
		t.Run(test.reason, func(t *testing.T) {
			m := worklimit.NewMeter(test.ctx, worklimit.Limits{Time: test.time})
			expect(t, m.CheckTime(), test.want, false)
			expect(t, m.Step(), "", false) // few steps do not look at the clock
			var err error
			for range 2_000 {
				err = errors.Join(err, m.Step())
			}
			expect(t, err, test.want, false)
			if !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
			if m.Context() != test.ctx {
				t.Error("it has another context")
			}
		})
	}
}
