package answerlimit

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"go.landscaper.dev/internal/runtime/memguard"
)

// TestNewBudget: a limit that makes no sense is not taken for "no memory at all", which
// would refuse everybody.
func TestNewBudget(t *testing.T) {
	for reason, test := range map[string]struct{ given, want int64 }{
		"none given":       {0, defaultMemory},
		"a negative one":   {-1, defaultMemory},
		"a small one":      {1, 1},
		"the largest ever": {math.MaxInt64, math.MaxInt64},
	} {
		t.Run(reason, func(t *testing.T) {
			b := New(test.given)
			if b.Limit != test.want || b.Each != MaxStored || b.Used.Load() != 0 {
				t.Errorf("limit %d, each %d, used %d", b.Limit, b.Each, b.Used.Load())
			}
		})
	}
}

// step is one thing that a piece of work does with its loan.
type step func(l *Loan) error

func grow(size int64) step { return func(l *Loan) error { return l.Grow(size) } }
func begin(l *Loan) error  { l.Begin(); return nil }
func end(l *Loan) error    { l.End(); return nil }

// refusal is the kind of an error, in a word.
func refusal(err error) string {
	var large *TooLarge
	switch {
	case err == nil:
		return ""
	case errors.As(err, &large):
		return "too large"
	case errors.As(err, &Busy{}):
		return "busy"
	case errors.Is(err, context.Canceled):
		return "over"
	}
	return err.Error()
}

func TestLoan(t *testing.T) {
	const mib = 1 << 20
	tests := []struct {
		reason string
		limit  int64
		steps  []step
		// want is how the last step ends, used what is booked then.
		want string
		used int64
	}{
		{"what is below the free share is booked nowhere", mib, []step{grow(free)}, "", 0},
		{"many small answers of one work count together", 8 * mib, []step{grow(free), grow(mib), grow(mib)}, "", 2 * mib},
		{"only what is above the free share is booked", 8 * mib, []step{grow(3 * mib)}, "", 2 * mib},
		{"the last byte of the budget can be had", mib, []step{grow(2 * mib)}, "", mib},
		{"a byte above the budget is refused, and not booked", mib, []step{grow(2*mib + 1)}, "busy", 0},
		{"a refused work keeps what it had", mib, []step{grow(2 * mib), grow(1)}, "busy", mib},
		{"a single loan has a limit below the budget", 1000 * mib, []step{grow(MaxStored + 1)}, "too large", 0},
		{"the most that one work may have", 1000 * mib, []step{grow(MaxStored)}, "", MaxStored - free},
		{"the next answer takes the place of the last", 2 * mib, []step{grow(3 * mib), begin, grow(3 * mib)}, "", 2 * mib},
		{"to begin twice gives back once", 8 * mib, []step{grow(3 * mib), begin, begin}, "", 0},
		{"an answer that is still read after the end books nothing", 8 * mib, []step{grow(3 * mib), end, grow(3 * mib)}, "over", 0},
		{"not even what would be free", 8 * mib, []step{end, grow(1)}, "over", 0},
		{"to end twice gives back once", 8 * mib, []step{grow(3 * mib), end, end}, "", 0},
		{"an ended work does not begin again", 8 * mib, []step{end, begin, grow(3 * mib)}, "over", 0},
		{"nothing costs nothing", 1, []step{grow(0)}, "", 0},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			b := New(test.limit)
			loan := &Loan{Budget: b}
			var err error
			for _, step := range test.steps {
				err = step(loan)
			}
			if got := refusal(err); got != test.want {
				t.Errorf("ends with %q, want %q", got, test.want)
			}
			if b.Used.Load() != test.used {
				t.Errorf("%d bytes are booked, want %d", b.Used.Load(), test.used)
			}
			loan.End()
			if b.Used.Load() != 0 {
				t.Errorf("%d bytes stay booked after the end", b.Used.Load())
			}
		})
	}
}

