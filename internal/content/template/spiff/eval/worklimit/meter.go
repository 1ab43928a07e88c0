package worklimit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Meter counts what one evaluation has cost and ends it at its limits.
type Meter struct {
	limits   Limits
	ctx      context.Context
	deadline time.Time
	shared   func(ctx context.Context, bytes int64) error

	steps, bytes int64
	made, taken  int64 // memory that was booked, and that was taken from what is shared
	calls        int   // nested calls, template instantiations and the like
}

// NewMeter makes the meter of an evaluation that begins now.
func NewMeter(ctx context.Context, limits Limits, shared func(ctx context.Context, bytes int64) error) *Meter {
	return &Meter{limits: limits, ctx: ctx, deadline: time.Now().Add(limits.Time), shared: shared}
}

// Context is that of the evaluation.
func (m *Meter) Context() context.Context { return m.ctx }

// checkEvery is the number of steps between two looks at the clock.
const checkEvery = 1024

// Step books work. Beyond the limit every further step fails; the time limit
// and a cancelled context end the evaluation.
func (m *Meter) Step(n int64) error {
	before := m.steps
	if n < 0 || n > math.MaxInt64-before {
		// A cost that is computed from what a template says can leave the numbers. It
		// must not give steps back.
		n = math.MaxInt64 - before
	}
	m.steps += n
	if before/checkEvery != m.steps/checkEvery {
		if err := m.CheckTime(); err != nil {
			return err
		}
	}
	if m.steps > m.limits.Steps {
		return outcome.Fail("evaluation takes more than %d steps", m.limits.Steps)
	}
	return m.memory(n * stepMemory)
}

// The memory of a node of a value with a number or a short text, of a place in a list or map for an
// existing node, and of what a step leaves behind on average.
const (
	nodeMemory  = 160
	placeMemory = 32
	stepMemory  = 24
	// portion is what an evaluation takes from the shared memory at once.
	portion = 1 << 20
)

// memory books memory.
func (m *Meter) memory(bytes int64) error {
	if m.made += bytes; m.made > m.limits.Memory {
		return outcome.Fail("evaluation makes more than %d bytes of values", m.limits.Memory)
	}
	if missing := m.made - m.taken; missing > 0 && m.shared != nil {
		wanted := (missing + portion - 1) / portion * portion
		if err := m.shared(m.ctx, wanted); err != nil {
			return &outcome.Abort{Err: err}
		}
		m.taken += wanted
	}
	return nil
}

// Result books a value that a function made of others: all of it costs a place, and
// what is more than the others had is new.
func (m *Meter) Result(v value.Value, args []value.Value) error {
	shape := value.ShapeOf(v)
	nodes, bytes := shape.Size, shape.Bytes
	for _, arg := range args {
		given := value.ShapeOf(arg)
		nodes, bytes = nodes-given.Size, bytes-given.Bytes
	}
	return m.memory(min(shape.Size, m.limits.Nodes+1)*placeMemory + max(0, min(nodes, m.limits.Nodes+1))*nodeMemory + max(0, min(bytes, m.limits.Bytes+1)))
}

// CheckTime ends an evaluation that was cancelled or takes too long.
func (m *Meter) CheckTime() error {
	if err := m.ctx.Err(); err != nil {
		return &outcome.Abort{Err: fmt.Errorf("evaluation was cancelled: %w", err)}
	}
	if time.Now().After(m.deadline) {
		return &outcome.Abort{Err: fmt.Errorf("evaluation takes longer than %s: %w", m.limits.Time, ErrTimeLimit)}
	}
	return nil
}

// ErrTimeLimit is the reason of an Abort by the time limit.
var ErrTimeLimit = errors.New("time limit exceeded")

// Text books a produced text.
func (m *Meter) Text(n int) error {
	m.bytes += int64(n)
	switch {
	case int64(n) > m.limits.Text:
		return outcome.Fail("text is longer than %d bytes", m.limits.Text)
	case m.bytes > m.limits.Bytes:
		return outcome.Fail("evaluation produces more than %d bytes of text", m.limits.Bytes)
	}
	if err := m.memory(int64(n)); err != nil {
		return err
	}
	return m.Step(1 + int64(n)/1024)
}

// Elements books the elements of a list or map before it is made.
func (m *Meter) Elements(n int) error {
	if int64(n) > m.limits.List {
		return outcome.Fail("list is longer than %d entries", m.limits.List)
	}
	if err := m.memory(int64(n) * nodeMemory / 2); err != nil {
		return err
	}
	return m.Step(1 + int64(n)/4)
}

// Bounded checks the size of a finished value.
func (m *Meter) Bounded(v value.Value) (value.Value, error) {
	shape := value.ShapeOf(v)
	switch {
	case shape.Size > m.limits.Nodes:
		return nil, outcome.Fail("value has more than %d nodes", m.limits.Nodes)
	case shape.Bytes > m.limits.Bytes:
		return nil, outcome.Fail("value has more than %d bytes of text", m.limits.Bytes)
	case shape.Depth > maxDepth:
		return nil, outcome.Fail("value is nested deeper than %d levels", maxDepth)
	}
	return v, nil
}

// EnterCall counts a nested call.
func (m *Meter) EnterCall() error {
	if m.calls >= m.limits.Depth {
		return outcome.Fail("calls are nested deeper than %d levels", m.limits.Depth)
	}
	m.calls++
	return m.Step(1)
}

// Handled books the handling of a long text, which costs time on every use.
func (m *Meter) Handled(v value.Value) error {
	if s, ok := v.(value.String); ok && len(s.Text) > longText {
		return m.Step(int64(len(s.Text)) / 1024)
	}
	return nil
}

const longText = 4096

// LeaveCall ends a nested call.
func (m *Meter) LeaveCall() { m.calls-- }

// NestedCalls is the number of calls that have not ended.
func (m *Meter) NestedCalls() int { return m.calls }
