package memlimit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestDeepCoversTheHeap compares what is booked with what the runtime allocates: less
// would let a template take more than its limit.
func TestDeepCoversTheHeap(t *testing.T) {
	made := map[string]func(i int) any{
		"empty map":      func(int) any { return map[string]any{} },
		"map of one":     func(i int) any { return map[string]any{"a": i + 1000} },
		"map of eight":   func(i int) any { return fields(8, i) },
		"map of nine":    func(i int) any { return fields(9, i) },
		"map of 100":     func(i int) any { return fields(100, i) },
		"map of 1000":    func(i int) any { return fields(1000, i) },
		"empty list":     func(int) any { return []any{} },
		"list of one":    func(i int) any { return []any{i + 1000} },
		"list of 100":    func(i int) any { return make([]any, 100) },
		"list that grew": func(i int) any { return append(make([]any, 0, 1000), i+1000) },
		"number":         func(i int) any { return float64(i) + 1000.5 },
		"short text":     func(i int) any { return strings.Repeat("x", 1) },
		"text":           func(i int) any { return strings.Repeat("x", 1000) },
		"texts":          func(i int) any { return strings.SplitAfter(strings.Repeat("a,", 100), ",") },
		"map of texts":   func(i int) any { return map[string]string{fmt.Sprint(i): "x"} },
	}
	for reason, make1 := range made {
		t.Run(reason, func(t *testing.T) {
			const count = 2000
			kept := make([]any, count)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for i := range kept {
				kept[i] = make1(i)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			booked := Deep(kept, 1<<40)
			if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > booked+booked/4+64<<10 {
				t.Errorf("%d values take %d bytes, booked are %d", count, used, booked)
			}
		})
	}
}

func fields(count, value int) map[string]any {
	made := map[string]any{}
	for i := range count {
		made[fmt.Sprint("key", i)] = value + 1000
	}
	return made
}

func TestDeepCountsSharedPartsOnce(t *testing.T) {
	part := []any{strings.Repeat("x", 10000)}
	if once, often := Deep([]any{part}, 1<<40), Deep([]any{part, part, part, map[string]any{"a": part}}, 1<<40); often > once+1000 {
		t.Errorf("a part counts %d bytes once and %d where it is shared", once, often)
	}
	loop := map[string]any{}
	loop["self"] = loop
	if size := Deep(loop, 1<<40); size > 1000 {
		t.Errorf("a map that contains itself counts %d", size)
	}
}

// TestBudget shows who gives way when there is no memory left.
func TestBudget(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	b := New(100)
	large, small := b.Open(), b.Open()
	if err := large.Take(ctx, 90); err != nil {
		t.Fatal(err)
	}
	if err := large.Take(ctx, 20); !busy(err) {
		t.Fatalf("the rendering that holds most is refused at once: %v", err)
	}
	granted := make(chan error, 1)
	go func() { granted <- small.Take(ctx, 30) }()
	for large.Check() == nil {
		if ctx.Err() != nil {
			t.Fatal("the large one is not asked to end")
		}
		runtime.Gosched()
	}
	if err := large.Take(ctx, 1); !busy(err) {
		t.Errorf("the large one continues: %v", err)
	}
	select {
	case err := <-granted:
		t.Fatalf("more was granted than there is: %v", err)
	default:
	}
	large.Close()
	if err := <-granted; err != nil {
		t.Errorf("the small one is refused: %v", err)
	}
	small.Close()
	if err := b.Open().Take(ctx, 100); err != nil {
		t.Errorf("not everything was given back: %v", err)
	}
}

// TestBudgetNeverBlocksForEver lets renderings of the same size meet.
func TestBudgetNeverBlocksForEver(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	b := New(100)
	ended := make(chan error, 8)
	for range cap(ended) {
		go func() {
			a := b.Open()
			defer a.Close()
			var err error
			for range 50 {
				if err = a.Take(ctx, 1); err != nil {
					break
				}
				runtime.Gosched()
			}
			ended <- err
		}()
	}
	for range cap(ended) {
		if err := <-ended; err != nil && !busy(err) {
			t.Error(err)
		}
	}
	if ctx.Err() != nil {
		t.Error("they waited for each other")
	}
}

// busy reports whether an error is Busy and known as temporary.
func busy(err error) bool {
	var b *Busy
	var temporary net.Error
	return errors.As(err, &b) && errors.As(err, &temporary)
}