// TestLoanAfterOthers: who was refused may go on when others have given back.
func TestLoanAfterOthers(t *testing.T) {
	b := New(2 << 20)
	first, second := &Loan{Budget: b}, &Loan{Budget: b}
	if err := first.Grow(3 << 20); err != nil {
		t.Fatal(err)
	}
	if err := second.Grow(2 << 20); refusal(err) != "busy" {
		t.Fatalf("there is nothing left, but %v", err)
	}
	first.End()
	if err := second.Grow(0); err != nil || b.Used.Load() != 1<<20 {
		t.Errorf("%v, and %d bytes are booked", err, b.Used.Load())
	}
	second.End()
}

// TestManyLoans lets works take and give back at the same time: the budget is never
// exceeded, and in the end everything is there again.
func TestManyLoans(t *testing.T) {
	b := New(10 << 20)
	var all sync.WaitGroup
	exceeded := make(chan int64, 16)
	for range cap(exceeded) {
		all.Go(func() {
			for i := range 200 {
				loan := &Loan{Budget: b}
				_ = loan.Grow(int64(free + i<<14)) // may be refused: others have it
				loan.Begin()
				_ = loan.Grow(free << 1)
				loan.mutex.Lock()
				taken := loan.taken
				loan.mutex.Unlock()
				if taken > b.Limit {
					exceeded <- taken
				}
				loan.End()
			}
		})
	}
	all.Wait()
	close(exceeded)
	for taken := range exceeded {
		t.Errorf("one work has %d of %d bytes", taken, b.Limit)
	}
	if b.Used.Load() != 0 {
		t.Errorf("%d bytes stay booked", b.Used.Load())
	}
}

// TestLoansOfContexts: a part of some work books on the loan of the whole, and does not end
// it.
func TestLoansOfContexts(t *testing.T) {
	b := New(8 << 20)
	if LoanOf(t.Context()) != nil || CostOf(t.Context()) != 0 {
		t.Error("there is a loan without a context")
	}
	outer, loan, endOuter := WithLoan(t.Context(), b)
	inner, same, endInner := WithLoan(outer, New(1))
	if same != loan || inner != outer || LoanOf(inner) != loan {
		t.Error("a part of the work has a loan of its own")
	}
	if err := loan.Grow(3 << 20); err != nil {
		t.Fatal(err)
	}
	endInner()
	if CostOf(inner) != 3<<20 || b.Used.Load() != 2<<20 {
		t.Errorf("the part has ended the whole: cost %d, used %d", CostOf(inner), b.Used.Load())
	}
	endOuter()
	if CostOf(outer) != 0 || b.Used.Load() != 0 {
		t.Errorf("after the end: cost %d, used %d", CostOf(outer), b.Used.Load())
	}
}

// TestRefusalsSpeakOfNoValue: their texts are shown to the owner of a Target.
func TestRefusalsSpeakOfNoValue(t *testing.T) {
	large := (&TooLarge{What: "the list of secrets"}).Error()
	if !strings.HasPrefix(large, "the list of secrets is larger than this deployer reads") || !strings.Contains(large, "16 MiB") || !strings.Contains(large, "64 MiB") {
		t.Errorf("says %q", large)
	}
	if busy := (Busy{}).Error(); strings.ContainsAny(busy, "0123456789%") {
		t.Errorf("says %q", busy)
	}
}

// TestHolder: what answers cost beyond what is free is booked for the work that they are for, and given
// back with them.
func TestHolder(t *testing.T) {
	guard := memguard.New(math.MaxInt64/200, nil)
	ctx, done := guard.Begin(t.Context(), "work")
	defer done()
	_, loan, end := WithLoan(ctx, New(0))
	if err := loan.Grow(free + 5<<20); err != nil {
		t.Fatal(err)
	}
	if held := memguard.Of(ctx).Held(); held != 5<<20 {
		t.Errorf("the work holds %d bytes", held)
	}
	end()
	if held := memguard.Of(ctx).Held(); held != 0 {
		t.Errorf("the work holds %d bytes of an answer that is not needed any more", held)
	}
}
