package eval

import (
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// template is content that is evaluated where it is used.
type template struct {
	content value.Value // unevaluated content
	printed value.Value // as it stands in the document
	place   slot        // where it was defined
}

// templateMarker is a template marker found in an expression.
type templateMarker struct {
	body   syntax.Expr
	source string
}

// TypeName implements value.Value.
func (t *template) TypeName() string { return "template" }

// Plain implements value.Opaque.
func (t *template) Plain() value.Value { return t.printed }

// Same implements value.Opaque.
func (t *template) Same(other value.Opaque) bool {
	o, ok := other.(*template)
	return ok && (o == t || value.Identical(o.printed, t.printed))
}

// valueTemplate makes the template of a single value.
func (e *env) valueTemplate(m *templateMarker) (value.Value, error) {
	if m.body == nil {
		return nil, fail("empty template value")
	}
	t := &template{
		content: value.Text("((" + m.source + "))"),
		printed: value.Data("(( &template (" + m.source + ") ))"),
		place:   e.site.task.slot,
	}
	t.place.scope = e.scope
	return t, nil
}

func (e *env) instantiate(x *syntax.Instantiate) (value.Value, error) {
	v, err := e.whole(x.Operand)
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	t, ok := v.(*template)
	if !ok {
		return nil, fail("template value required, but %s is a %s", describe(x.Operand), v.TypeName())
	}
	return e.instance(t, describe(x.Operand))
}

// instance evaluates a copy of the template content at the current place.
func (e *env) instance(t *template, name string) (value.Value, error) {
	level := e.site.task.slot
	level.scope = e.scope.withSelf(t)
	level.override, level.inner, level.host, level.inDefault = false, false, nil, false
	v, err := e.content(t.content, level)
	if failed, ok := err.(*Failure); ok {
		return nil, &Failure{Issue: Issue{
			Message: "resolution of template '" + name + "' failed",
			Nested:  []Issue{failed.Issue},
		}}
	}
	return v, err
}

// instantiateAt evaluates a dynamic template at its node.
func (r *run) instantiateAt(n *value.Node, t *task, tmpl *template) (value.Value, error) {
	e := &env{run: r, doc: t.doc, scope: t.scope, site: &site{node: n, task: t}}
	return e.instance(tmpl, t.path.String())
}

// content evaluates unevaluated content as a document part of its own.
func (r *run) content(content value.Value, level slot) (value.Value, error) {
	if err := r.call(); err != nil {
		return nil, err
	}
	defer func() { r.calls-- }()
	if err := r.step(value.ShapeOf(content).Size / 4); err != nil {
		return nil, err
	}
	root := r.place(value.New(content), level)
	if root.Work == nil {
		return root.Value, nil
	}
	var v value.Value
	err := r.drive(root, func(n *value.Node) (err error) {
		v, err = r.deep(n)
		return err
	})
	if err == nil {
		return v, nil
	}
	return nil, r.contentError(root, level, err)
}

// contentError explains why content has no value: by its failed nodes, or by
// what it waits for.
func (r *run) contentError(root *value.Node, level slot, err error) error {
	if aborted(err) || again(err) {
		return err
	}
	if err := r.settleAll(root); err != nil {
		return err
	}
	failed := r.report(root)
	for _, f := range failed {
		if f.Class == Local {
			return &Failure{Issue: Issue{Message: f.Message, Nested: nestedIssues(failed, f)}}
		}
	}
	if len(failed) > 0 {
		return &Pending{Class: failed[0].Class, Issue: Issue{Message: failed[0].Message}}
	}
	return err
}

// nestedIssues lists the failed nodes of evaluated content.
func nestedIssues(nodes []Node, first Node) []Issue {
	if len(nodes) == 1 {
		return first.Nested
	}
	issues := make([]Issue, len(nodes))
	for i, n := range nodes {
		issues[i] = Issue{Message: n.Line(), Nested: n.Nested}
	}
	return issues
}
