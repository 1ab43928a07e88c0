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
	made, taken  int64 // memory that was booked, and that was taken from what is shared
	calls        int   // nested calls, template instantiations and the like
	nesting      int   // nodes being evaluated in the current drive
	stack        int   // nodes being evaluated in all drives
	trying       int   // evaluations that may be given up

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
	return r.memory(n * stepMemory)
}

// What is made: a node of a value with a number or a short text, a place in a list
// or map for one that exists, and what a step leaves behind on average.
const (
	nodeMemory  = 160
	placeMemory = 32
	stepMemory  = 24
	// portion is what an evaluation takes from the shared memory at once.
	portion = 1 << 20
)

// memory books memory.
func (r *run) memory(bytes int64) error {
	if r.made += bytes; r.made > r.Limits.Memory {
		return fail("evaluation makes more than %d bytes of values", r.Limits.Memory)
	}
	if missing := r.made - r.taken; missing > 0 && r.Memory != nil {
		wanted := (missing + portion - 1) / portion * portion
		if err := r.Memory(r.ctx, wanted); err != nil {
			return &Abort{Err: err}
		}
		r.taken += wanted
	}
	return nil
}

// result books a value that a function made of others: all of it costs a place, and
// what is more than the others had is new.
func (r *run) result(v value.Value, args []value.Value) error {
	shape := value.ShapeOf(v)
	nodes, bytes := shape.Size, shape.Bytes
	for _, arg := range args {
		given := value.ShapeOf(arg)
		nodes, bytes = nodes-given.Size, bytes-given.Bytes
	}
	return r.memory(min(shape.Size, r.Limits.Nodes+1)*placeMemory + max(0, min(nodes, r.Limits.Nodes+1))*nodeMemory + max(0, min(bytes, r.Limits.Bytes+1)))
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
	if err := r.memory(int64(n)); err != nil {
		return err
	}
	return r.step(1 + int64(n)/1024)
}

// elements books the elements of a list or map before it is made.
func (r *run) elements(n int) error {
	if int64(n) > r.Limits.List {
		return fail("list is longer than %d entries", r.Limits.List)
	}
	if err := r.memory(int64(n) * nodeMemory / 2); err != nil {
		return err
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
