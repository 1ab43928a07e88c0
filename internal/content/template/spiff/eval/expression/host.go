package expression

import (
	"context"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// host is what builtin functions see of the evaluation.
type host struct{ *Env }

// AsHost is what builtin functions see of this place.
func (e *Env) AsHost() call.Host { return host{e} }

// Context implements call.Host.
func (h host) Context() context.Context { return h.Meter.Context() }

// Settings implements call.Host.
func (h host) Settings() *call.Settings { return &h.Config.Settings }

// Invoke implements call.Host.
func (h host) Invoke(fn value.Value, args ...value.Value) (value.Value, error) {
	l, ok := fn.(*scope.Lambda)
	if !ok {
		return nil, outcome.Fail("a lambda is needed, not %s", value.A(fn))
	}
	return h.Apply(l, value.Nodes(args...))
}

// Arity implements call.Host.
func (h host) Arity(fn value.Value) (smallest, largest int, ok bool) {
	l, ok := fn.(*scope.Lambda)
	if !ok {
		return 0, 0, false
	}
	smallest, largest = l.Arity()
	return smallest, largest, true
}

// Template implements call.Host.
func (h host) Template(content *value.Node) (value.Value, error) {
	return &scope.Template{Content: content.Value, Printed: printedTemplate(content.Value), Place: h.Scope}, nil
}

// printedTemplate shows unevaluated content with a template marker.
func printedTemplate(content value.Value) value.Value {
	const key, marker = "<<<", "(( &template ))"
	switch v := content.(type) {
	case *value.Map:
		b := value.NewBuilder(v.Len() + 1)
		b.AddAll(v)
		b.SetValue(key, value.Data(marker))
		return b.Map()
	case *value.List:
		first := value.New(value.MapOf(key, value.Data(marker)))
		return value.NewList(append([]*value.Node{first}, v.Items...))
	}
	return content
}

// Process implements call.Host.
func (h host) Process(content *value.Node, own bool) (value.Value, error) {
	level := h.Site.Task.Slot
	level.Scope = h.Scope
	level.Override, level.Inner, level.Host = false, false, nil
	if own {
		doc := *h.Doc
		level.Doc = &doc
		doc.Root, doc.RootLevel = nil, nil
		doc.Tags = work.NewTagTable(doc.Tags.Global)
	}
	return h.Content(content.Value, level)
}

// Cached implements call.Host.
func (h host) Cached(key string, make func() (value.Value, error)) (value.Value, error) {
	return h.Keep(key, make)
}
