// Package worklimit bounds what one rendering may cost: time, steps, texts, lists and
// memory.
package worklimit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/memlimit"
)

// Meter counts what one rendering costs and ends it at its limits.
type Meter struct {
	Limits Limits
	ctx    context.Context
	parent context.Context
	shared *memlimit.Account

	steps    int
	produced int64 // memory that was booked
	reserved int64 // memory that was taken from the budget of the process
}

// NewMeter makes the meter of a rendering that begins now. The budget of the process
// may be nil.
func NewMeter(ctx context.Context, limits Limits, shared *memlimit.Account) (*Meter, context.CancelFunc) {
	m := &Meter{Limits: limits.withDefaults(), parent: ctx, shared: shared}
	var cancel context.CancelFunc
	m.ctx, cancel = context.WithTimeout(ctx, m.Limits.Duration)
	return m, cancel
}

// Context ends with the time of the rendering.
func (m *Meter) Context() context.Context { return m.ctx }

// Step books one unit of work.
func (m *Meter) Step() error {
	if m.steps++; m.steps > m.Limits.Steps {
		return &failure.Refusal{Reason: fmt.Sprintf("the template takes more than %d steps", m.Limits.Steps)}
	}
	return m.CheckTime()
}

// Work books several units of work.
func (m *Meter) Work(units int64) error {
	m.steps += int(min(units, int64(m.Limits.Steps)))
	return m.Step()
}

// Elements checks the length of a list before it is made.
func (m *Meter) Elements(n int64) error {
	if n < 0 || n > m.Limits.List {
		return &failure.Refusal{Reason: fmt.Sprintf("the list would be longer than %d entries", m.Limits.List)}
	}
	return nil
}

// errTimeLimit is the reason for the end of a rendering that took too long.
var errTimeLimit = errors.New("time limit exceeded")

// CheckTime ends a rendering that was cancelled, takes too long, or is to give its
// memory back.
func (m *Meter) CheckTime() error {
	if m.shared != nil {
		if err := m.shared.Check(); err != nil {
			return &failure.Refusal{Reason: err.Error(), Cause: err}
		}
	}
	if m.ctx.Err() == nil {
		return nil
	}
	if err := m.parent.Err(); err != nil {
		return &failure.Refusal{Reason: "rendering was cancelled", Cause: context.Cause(m.parent)}
	}
	return &failure.Refusal{Reason: fmt.Sprintf("the template takes longer than %s", m.Limits.Duration.Round(time.Millisecond)), Cause: errTimeLimit}
}

// portion is what a rendering takes from the budget of the process at once.
const portion = 1 << 20

// Spend books memory for one text or list that a function makes.
func (m *Meter) Spend(bytes int64) error {
	if bytes > m.Limits.Text {
		return &failure.Refusal{Reason: fmt.Sprintf("the result would be longer than %d bytes", m.Limits.Text)}
	}
	return m.Keep(bytes)
}

// Keep books memory.
func (m *Meter) Keep(bytes int64) error {
	if m.produced += bytes; m.produced > m.Limits.Produced {
		return &failure.Refusal{Reason: fmt.Sprintf("the template makes more than %d bytes of texts and lists", m.Limits.Produced)}
	}
	if missing := m.produced - m.reserved; missing > 0 && m.shared != nil {
		wanted := (missing + portion - 1) / portion * portion
		if err := m.shared.Take(m.ctx, wanted); err != nil {
			return &failure.Refusal{Reason: err.Error(), Cause: err}
		}
		m.reserved += wanted
	}
	return nil
}

// Free gives back what was booked for a value that no longer exists. The budget of the process
// keeps it reserved for this rendering.
func (m *Meter) Free(bytes int64) { m.produced -= bytes }

// Deep is the memory of a value that did not exist before. It is counted up to a
// little more than may be booked.
func (m *Meter) Deep(value any) int64 { return memlimit.Deep(value, m.Limits.Produced) }

// While books memory during a call, and then what the call has made.
func (m *Meter) While(estimate int64, call func() (any, error)) (any, error) {
	if err := m.Keep(estimate); err != nil {
		return nil, err
	}
	result, err := call()
	m.Free(estimate)
	if err != nil {
		return nil, err
	}
	return result, m.Keep(m.Deep(result))
}
