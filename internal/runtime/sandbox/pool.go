package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.landscaper.dev/internal/runtime/job"
)

const (
	// maxMessage bounds one message, and so what a work may give back.
	maxMessage = 64 << 20
	// maxQuestions is how often one work may ask.
	maxQuestions = 5_000
	// maxWorks is how often a process is used again.
	maxWorks = 500
	// idleTime is how long a process waits for the next work of its tenant.
	idleTime = time.Minute
	// lendAfter is how long a work keeps its slot while it waits for an answer.
	lendAfter = 20 * time.Millisecond
	// besidePerSlot is how many works there are beside each slot: they wait for an answer, or for
	// their slot afterwards. Each holds little memory.
	besidePerSlot = 2
)

// Options of a pool.
type Options struct {
	// Command starts a process; the bound of its memory is added as the last argument.
	Command []string
	// Slots is how many works run at the same time; a tenant has at most half of them.
	Slots int
	// Memory is what one work may take.
	Memory uint64
	// Timeout is how long one work may compute.
	Timeout time.Duration
	// Spare is how many processes wait for a tenant that has none, and Idle how many wait for
	// the next work of theirs: with too few, each work of many tenants starts its process.
	Spare, Idle int
}

// Work is one piece of work.
type Work struct {
	// Tenant is who it is for, usually a namespace.
	Tenant string
	// Name is that of the operation, and Title how errors call the work; a part of it that the
	// work was at stands behind it, see At.
	Name, Title string
	// Encode makes the input when the work begins: works that wait hold none. A work may begin
	// several times, and ask again what it has asked.
	Encode func() ([]byte, error)
	// Answer answers what the work asks. Nil answers nothing.
	Answer func(question []byte) ([]byte, error)

	// input is there until the process has taken it.
	input []byte
}

// Pool carries out works in processes. It can be used by any number of goroutines.
//
// The mutex guards everything below it.
type Pool struct {
	options Options

	mu sync.Mutex
	// idle are processes without work, the one that was used last at the end. Those without
	// a tenant are new.
	idle []*process
	// held are the works that have a slot, in the order in which they got it, and busy counts those
	// of each tenant. Waiting are those that wait for one. Beside and allBeside count those that have
	// given it up while they wait for an answer.
	held, waiting []*slot
	busy, beside  map[string]int
	allBeside     int
	// used is how much each tenant has had.
	used map[string]use
	// starting is how many spare processes are being started.
	starting int
	closed   bool
}

// Lazy returns a pool that starts its first process for its first work.
func Lazy(options Options) *Pool {
	return &Pool{options: options, busy: map[string]int{}, beside: map[string]int{}, used: map[string]use{}}
}

// New returns a pool. Its first process is started, which shows that it can be, and how it is
// confined.
func New(options Options) (pool *Pool, how string, err error) {
	p := Lazy(options)
	first, err := start(options.Command, options.Memory)
	if err != nil {
		return nil, "", err
	}
	p.keep(first)
	return p, first.how, nil
}

// Close ends all processes that wait for work.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, one := range idle {
		one.end()
	}
}

// Do carries out a work and returns what its handler returned. An error of the handler is its
// text. When the context ends, the process does too.
func (p *Pool) Do(ctx context.Context, w Work) ([]byte, error) {
	if share, ok := ctx.Value(shareKey{}).(*Share); ok {
		if err := share.enter(ctx); err != nil {
			return nil, err
		}
		defer share.leave()
	}
	long, quickOnly := ctx.Value(quickKey{}).(*bool)
	s := &slot{pool: p, tenant: w.Tenant, quickOnly: quickOnly}
	for {
		body, err := p.attempt(ctx, s, &w)
		switch {
		case !errors.Is(err, errEvicted):
			return body, err
		case quickOnly:
			*long = true
			return nil, errLong
		}
	}
}

// attempt carries out a work when there is a slot for it.
func (p *Pool) attempt(ctx context.Context, s *slot, w *Work) ([]byte, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	var err error
	if w.input, err = w.Encode(); err != nil {
		return nil, err // the caller says what cannot be encoded
	}
	one, waited, err := p.take(w.Tenant)
	if err != nil {
		return nil, err
	}
	body, err := p.carryOut(ctx, s, one, w)
	if _, lost := errors.AsType[*EndedError](err); !lost || !waited || one.taken {
		return body, err
	}
	// It had ended while it waited: the work was not begun.
	if one, err = start(p.options.Command, p.options.Memory); err != nil {
		return nil, err
	}
	return p.carryOut(ctx, s, one, w)
}

// errEvicted: the work has to begin again.
var errEvicted = errors.New("others need little time")

