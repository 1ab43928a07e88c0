package settle

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/embedded"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// maxReevaluations bounds how often a result is an expression again.
const maxReevaluations = 100

// settleExpression evaluates the expression of a node.
func (r *Runner) settleExpression(n *value.Node, t *work.Task) error {
	t.Info = &work.Info{}
	v, err := r.evaluateText(n, t)
	n.Flags |= t.Info.Flags
	if err == nil {
		return r.adopt(n, t, v)
	}
	failed := outcome.AsFailure(err)
	if failed == nil {
		return err
	}
	if hit := replacement(t); hit != nil {
		return r.replaceByStub(n, t, hit)
	}
	return failed
}

func (r *Runner) evaluateText(n *value.Node, t *work.Task) (value.Value, error) {
	text := t.Raw.(value.String).Text
	expr, err := r.ParseText(text)
	if err != nil {
		t.Expression = unparsed(text)
		return nil, outcome.Fail("%s", err.Error())
	}
	if t.Expr = expr; !embedded.IsExpression(text) {
		t.Expression = text
	}
	if m, ok := expr.(*syntax.Merge); ok && m.Redirect {
		t.Refers = syntax.StepsText(m.Path)
	} else if ok {
		t.Refers = r.ShownStub(t.StubPath)
	}
	e := r.env(t.Scope, n, t)
	return e.Whole(expr)
}

// replacement is the stub value that replaces the node, or nil.
func replacement(t *work.Task) *value.Node {
	if !t.Override || t.Info.Merged || t.Info.None {
		return nil
	}
	if t.Info.Redirect != nil {
		return t.Info.Redirect.Stubs.Override()
	}
	return t.Stubs.Override()
}

// unparsed shows an expression that cannot be parsed as it is written.
func unparsed(text string) string {
	if embedded.IsExpression(text) {
		return "((" + text[2:len(text)-2] + "))"
	}
	return text
}

// adopt makes a computed value the value of the node. Text that is an
// expression again is evaluated again, structures are completed in place.
func (r *Runner) adopt(n *value.Node, t *work.Task, v value.Value) error {
	if s, ok := v.(value.String); ok && !s.Data && r.Evaluates(s.Text) {
		return r.reevaluate(n, t, s)
	}
	if hit := replacement(t); hit != nil && !t.Info.Prefer {
		return r.replaceByStub(n, t, hit)
	}
	if tmpl, ok := v.(*scope.Template); ok && n.Flags.Has(value.Dynamic) && t.Doc.Final {
		instance, err := r.instantiateAt(n, t, tmpl)
		if err != nil {
			return err
		}
		n.Value = instance
		return nil
	}
	if inner := innerSlot(t); completes(t, inner, v) {
		switch raw := v.(type) {
		case *value.Map:
			t.Slot, t.Raw = inner, v
			return r.settleMap(n, t, raw)
		case *value.List:
			t.Slot, t.Raw = inner, v
			return r.settleList(n, t, raw)
		}
	}
	n.Value = v
	return nil
}

// innerSlot is the slot in which a computed structure is completed.
func innerSlot(t *work.Task) work.Slot {
	inner := t.Slot
	if t.Info.Redirect != nil {
		inner.StubPath, inner.Stubs = t.Info.Redirect.Path, t.Info.Redirect.Stubs
	}
	inner.Override = false
	inner.Inner = (t.Inner || t.Info.Prefer) && !t.Info.None
	return inner
}

// completes reports whether a computed structure still has something to evaluate or to take over
// from the stubs.
func completes(t *work.Task, inner work.Slot, v value.Value) bool {
	return !t.Info.Merged && (value.ShapeOf(v).Active || inner.Inner && inner.Stubs != nil)
}

func (r *Runner) replaceByStub(n *value.Node, t *work.Task, hit *value.Node) error {
	r.adoptStub(n, t.Slot, hit)
	if next, ok := n.Work.(*work.Task); ok { // a dynamic template
		v, err := r.instantiateAt(n, next, next.Raw.(*scope.Template))
		n.Work = t
		if err != nil {
			return err
		}
		n.Value = v
		return nil
	}
	n.Work = t
	return nil
}

func (r *Runner) reevaluate(n *value.Node, t *work.Task, s value.String) error {
	t.Reevaluated++
	if t.Reevaluated > maxReevaluations {
		return outcome.Fail("the result is an expression again for more than %d times", maxReevaluations)
	}
	if t.Info.Merged || t.Info.None {
		t.Override = false
	}
	t.Raw = s
	return r.settleExpression(n, t)
}
