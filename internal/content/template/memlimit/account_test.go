package memlimit

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestAccount: what is booked and given back, by one rendering alone.
func TestAccount(t *testing.T) {
	take := func(bytes int64) func(*testing.T, *Account) error {
		return func(t *testing.T, a *Account) error { return a.Take(t.Context(), bytes) }
	}
	release := func(bytes int64) func(*testing.T, *Account) error {
		return func(_ *testing.T, a *Account) error { a.Release(bytes); return nil }
	}
	closed := func(_ *testing.T, a *Account) error { a.Close(); return nil }
	for _, test := range []struct {
		reason string
		steps  []func(*testing.T, *Account) error
		busy   bool
		used   int64
	}{
		{"all there is", []func(*testing.T, *Account) error{take(100)}, false, 100},
		{"one byte more than there is", []func(*testing.T, *Account) error{take(101)}, true, 0},
		{"one byte more than is left", []func(*testing.T, *Account) error{take(100), take(1)}, true, 100},
		{"nothing, when there is nothing left", []func(*testing.T, *Account) error{take(100), take(0)}, false, 100},
		{"a part was given back", []func(*testing.T, *Account) error{take(100), release(40), take(40)}, false, 100},
		{"more was given back than was held", []func(*testing.T, *Account) error{take(60), release(1000), take(100)}, false, 100},
		{"given back after the end, by what is tidied up late", []func(*testing.T, *Account) error{take(60), closed, release(60), closed}, false, 0},
		{"more than numbers can say, so that the sum would be less than nothing", []func(*testing.T, *Account) error{take(60), take(math.MaxInt64)}, true, 60},
		{"as much as numbers can say", []func(*testing.T, *Account) error{take(math.MaxInt64)}, true, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := New(100)
			a := b.Open()
			var err error
			for _, step := range test.steps {
				err = step(t, a)
			}
			if busy(err) != test.busy || (err != nil) != test.busy {
				t.Errorf("ends with %v", err)
			}
			if b.used != test.used || b.Total() != 100 {
				t.Errorf("%d of %d are used, want %d", b.used, b.Total(), test.used)
			}
			a.Close()
			if b.used != 0 || len(b.open) != 0 {
				t.Errorf("%d stay used, %d stay open", b.used, len(b.open))
			}
		})
	}
}

// TestWhatNeverFits: no rendering has to end for one that could not continue even then.
func TestWhatNeverFits(t *testing.T) {
	b := New(100)
	large, greedy := b.Open(), b.Open()
	defer large.Close()
	defer greedy.Close()
	if err := large.Take(t.Context(), 90); err != nil {
		t.Fatal(err)
	}
	for reason, bytes := range map[string]int64{"a byte too many": 101, "more than numbers can say": math.MaxInt64} {
		t.Run(reason, func(t *testing.T) {
			if err := greedy.Take(t.Context(), bytes); !busy(err) {
				t.Errorf("ends with %v", err)
			}
			if err := large.Check(); err != nil {
				t.Errorf("another one was asked to end: %v", err)
			}
		})
	}
}

// TestGivingUpEndsTheWait: the time of a rendering ends while it waits.
func TestGivingUpEndsTheWait(t *testing.T) {
	b := New(100)
	large, small := b.Open(), b.Open()
	defer large.Close()
	if err := large.Take(t.Context(), 90); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := small.Take(over, 30); !busy(err) {
		t.Errorf("ends with %v", err)
	}
	if large.Check() == nil {
		t.Error("the large one was not asked to end")
	}
	if small.Check() != nil || small.held != 0 {
		t.Errorf("the small one holds %d, %v", small.held, small.Check())
	}
}

// TestSizes: what is as large says so, and what has no end is not walked to it.
func TestSizes(t *testing.T) {
	type named string
	long := strings.Repeat("x", 1000)
	deep := any("x")
	for range 10_000 {
		deep = []any{deep}
	}
	for _, test := range []struct {
		reason      string
		value       any
		least, most int64
	}{
		{"nothing", nil, 0, 0},
		{"a truth", true, 0, 0},
		{"a text", long, 1000, 1100},
		{"a number that is kept as text", json.Number(long), 1000, 1100},
		{"a text of another type", named(long), 1000, 1100},
		{"texts of a library", []string{long, long}, 2000, 2300},
		{"bytes of a library", []byte(long), 1000, 1100},
		{"a map of a library", map[string]string{"a": long}, 1000, 1600},
		{"a map with keys of a library", map[named]any{named(long): nil}, 1000, 1600},
		{"lists of a library", [][]string{{long}, {long}}, 2000, 2400},
		{"capacity that is not used yet", make([]any, 0, 1000), 16_000, 16_100},
		{"capacity of a list of a library", make([]int64, 0, 1000), 8000, 8100},
		{"an object that is not a value", struct{ a int }{}, 1, 100},
		{"many levels", deep, 10_000 * 24, 10_000 * 100},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if size := Deep(test.value, 1<<40); size < test.least || size > test.most {
				t.Errorf("counts %d, want %d to %d", size, test.least, test.most)
			}
		})
	}
	many := make([]any, 1_000_000)
	for i := range many {
		many[i] = long
	}
	if size := Deep([]any{many, many}, 1000); size < 1000 || size > 17_000_000 {
		t.Errorf("counts on to %d although 1000 are enough", size)
	}
}