// carryOut carries out a work in a process, which is kept or ended.
func (p *Pool) carryOut(ctx context.Context, s *slot, one *process, w *Work) ([]byte, error) {
	one.tenant, one.taken, one.at = w.Tenant, false, ""
	one.works++
	clock := &clock{left: p.options.Timeout, kill: one.kill, quick: p.quick(w.Tenant), age: s.age}
	stop := context.AfterFunc(ctx, one.kill)
	s.begin(one.kill)
	if s.quickOnly {
		defer time.AfterFunc(quickTime, s.end).Stop()
	}
	clock.start()
	m, err := one.run(w, clock, func(memory uint64) (back func() error) { return s.lend(ctx, memory) })
	clock.stop()
	evicted := s.finish()
	undisturbed := stop() && !evicted
	if err != nil {
		if err = p.failed(ctx, one, w, clock, err); evicted && ctx.Err() == nil && !clock.fired.Load() {
			return nil, errEvicted
		}
		return nil, err
	}
	if m.Kind == broken {
		one.end()
		job.Panics.Inc()
		return nil, &job.Panic{Problem: m.Detail, Stack: string(m.Body)}
	}
	if undisturbed && !clock.fired.Load() && one.works < maxWorks && m.Memory < kept(p.options.Memory) {
		p.keep(one)
	} else {
		one.end()
	}
	if m.Failed {
		return nil, errors.New(string(m.Body))
	}
	return m.Body, nil
}

// failed ends a process and says why it failed.
func (p *Pool) failed(ctx context.Context, one *process, w *Work, clock *clock, err error) error {
	one.end()
	words, state, title := one.words.String(), one.command.ProcessState, w.Title
	if one.at != "" {
		title += ": " + one.at
	}
	switch {
	case job.IsPanic(err):
		return err // of the server itself, in an answer
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", title, context.Cause(ctx))
	case clock.fired.Load(), outOfTime(state):
		return &ExceededError{title, timeLimit(p.options.Timeout)}
	case strings.Contains(words, "out of memory"), strings.Contains(words, "cannot allocate memory"), strings.Contains(words, "failed to reserve"):
		return &ExceededError{title, memoryLimit(p.options.Memory)}
	case strings.Contains(words, "stack overflow"), strings.Contains(words, "stack exceeds"):
		return &ExceededError{title, fmt.Sprintf("%d MiB of stack", maxStack>>20)}
	case errors.Is(err, errTooLong):
		return &ExceededError{title, fmt.Sprintf("%d MiB of input or results", maxMessage>>20)}
	case errors.Is(err, errTooManyValues):
		return &ExceededError{title, fmt.Sprintf("%d values of a question or of results", maxValues)}
	case errors.Is(err, errTooMany):
		return &ExceededError{title, fmt.Sprintf("%d questions", maxQuestions)}
	}
	return &EndedError{title, state.String()}
}

// take returns a process that has worked for the tenant, or a new one, and whether it waited.
func (p *Pool) take(tenant string) (one *process, waited bool, err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, false, errClosed
	}
	found := -1
	for i, one := range p.idle {
		if one.tenant == tenant || one.tenant == "" && (found < 0 || p.idle[found].tenant == "") {
			found = i
		}
	}
	if found >= 0 {
		one = p.idle[found]
		p.idle = slices.Delete(p.idle, found, found+1)
	}
	p.replenish()
	p.mu.Unlock()
	if one != nil && (one.idle == nil || one.idle.Stop()) {
		return one, true, nil
	}
	one, err = start(p.options.Command, p.options.Memory)
	return one, false, err
}

// replenish starts spare processes, outside of the caller.
func (p *Pool) replenish() {
	spare := p.starting
	for _, one := range p.idle {
		if one.tenant == "" {
			spare++
		}
	}
	for ; spare < p.options.Spare; spare++ {
		p.starting++
		go func() {
			one, err := start(p.options.Command, p.options.Memory)
			p.mu.Lock()
			p.starting--
			p.mu.Unlock()
			if err == nil { // else the next work starts its own, and reports the error
				p.keep(one)
			}
		}()
	}
}

// keep lets a process wait for its next work. Of too many, the one that was used longest ago ends.
func (p *Pool) keep(one *process) {
	p.mu.Lock()
	p.idle = append(p.idle, one)
	if one.tenant != "" {
		one.idle = time.AfterFunc(idleTime, func() { p.expire(one) })
	}
	surplus := p.surplus()
	p.mu.Unlock()
	for _, one := range surplus {
		one.end()
	}
}

// surplus removes processes that are too many: those that were used longest ago, and all when the
// pool is closed.
func (p *Pool) surplus() []*process {
	var ended []*process
	most := p.options.Idle + p.options.Spare
	p.idle = slices.DeleteFunc(p.idle, func(one *process) bool {
		if !p.closed && (one.tenant == "" || len(p.idle)-len(ended) <= most) {
			return false
		}
		if one.idle == nil || one.idle.Stop() {
			ended = append(ended, one)
		}
		return true
	})
	return ended
}

// expire ends a process that was not needed for a while.
func (p *Pool) expire(one *process) {
	p.mu.Lock()
	if i := slices.Index(p.idle, one); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	p.mu.Unlock()
	one.end()
}
