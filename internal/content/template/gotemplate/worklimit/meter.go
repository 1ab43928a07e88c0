// Package worklimit ends a rendering that would not end by itself, with an error that names its
// place. What a rendering takes of the machine is bounded by the process that it runs in.
package worklimit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
)

// Limits bound one rendering; zero values mean the defaults.
type Limits struct {
	// Duration is the time after which it ends.
	Duration time.Duration
	// Steps are calls of functions, rounds of loops and prints.
	Steps int
}

// The defaults are generous for real blueprints.
const (
	duration = 30 * time.Second
	steps    = 10_000_000
)

// Meter counts the steps of one rendering, and ends it at its limits.
type Meter struct {
	limits      Limits
	ctx, parent context.Context
	steps       int
}

// NewMeter makes the meter of a rendering that begins now.
func NewMeter(ctx context.Context, limits Limits) (*Meter, context.CancelFunc) {
	if limits.Duration <= 0 {
		limits.Duration = duration
	}
	if limits.Steps <= 0 {
		limits.Steps = steps
	}
	m := &Meter{limits: limits, parent: ctx}
	var cancel context.CancelFunc
	m.ctx, cancel = context.WithTimeout(ctx, limits.Duration)
	return m, cancel
}

// Context ends with the time of the rendering.
func (m *Meter) Context() context.Context { return m.ctx }

// Step counts one step.
func (m *Meter) Step() error {
	if m.steps++; m.steps > m.limits.Steps {
		return &failure.Refusal{Reason: fmt.Sprintf("the template takes more than %d steps", m.limits.Steps)}
	}
	return m.CheckTime()
}

// errTimeLimit is the reason for the end of a rendering that took too long.
var errTimeLimit = errors.New("time limit exceeded")

// CheckTime ends a rendering that was cancelled or takes too long.
func (m *Meter) CheckTime() error {
	if m.ctx.Err() == nil {
		return nil
	}
	if err := m.parent.Err(); err != nil {
		return &failure.Refusal{Reason: "rendering was cancelled", Cause: context.Cause(m.parent)}
	}
	return &failure.Refusal{Reason: fmt.Sprintf("the template takes longer than %s", m.limits.Duration.Round(time.Millisecond)), Cause: errTimeLimit}
}
