package work

import (
	"context"
	"errors"

	"go.landscaper.dev/internal/content/template/spiff/eval/embedded"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/worklimit"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Run is one evaluation: what it costs, the expressions that it has read, and the
// results that it keeps.
type Run struct {
	*Config
	*worklimit.Meter
	*embedded.Parser
	Nodes
	cache map[string]cached
}

type cached struct {
	value value.Value
	err   error
}

// Nodes settles nodes. It is what the parts of an evaluation need of each other.
type Nodes interface {
	// Top settles the top level of a node: an expression has a value, a map has all
	// its fields, a list all its entries.
	Top(n *value.Node) (value.Value, error)
	// TryTop is top for a node whose value is not needed if it depends on one that is
	// being evaluated.
	TryTop(n *value.Node) (value.Value, error)
	// Deep settles a node with everything below it.
	Deep(n *value.Node) (value.Value, error)
	// DeepContent settles the content of a list or map and leaves the undefined nodes
	// out.
	DeepContent(v value.Value) (value.Value, error)
	// SettleAll evaluates everything below a node and continues after failures.
	SettleAll(n *value.Node) error
	// Place makes the working node for a piece of content.
	Place(raw *value.Node, s Slot) *value.Node
	// Content evaluates unevaluated content as a document part of its own.
	Content(content value.Value, level Slot) (value.Value, error)
	// Process evaluates a document completely.
	Process(d *Document, content *value.Node) (value.Value, error)
}

// NewRun begins an evaluation; what settles its nodes is set later.
func NewRun(ctx context.Context, config *Config) *Run {
	return &Run{
		Config: config,
		Meter:  worklimit.NewMeter(ctx, config.Limits),
		Parser: embedded.NewParser(config.Features[Interpolation]),
		cache:  map[string]cached{},
	}
}

// Feature reports whether an optional part of the language is on.
func (r *Run) Feature(f Feature) bool { return r.Features[f] }

// Show renders a value for a message, without content if it is sensitive.
func (r *Run) Show(v value.Value) string {
	if r.Settings.Sensitive {
		return "<" + value.TypeName(v) + ">"
	}
	if s, ok := v.(value.String); ok {
		return syntax.Short(syntax.Quote(s.Text[:min(len(s.Text), 4*syntax.MaxShown)]))
	}
	if value.ShapeOf(v).Size > syntax.MaxShown || value.IsOpen(v) {
		return "<" + value.TypeName(v) + ">"
	}
	return syntax.Short(scope.ValueText(v))
}

// Shown is a path in a message.
func (r *Run) Shown(p *place.Path) string { return p.Report(r.Settings.Sensitive) }

// ShownStub is a path in the stubs in a message. Key values of lists can come
// from bindings, so they are left out if these are sensitive.
func (r *Run) ShownStub(p *place.Path) string {
	if r.Settings.Sensitive {
		return p.Report(true)
	}
	return p.StubString()
}

// Keep keeps the result of a function for the rest of the evaluation.
func (r *Run) Keep(key string, make func() (value.Value, error)) (value.Value, error) {
	if c, ok := r.cache[key]; ok {
		return c.value, c.err
	}
	v, err := make()
	if _, pending := errors.AsType[*outcome.Pending](outcome.Clean(err)); !pending {
		r.cache[key] = cached{v, err}
	}
	return v, err
}
