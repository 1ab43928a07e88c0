package eval

import (
	"errors"

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

// Weight implements value.Opaque.
func (t *template) Weight() value.Shape {
	shape := value.ShapeOf(t.printed)
	shape.Active, shape.Open, shape.Marked = false, false, false
	return shape
}

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
		return nil, fail("template value required, but %s is %s", describe(x.Operand), value.A(v))
	}
	return e.instance(t, describe(x.Operand))
}

// instance evaluates a copy of the template content at the current place.
func (e *env) instance(t *template, name string) (value.Value, error) {
	level := e.site.task.slot
	level.scope = e.scope.withSelf(t)
	level.override, level.inner, level.host, level.inDefault = false, false, nil, false
	v, err := e.content(t.content, level)
	if failed, ok := errors.AsType[*Failure](err); ok {
		return nil, &Failure{Issue: Issue{
			Message: "resolution of template '" + name + "' failed",
			Nested:  nested(failed.Issue),
		}}
	}
	return v, err
}

// instantiateAt evaluates a dynamic template at its node.
func (r *run) instantiateAt(n *value.Node, t *task, tmpl *template) (value.Value, error) {
	e := &env{run: r, doc: t.doc, scope: t.scope, site: &site{node: n, task: t}}
	return e.instance(tmpl, r.shown(t.path))
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
	if level.doc.root == nil {
		level.doc.root = root
	}
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
	return nil, r.contentError(root, err)
}

// contentError explains why content has no value: by its failed nodes, or by
// what it waits for.
func (r *run) contentError(root *value.Node, err error) error {
	if aborted(err) || again(err) {
		return err
	}
	if err := r.settleAll(root); err != nil {
		return err
	}
	cause := r.cause(root)
	if cause == nil {
		return err
	}
	failed, ok := errors.AsType[*Failure](cause)
	if !ok || r.calls > maxTrace {
		return cause
	}
	return &Failure{Issue: Issue{
		Message: failed.Issue.Message,
		Nested:  nestedIssues(r.report(root), failed.Issue.Nested),
	}}
}

// cause finds the reason why a node has no value: a failure below it, or else
// what it waits for.
func (r *run) cause(n *value.Node) error {
	t, _ := n.Work.(*task)
	if t != nil && t.state == blocked {
		for _, insert := range t.inserts {
			if err := r.cause(insert); err != nil {
				return err
			}
		}
		return t.err
	}
	var items []*value.Node
	switch v := n.Value.(type) {
	case *value.List:
		items = v.Items
	case *value.Map:
		items = v.Items
	}
	if !value.IsOpen(n.Value) {
		return nil
	}
	var pending error
	for _, item := range items {
		err := r.cause(item)
		if err == nil {
			continue
		}
		if _, waits := errors.AsType[*Pending](err); !waits {
			return err
		}
		pending = err
	}
	return pending
}

// nestedIssues lists the failed nodes of evaluated content.
func nestedIssues(nodes []Node, first []Issue) []Issue {
	if len(nodes) == 1 {
		return first
	}
	issues := make([]Issue, 0, min(len(nodes), maxTrace))
	for _, n := range nodes[:min(len(nodes), maxTrace)] {
		issues = append(issues, Issue{Message: n.Line(), Nested: nested(n.Nested...)})
	}
	return issues
}

// nested puts issues one level deeper, as long as there are not too many.
func nested(issues ...Issue) []Issue {
	depth := 0
	for list := issues; len(list) > 0; list = list[0].Nested {
		depth++
	}
	if depth >= maxTrace {
		return []Issue{{Message: issues[0].Message}}
	}
	return issues
}
