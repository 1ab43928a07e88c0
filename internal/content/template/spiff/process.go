package spiff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/eval/worklimit"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

// Input is what templates are merged with.
type Input struct {
	// Stubs in order; later ones have precedence.
	Stubs []Document
	// State is the state document of an earlier run, nil without one.
	State *Document
	// Bindings are named values from outside. Texts in them are data.
	Bindings map[string]any
}

// Options change what is left in the result.
type Options struct {
	Partial           bool // unresolved nodes stay as their text
	PreserveEscapes   bool
	PreserveTemporary bool
}

// Prepared are processed stubs, state and bindings, ready for any number of
// templates.
type Prepared struct {
	engine   *Engine
	stubs    *eval.Prepared
	bindings value.Value
}

// Prepare processes the stubs.
func (e *Engine) Prepare(ctx context.Context, in Input) (*Prepared, error) {
	p := &Prepared{engine: e}
	if len(in.Bindings) > 0 {
		bindings, err := yamlio.FromGo(in.Bindings, true)
		if err != nil {
			return nil, fmt.Errorf("bindings: %w", err)
		}
		p.bindings = bindings
	}
	stubs := make([]eval.Input, 0, len(in.Stubs)+1)
	for _, s := range in.Stubs {
		stubs = append(stubs, s.input())
	}
	if in.State != nil && !in.State.empty() {
		state := in.State.input()
		state.Content = value.New(value.MarkData(state.Content.Value))
		stubs = append(stubs, state)
	}
	var err error
	p.stubs, err = eval.Prepare(ctx, &e.config, stubs, p.bindings, e.tags)
	return p, report(err)
}

// Stream processes template documents one after the other. Tags of earlier
// documents are visible in later ones.
type Stream struct {
	engine *Engine
	stream *eval.Stream
	opts   Options
}

// Stream starts a stream.
func (p *Prepared) Stream(opts Options) *Stream {
	return &Stream{
		engine: p.engine, opts: opts,
		stream: eval.NewStream(&p.engine.config, p.stubs, p.bindings),
	}
}

// Process evaluates the next document of the stream.
func (s *Stream) Process(ctx context.Context, doc Document) (*Result, error) {
	r, err := s.stream.Process(ctx, doc.input(), s.opts.Partial)
	if err != nil {
		return nil, report(err)
	}
	out := eval.Output{
		KeepTemporary: s.opts.PreserveTemporary,
		KeepEscapes:   s.opts.PreserveEscapes,
		Interpolation: s.engine.config.Features[work.Interpolation],
	}
	return &Result{
		value:     out.Finish(r.Value),
		state:     out.State(r.Value),
		Temporary: r.Root.Any(value.Temporary | value.Local),
	}, nil
}

// Process evaluates a single template document.
func (e *Engine) Process(ctx context.Context, template Document, in Input, opts Options) (*Result, error) {
	p, err := e.Prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	return p.Stream(opts).Process(ctx, template)
}

// Result is a processed document.
type Result struct {
	value value.Value
	state *value.Map
	// Temporary is set for documents that are left out of printed output.
	Temporary bool
}

// Data returns the result as plain Go data. Lambdas and templates are text, an
// undefined result is nil.
func (r *Result) Data() any { return yamlio.ToGo(r.value) }

// State returns the new state document; it is empty if the template has none.
func (r *Result) State() map[string]any {
	state, _ := yamlio.ToGo(r.state).(map[string]any)
	return state
}

// WriteState writes the state document as YAML.
func (r *Result) WriteState(w io.Writer) error { return yamlio.WriteYAML(w, r.state) }

// WriteYAML writes the result as YAML.
func (r *Result) WriteYAML(w io.Writer) error { return yamlio.WriteYAML(w, r.value) }

// WriteJSON writes the result as one line of JSON.
func (r *Result) WriteJSON(w io.Writer) error { return yamlio.WriteJSON(w, r.value) }

// YAML returns the result as YAML text.
func (r *Result) YAML() (string, error) {
	var b strings.Builder
	err := r.WriteYAML(&b)
	return b.String(), err
}

// Error is the report of a failed evaluation: every node without a value.
type Error = outcome.Errors

// Node is one entry of the report.
type Node = outcome.Node

// Issue is a reason below a node of the report.
type Issue = outcome.Issue

// The classes of failed nodes.
const (
	Failed   = outcome.Local
	Waiting  = outcome.Waiting
	Follower = outcome.Follower
)

// ErrTimeLimit is in the chain of the error if the time limit was exceeded.
var ErrTimeLimit = worklimit.ErrTimeLimit

// ErrInternal is in the chain of an error that a defect of the engine caused.
var ErrInternal = eval.ErrInternal

// report gives callers an *Error, or the reason of an abort.
func report(err error) error {
	var abort *outcome.Abort
	if errors.As(err, &abort) {
		return abort.Err
	}
	return err
}
