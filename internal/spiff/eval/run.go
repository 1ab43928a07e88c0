package eval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// run is one evaluation: the counters of its limits and its caches.
type run struct {
	*Config
	ctx      context.Context
	deadline time.Time

	steps, bytes int64
	calls        int // nested calls, template instantiations and the like
	nesting      int // nodes being evaluated in the current drive
	stack        int // nodes being evaluated in all drives
	trying       int // evaluations that may be given up

	parsed map[string]parsed
	cache  map[string]cached
}

type parsed struct {
	expr syntax.Expr
	err  error
}

type cached struct {
	value value.Value
	err   error
}

func newRun(ctx context.Context, config *Config) *run {
	c := *config
	c.Limits = c.Limits.withDefaults()
	c.Settings.MaxText = c.Limits.Text
	c.Settings.MaxList = c.Limits.List
	return &run{
		Config:   &c,
		ctx:      ctx,
		deadline: time.Now().Add(c.Limits.Time),
		parsed:   map[string]parsed{},
		cache:    map[string]cached{},
	}
}

// checkEvery is the number of steps between two looks at the clock.
const checkEvery = 1024

// Limits of the recursion, in nodes being evaluated at the same time.
const (
	maxNesting = 500
	maxStack   = 20_000
)

// step books work. Beyond the limit every further step fails; the time limit
// and a cancelled context end the evaluation.
func (r *run) step(n int64) error {
	before := r.steps
	r.steps += n
	if before/checkEvery != r.steps/checkEvery {
		if err := r.checkTime(); err != nil {
			return err
		}
	}
	if r.steps > r.Limits.Steps {
		return fail("evaluation takes more than %d steps", r.Limits.Steps)
	}
	return nil
}

func (r *run) checkTime() error {
	if err := r.ctx.Err(); err != nil {
		return &Abort{Err: fmt.Errorf("evaluation was cancelled: %w", err)}
	}
	if time.Now().After(r.deadline) {
		return &Abort{Err: fmt.Errorf("evaluation takes longer than %s: %w", r.Limits.Time, ErrTimeLimit)}
	}
	return nil
}

// ErrTimeLimit is the reason of an Abort by the time limit.
var ErrTimeLimit = errors.New("time limit exceeded")

// text books a produced text.
func (r *run) text(n int) error {
	r.bytes += int64(n)
	switch {
	case int64(n) > r.Limits.Text:
		return fail("text is longer than %d bytes", r.Limits.Text)
	case r.bytes > r.Limits.Bytes:
		return fail("evaluation produces more than %d bytes of text", r.Limits.Bytes)
	}
	return r.step(1 + int64(n)/1024)
}

// elements books the elements of a list or map before it is made.
func (r *run) elements(n int) error {
	if int64(n) > r.Limits.List {
		return fail("list is longer than %d entries", r.Limits.List)
	}
	return r.step(1 + int64(n)/4)
}

// bounded checks the size of a finished value.
func (r *run) bounded(v value.Value) (value.Value, error) {
	shape := value.ShapeOf(v)
	switch {
	case shape.Size > r.Limits.Nodes:
		return nil, fail("value has more than %d nodes", r.Limits.Nodes)
	case shape.Bytes > r.Limits.Bytes:
		return nil, fail("value has more than %d bytes of text", r.Limits.Bytes)
	case shape.Depth > maxDepth:
		return nil, fail("value is nested deeper than %d levels", maxDepth)
	}
	return v, nil
}

// call counts a nested call.
func (r *run) call() error {
	if r.calls >= r.Limits.Depth {
		return fail("calls are nested deeper than %d levels", r.Limits.Depth)
	}
	r.calls++
	return r.step(1)
}

func (r *run) parse(text string) (syntax.Expr, error) {
	if p, ok := r.parsed[text]; ok {
		return p.expr, p.err
	}
	expr, err := syntax.Parse(text)
	r.parsed[text] = parsed{expr, err}
	return expr, err
}

func (r *run) feature(f Feature) bool { return r.Features[f] }
