package worklimit_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/worklimit"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// small are limits that a few steps reach; each can be told apart by its number.
func small() worklimit.Limits {
	return worklimit.Limits{Depth: 3, Steps: 10, Bytes: 40, Text: 20, List: 5, Nodes: 4, Memory: 1 << 20, Time: time.Hour}
}

func meter(t *testing.T, limits worklimit.Limits) *worklimit.Meter {
	t.Helper()
	return worklimit.NewMeter(t.Context(), limits, nil)
}

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

func TestDefaults(t *testing.T) {
	defaults := worklimit.DefaultLimits()
	own := small()
	for _, test := range []struct {
		reason    string
		got, want worklimit.Limits
	}{
		{"nothing is set", worklimit.Limits{}, defaults},
		{"everything is set", own, own},
		{"less than nothing would end everything at once", worklimit.Limits{Depth: -1, Steps: -1, Bytes: -1, Text: -1, List: -1, Nodes: -1, Memory: -1, Time: -1}, defaults},
		{"one limit is set, the others are not", worklimit.Limits{List: 7}, func() worklimit.Limits { l := defaults; l.List = 7; return l }()},
		{"a second time nothing changes", own.WithDefaults(), own},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := test.got.WithDefaults(); got != test.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestSteps spends one amount after the other; only the last may fail.
func TestSteps(t *testing.T) {
	for _, test := range []struct {
		reason string
		spent  []int64
		want   string
	}{
		{"up to the limit", []int64{4, 6}, ""},
		{"one step too many", []int64{10, 1}, "evaluation takes more than 10 steps"},
		{"all at once", []int64{11}, "evaluation takes more than 10 steps"},
		{"nothing is always allowed", []int64{10, 0}, ""},
		{"hostile: as many as a number can hold", []int64{math.MaxInt64}, "more than 10 steps"},
		{"hostile: so many that the count would begin below zero", []int64{10, math.MaxInt64}, "more than 10 steps"},
		{"hostile: a cost that turned negative on its way gives nothing back", []int64{10, -5, 1}, "more than 10 steps"},
		{"hostile: the smallest number", []int64{math.MinInt64}, "more than 10 steps"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			m := meter(t, small())
			for i, n := range test.spent {
				if err := m.Step(n); err != nil && i < len(test.spent)-1 && n >= 0 {
					t.Fatalf("already %d: %v", n, err)
				} else if i == len(test.spent)-1 {
					expect(t, err, test.want, true)
				}
			}
		})
	}
	t.Run("beyond the limit every further step fails, so that no alternative goes on", func(t *testing.T) {
		m := meter(t, small())
		_ = m.Step(math.MaxInt64)
		for range 3 {
			expect(t, m.Step(0), "more than 10 steps", true)
		}
	})
}

func TestTexts(t *testing.T) {
	for _, test := range []struct {
		reason  string
		lengths []int
		want    string
	}{
		{"the longest one", []int{20}, ""},
		{"a text with one byte too many", []int{21}, "text is longer than 20 bytes"},
		{"as many as are allowed together", []int{20, 20}, ""},
		{"texts with one byte too many together", []int{20, 20, 1}, "evaluation produces more than 40 bytes of text"},
		{"an empty one costs a step only", []int{20, 20, 0}, ""},
		{"empty ones without end", []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "more than 10 steps"},
		{"hostile: as long as a number can hold", []int{math.MaxInt}, "text is longer than 20 bytes"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			m := meter(t, small())
			for i, n := range test.lengths {
				err := m.Text(n)
				if i < len(test.lengths)-1 {
					expect(t, err, "", true)
					continue
				}
				expect(t, err, test.want, true)
			}
		})
	}
}

func TestElements(t *testing.T) {
	for _, test := range []struct {
		reason string
		n      int
		limits func(*worklimit.Limits)
		want   string
	}{
		{"the longest list", 5, nil, ""},
		{"an empty one", 0, nil, ""},
		{"a list with one entry too many", 6, nil, "list is longer than 5 entries"},
		{"hostile: as many as a number can hold", math.MaxInt, nil, "list is longer than 5 entries"},
		{"four entries cost a step", 4 * 10, func(l *worklimit.Limits) { l.List = 100 }, "more than 10 steps"},
		{"as much memory as is allowed, with that of the steps", 5, func(l *worklimit.Limits) { l.Memory = 448 }, ""},
		{"a byte less", 5, func(l *worklimit.Limits) { l.Memory = 447 }, "evaluation makes more than 447 bytes of values"},
		{"entries take memory before they are made", 5, func(l *worklimit.Limits) { l.Memory = 300 }, "evaluation makes more than 300 bytes of values"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			limits := small()
			if test.limits != nil {
				test.limits(&limits)
			}
			expect(t, meter(t, limits).Elements(test.n), test.want, true)
		})
	}
}

func nested(levels int) value.Value {
	v := value.Value(value.Int(1))
	for range levels {
		v = value.ListOf(v)
	}
	return v
}

