package eval

import (
	"context"
	"errors"

	"go.landscaper.dev/internal/spiff/builtin/call"
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// host is what builtin functions see of the evaluation.
type host struct{ *env }

// Context implements call.Host.
func (h host) Context() context.Context { return h.ctx }

// Settings implements call.Host.
func (h host) Settings() *call.Settings { return &h.Config.Settings }

// Invoke implements call.Host.
func (h host) Invoke(fn value.Value, args ...value.Value) (value.Value, error) {
	l, ok := fn.(*lambda)
	if !ok {
		return nil, fail("a lambda is needed, not %s", value.A(fn))
	}
	return h.apply1(l, value.Nodes(args...))
}

// Arity implements call.Host.
func (h host) Arity(fn value.Value) (smallest, largest int, ok bool) {
	l, ok := fn.(*lambda)
	if !ok {
		return 0, 0, false
	}
	smallest, largest = l.arity()
	return smallest, largest, true
}

// Spend implements call.Host.
func (h host) Spend(steps, bytes int64) error {
	if bytes > 0 {
		if err := h.run.text(int(bytes)); err != nil {
			return err
		}
	}
	return h.step(steps)
}

// Show implements call.Host.
func (e *env) Show(v value.Value) string {
	if e.Settings.Sensitive {
		return "<" + value.TypeName(v) + ">"
	}
	switch v := v.(type) {
	case nil, value.Undefined, *view:
		return "<" + value.TypeName(v) + ">"
	case *template:
		return "<template>"
	case value.String:
		return short(syntax.Quote(v.Text[:min(len(v.Text), 4*maxShown)]))
	}
	if value.ShapeOf(v).Size > maxShown || value.IsOpen(v) {
		return "<" + value.TypeName(v) + ">"
	}
	return short(valueText(v))
}

// Template implements call.Host.
func (h host) Template(content *value.Node) (value.Value, error) {
	level := h.site.task.slot
	level.scope = h.scope
	return &template{content: content.Value, printed: printedTemplate(content.Value), place: level}, nil
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
	level := h.site.task.slot
	level.scope = h.scope
	level.override, level.inner, level.host = false, false, nil
	if own {
		doc := *h.doc
		level.doc = &doc
		doc.root, doc.rootLevel = nil, nil
		return h.run.ownDocument(content, level)
	}
	return h.run.content(content.Value, level)
}

// Cached implements call.Host.
func (h host) Cached(key string, make func() (value.Value, error)) (value.Value, error) {
	if c, ok := h.cache[key]; ok {
		return c.value, c.err
	}
	v, err := make()
	if _, pending := errors.AsType[*Pending](clean(err)); !pending {
		h.cache[key] = cached{v, err}
	}
	return v, err
}
