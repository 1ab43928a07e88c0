package answerlimit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.landscaper.dev/internal/runtime/memguard"
)

const (
	// RequestTimeout limits each request to a cluster that is not a watch, so that a dead cluster
	// cannot block a worker.
	RequestTimeout = 30 * time.Second
	// MaxListed is how many objects a list may have: the whole list is held in memory.
	MaxListed = 20_000
	// MaxAnswer is how many bytes an answer may have, or one event of a watch. An API server stores
	// objects of at most 3 MiB; its discovery documents are shorter.
	MaxAnswer = 16 << 20
	// MaxAnswerCost is how many bytes of memory a decoded answer may take.
	MaxAnswerCost = 64 << 20
	// free is what each answer may cost without being booked: it is enough for almost all, so that
	// usual objects do not fail when large ones use up the budget.
	free = 1 << 20
	// defaultMemory is the budget of a process.
	defaultMemory = 256 << 20
)

// TooLarge says that the answer of a cluster exceeds a limit.
type TooLarge struct{ What string }

// Error implements error.
func (t *TooLarge) Error() string {
	return fmt.Sprintf("%s is larger than this deployer reads (%d MiB, or what takes more than %d MiB of memory)", t.What, MaxAnswer>>20, MaxAnswerCost>>20)
}

// Busy says that the budget of the process is used up.
type Busy struct{}

// Error implements error.
func (Busy) Error() string {
	return "too many large answers of clusters are in work at the same time"
}

// Budget is the memory that all connections of a process share.
type Budget struct {
	Limit int64
	// Each is what one list or one watch may keep of it.
	Each int64
	Used atomic.Int64
}

// New returns a budget of so many bytes, or of a default.
func New(limit int64) *Budget {
	if limit <= 0 {
		limit = defaultMemory
	}
	return &Budget{Limit: limit, Each: MaxStored}
}

// Take books memory for what is no answer, if there is enough.
func (b *Budget) Take(size int64) bool { return b.take(size) }

// Give returns what Take has booked.
func (b *Budget) Give(size int64) { b.give(size) }

// take books memory, if there is enough.
func (b *Budget) take(size int64) bool {
	if b.Used.Add(size) > b.Limit {
		b.Used.Add(-size)
		return false
	}
	return true
}

func (b *Budget) give(size int64) { b.Used.Add(-size) }

// Loan is the share of a budget that one piece of work has taken.
type Loan struct {
	Budget *Budget
	// Answered says that a cluster has sent an answer that is not a failure.
	Answered atomic.Bool

	// holder is the work that the answers are for.
	holder *memguard.Work

	mutex sync.Mutex
	// cost is what the work took so far, taken the booked part of it.
	cost, taken int64
	over        bool
}

// Grow books further cost; the free share is not booked.
func (l *Loan) Grow(size int64) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.over {
		return context.Canceled
	}
	if l.cost += size; l.cost > l.Budget.Each {
		return &TooLarge{What: "what it answers together"}
	}
	if wanted := max(0, l.cost-free) - l.taken; wanted > 0 {
		if !l.Budget.take(wanted) {
			return Busy{}
		}
		if err := l.holder.Book(wanted); err != nil {
			l.Budget.give(wanted)
			return Busy{}
		}
		l.taken += wanted
	}
	return nil
}

// Begin gives everything back, for the next answer.
//
// The next answer replaces the last one, which was stored or dropped.
func (l *Loan) Begin() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.give()
	l.cost = 0
}

// End gives everything back for good: an answer that is still being read must not book memory that
// is never returned.
func (l *Loan) End() {
	l.Begin()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.over = true
	l.give()
}

// give gives back what is booked.
func (l *Loan) give() {
	l.Budget.give(l.taken)
	l.holder.Release(l.taken)
	l.taken = 0
}

// loanKey is where a context has its loan.
type loanKey struct{}

// WithLoan returns a context whose requests book the cost of their answers; the loan ends when the
// work with the answers is done, not when they are read.
func WithLoan(ctx context.Context, budget *Budget) (with context.Context, l *Loan, end func()) {
	if l := LoanOf(ctx); l != nil {
		// The loan belongs to a larger piece of work, which ends it.
		return ctx, l, func() {}
	}
	l = &Loan{Budget: budget, holder: memguard.Of(ctx)}
	return context.WithValue(ctx, loanKey{}, l), l, l.End
}

// LoanOf returns the loan of a context, or nil.
func LoanOf(ctx context.Context) *Loan {
	l, _ := ctx.Value(loanKey{}).(*Loan)
	return l
}

// CostOf returns what the requests of a context have cost so far.
func CostOf(ctx context.Context) int64 {
	if l := LoanOf(ctx); l != nil {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		return l.cost
	}
	return 0
}
