package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	// maxAnswer is how many bytes an answer may have, or one event of a watch. An API
	// server stores objects of at most 3 MiB; what it says about its kinds is shorter.
	maxAnswer = 16 << 20
	// maxAnswerCost is how much memory it may take to hold what an answer says.
	maxAnswerCost = 64 << 20
	// maxFailure is how many bytes of an answer about a failure are read.
	maxFailure = 64 << 10
	// free is what each answer may cost without being booked: it is enough for almost
	// all, so that nobody with usual objects feels it when others use up the budget.
	free = 1 << 20
	// defaultMemory is the budget of a process.
	defaultMemory = 256 << 20
)

// tooLarge says that a cluster sends more than anybody needs.
type tooLarge struct{ what string }

// Error implements error.
func (t *tooLarge) Error() string {
	return fmt.Sprintf("%s is larger than this deployer reads (%d MiB, or what takes more than %d MiB of memory)", t.what, maxAnswer>>20, maxAnswerCost>>20)
}

// busy says that the budget of the process is used up.
type busy struct{}

// Error implements error.
func (busy) Error() string {
	return "too many large answers of clusters are in work at the same time"
}

// budget is the memory that all connections of a process share.
type budget struct {
	limit int64
	// each is what one list or one watch may keep of it.
	each int64
	used atomic.Int64
}

func newBudget(limit int64) *budget {
	if limit <= 0 {
		limit = defaultMemory
	}
	return &budget{limit: limit, each: maxStored}
}

// take books memory, if there is enough.
func (b *budget) take(size int64) bool {
	if b.used.Add(size) > b.limit {
		b.used.Add(-size)
		return false
	}
	return true
}

func (b *budget) give(size int64) { b.used.Add(-size) }

// loan is what one piece of work has taken from a budget.
type loan struct {
	budget *budget
	// answered says that a cluster has sent an answer that is no failure.
	answered atomic.Bool

	mutex sync.Mutex
	// cost is what the work took so far, taken what of it is booked.
	cost, taken int64
	over        bool
}

// grow books further cost; what is below the free share is not booked.
func (l *loan) grow(size int64) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.over {
		return context.Canceled
	}
	if l.cost += size; l.cost > l.budget.each {
		return &tooLarge{"what it answers together"}
	}
	if wanted := max(0, l.cost-free) - l.taken; wanted > 0 {
		if !l.budget.take(wanted) {
			return busy{}
		}
		l.taken += wanted
	}
	return nil
}

// begin gives everything back, for the next answer.
func (l *loan) begin() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.budget.give(l.taken)
	l.cost, l.taken = 0, 0
}

// end gives everything back for good: an answer that is still being read must not
// book what nobody would give back.
func (l *loan) end() {
	l.begin()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.over = true
	l.budget.give(l.taken)
	l.taken = 0
}

type loanKey struct{}

// withLoan returns a context whose requests book what their answers cost; it is
// given back when the work with the answers is done, not when they are read.
func withLoan(ctx context.Context, budget *budget) (with context.Context, l *loan, end func()) {
	if l, ok := ctx.Value(loanKey{}).(*loan); ok {
		// It is a part of some larger work, which ends it.
		return ctx, l, func() {}
	}
	l = &loan{budget: budget}
	return context.WithValue(ctx, loanKey{}, l), l, l.end
}

// costOf returns what the requests of a context have cost so far.
func costOf(ctx context.Context) int64 {
	if l, ok := ctx.Value(loanKey{}).(*loan); ok {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		return l.cost
	}
	return 0
}