func TestBounded(t *testing.T) {
	shared := value.Value(value.ListOf(value.Int(1), value.Int(1)))
	for range 80 {
		shared = value.ListOf(shared, shared)
	}
	for _, test := range []struct {
		reason string
		value  value.Value
		nodes  int64
		want   string
	}{
		{"as many nodes as are allowed", value.ListOf(value.Int(1), value.Int(2), value.Int(3)), 4, ""},
		{"one node more than is allowed", value.ListOf(value.Int(1), value.Int(2), value.Int(3), value.Int(4)), 4, "value has more than 4 nodes"},
		{"nil", value.Null{}, 4, ""},
		{"undefined", value.Undefined{}, 4, ""},
		{"long texts together", value.ListOf(value.Text(strings.Repeat("a", 21)), value.Text(strings.Repeat("b", 21))), 4, "value has more than 40 bytes of text"},
		{"as deep as is safe to walk over", nested(1_990), 1 << 40, ""},
		{"deeper", nested(2_100), 1 << 40, "value is nested deeper than 2000 levels"},
		{"hostile: parts that are shared count as often as they are seen", shared, 1 << 40, "nodes"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			limits := small()
			limits.Nodes = test.nodes
			got, err := meter(t, limits).Bounded(test.value)
			expect(t, err, test.want, true)
			if err == nil && got != test.value {
				t.Errorf("it became %v", got)
			}
			if err != nil && got != nil {
				t.Errorf("the refused value is returned: %T", got)
			}
		})
	}
}

// TestResults books what functions made of their arguments with little memory.
func TestResults(t *testing.T) {
	long := value.Text(strings.Repeat("s3cret", 30))
	ten := make([]value.Value, 10)
	for i := range ten {
		ten[i] = value.Int(i)
	}
	list := value.ListOf(ten...)
	for _, test := range []struct {
		reason string
		result value.Value
		args   []value.Value
		want   string
	}{
		{"a value that is new", list, nil, "evaluation makes more than 1000 bytes"},
		{"a result that is the argument costs its places only", list, []value.Value{list}, ""},
		{"less than the arguments gives nothing back", value.Int(1), []value.Value{list, long}, ""},
		{"the text of an argument is not counted again", value.ListOf(long), []value.Value{long}, ""},
		{"a text that is new, and that no message tells", value.ListOf(long, long, long, long, long), []value.Value{value.Int(1)}, "evaluation makes more than 1000 bytes"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			limits := worklimit.DefaultLimits()
			limits.Memory = 1000
			err := meter(t, limits).Result(test.result, test.args)
			expect(t, err, test.want, true)
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a value is told: %v", err)
			}
		})
	}
}

// TestResultsGiveNothingBack makes small values of large ones until the memory is used up.
func TestResultsGiveNothingBack(t *testing.T) {
	large := value.ListOf(value.Int(1), value.Text(strings.Repeat("a", 5_000)))
	limits := worklimit.DefaultLimits()
	limits.Memory = 100
	m := meter(t, limits)
	for range 3 {
		expect(t, m.Result(value.Int(1), []value.Value{large}), "", true)
	}
	expect(t, m.Result(value.Int(1), []value.Value{large}), "more than 100 bytes", true)
}

func TestCalls(t *testing.T) {
	m := meter(t, small())
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

func TestHandled(t *testing.T) {
	for _, test := range []struct {
		reason string
		value  value.Value
		want   string
	}{
		{"a short text costs nothing", value.Text(strings.Repeat("a", 4096)), ""},
		{"a long text costs with every use", value.Text(strings.Repeat("a", 20<<10)), "more than 10 steps"},
		{"a value that is not a text costs nothing", value.ListOf(value.Text(strings.Repeat("a", 20<<10))), ""},
		{"no value at all", nil, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			expect(t, meter(t, small()).Handled(test.value), test.want, true)
		})
	}
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
		{"the time was over before it began", context.Background(), -time.Second, "evaluation takes longer than -1s", worklimit.ErrTimeLimit},
		{"the caller has given up", cancelled, time.Hour, "evaluation was cancelled", context.Canceled},
		{"the caller has given up, and the time is over: the limit is not to blame", cancelled, -time.Second, "evaluation was cancelled", context.Canceled},
	} {
		t.Run(test.reason, func(t *testing.T) {
			limits := worklimit.DefaultLimits()
			limits.Time = test.time
			m := worklimit.NewMeter(test.ctx, limits, nil)
			expect(t, m.CheckTime(), test.want, false)
			expect(t, m.Step(1), "", false) // few steps do not look at the clock
			err := m.Step(2_000)
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

// TestSharedMemory follows what an evaluation takes of the memory that it shares.
func TestSharedMemory(t *testing.T) {
	const portion = 1 << 20
	var taken []int64
	m := worklimit.NewMeter(t.Context(), worklimit.DefaultLimits(), func(_ context.Context, bytes int64) error {
		taken = append(taken, bytes)
		return nil
	})
	for range 100 {
		expect(t, m.Step(1), "", true)
	}
	if len(taken) != 1 || taken[0] != portion {
		t.Errorf("a little is taken as one portion, not as %v", taken)
	}
	expect(t, m.Text(5*portion), "", true)
	total := int64(0)
	for _, n := range taken {
		if total += n; n%portion != 0 {
			t.Errorf("%d is no whole portion", n)
		}
	}
	if total < 5*portion || total > 7*portion {
		t.Errorf("%d are taken for a text of %d", total, 5*portion)
	}

	full := errors.New("others need it")
	m = worklimit.NewMeter(t.Context(), worklimit.DefaultLimits(), func(context.Context, int64) error { return full })
	err := m.Step(1)
	expect(t, err, "others need it", false)
	if !errors.Is(err, full) || !outcome.Aborted(err) {
		t.Errorf("%#v does not end the evaluation", err)
	}

	asked := false
	limits := worklimit.DefaultLimits()
	limits.Memory = 100
	m = worklimit.NewMeter(t.Context(), limits, func(context.Context, int64) error { asked = true; return nil })
	expect(t, m.Text(101), "evaluation makes more than 100 bytes of values", true)
	if asked {
		t.Error("memory is taken that the evaluation may not have")
	}
}
