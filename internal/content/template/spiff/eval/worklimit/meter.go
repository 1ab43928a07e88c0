// Package worklimit ends an evaluation that would not end by itself, with an error that names its
// place. What an evaluation takes of the machine is bounded by the process that it runs in.
package worklimit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
)

// Limits bound one evaluation; zero values mean the defaults.
type Limits struct {
	Depth int           // nested calls
	Steps int64         // evaluated expressions
	Time  time.Duration // wall time
}

// The defaults are generous for real templates.
const (
	depth = 10_000
	steps = 4_000_000
	limit = 30 * time.Second
)

// Meter counts the steps and the nested calls of one evaluation, and ends it at its limits.
type Meter struct {
	limits   Limits
	ctx      context.Context
	deadline time.Time
	steps    int64
	calls    int
}

// NewMeter makes the meter of an evaluation that begins now.
func NewMeter(ctx context.Context, limits Limits) *Meter {
	if limits.Depth <= 0 {
		limits.Depth = depth
	}
	if limits.Steps <= 0 {
		limits.Steps = steps
	}
	if limits.Time <= 0 {
		limits.Time = limit
	}
	return &Meter{limits: limits, ctx: ctx, deadline: time.Now().Add(limits.Time)}
}

// Context is that of the evaluation.
func (m *Meter) Context() context.Context { return m.ctx }

// checkEvery is the number of steps between two looks at the clock.
const checkEvery = 1024

// Step counts one step. Beyond the limit every further step fails.
func (m *Meter) Step() error {
	if m.steps++; m.steps%checkEvery == 0 {
		if err := m.CheckTime(); err != nil {
			return err
		}
	}
	if m.steps > m.limits.Steps {
		return outcome.Fail("evaluation takes more than %d steps", m.limits.Steps)
	}
	return nil
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

// EnterCall counts a nested call.
func (m *Meter) EnterCall() error {
	if m.calls >= m.limits.Depth {
		return outcome.Fail("calls are nested deeper than %d levels", m.limits.Depth)
	}
	m.calls++
	return m.Step()
}

// LeaveCall ends a nested call.
func (m *Meter) LeaveCall() { m.calls-- }

// NestedCalls is the number of calls that have not ended.
func (m *Meter) NestedCalls() int { return m.calls }
