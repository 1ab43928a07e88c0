package eval

import (
	"strings"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// isExpression tells whether a whole text is an expression.
func isExpression(text string) bool {
	return len(text) >= 4 && strings.HasPrefix(text, "((") && strings.HasSuffix(text, "))") && text[2] != '!'
}

// evaluates tells whether a text is to be evaluated.
func (r *run) evaluates(text string) bool {
	return isExpression(text) || r.feature(Interpolation) && interpolated(text)
}

// parseText parses a text that evaluates.
func (r *run) parseText(text string) (syntax.Expr, error) {
	if isExpression(text) {
		return r.parse(text[2 : len(text)-2])
	}
	return r.parseInterpolation(text)
}

// maxReevaluations bounds how often a result is an expression again.
const maxReevaluations = 100

// settleExpression evaluates the expression of a node.
func (r *run) settleExpression(n *value.Node, t *task) error {
	t.info = &info{}
	v, err := r.evaluateText(n, t)
	n.Flags |= t.info.flags
	if err == nil {
		return r.adopt(n, t, v)
	}
	failed := failure(err)
	if failed == nil {
		return err
	}
	if hit := t.replacement(); hit != nil {
		return r.replaceByStub(n, t, hit)
	}
	return failed
}

func (r *run) evaluateText(n *value.Node, t *task) (value.Value, error) {
	text := t.raw.(value.String).Text
	expr, err := r.parseText(text)
	if err != nil {
		t.expression = unparsed(text)
		return nil, fail("%s", err.Error())
	}
	if t.expr = expr; !isExpression(text) {
		t.expression = text
	}
	if m, ok := expr.(*syntax.Merge); ok && m.Redirect {
		t.refers = stepsText(m.Path)
	} else if ok {
		t.refers = r.shownStub(t.stubPath)
	}
	e := &env{run: r, doc: t.doc, scope: t.scope, site: &site{node: n, task: t}}
	return e.whole(expr)
}

// replacement is the stub value that replaces the node, or nil.
func (t *task) replacement() *value.Node {
	if !t.override || t.info.merged || t.info.none {
		return nil
	}
	if t.info.redirect != nil {
		return t.info.redirect.stubs.override()
	}
	return t.stubs.override()
}

// unparsed shows an expression that cannot be parsed as it is written.
func unparsed(text string) string {
	if isExpression(text) {
		return "((" + text[2:len(text)-2] + "))"
	}
	return text
}

// adopt makes a computed value the value of the node. Text that is an
// expression again is evaluated again, structures are completed in place.
func (r *run) adopt(n *value.Node, t *task, v value.Value) error {
	if s, ok := v.(value.String); ok && !s.Data && r.evaluates(s.Text) {
		return r.reevaluate(n, t, s)
	}
	if hit := t.replacement(); hit != nil && !t.info.prefer {
		return r.replaceByStub(n, t, hit)
	}
	if tmpl, ok := v.(*template); ok && n.Flags.Has(value.Dynamic) && t.doc.final {
		instance, err := r.instantiateAt(n, t, tmpl)
		if err != nil {
			return err
		}
		n.Value = instance
		return nil
	}
	if inner := t.innerSlot(); t.completes(inner, v) {
		switch raw := v.(type) {
		case *value.Map:
			t.slot, t.raw = inner, v
			return r.settleMap(n, t, raw)
		case *value.List:
			t.slot, t.raw = inner, v
			return r.settleList(n, t, raw)
		}
	}
	n.Value = v
	return nil
}

// innerSlot is the slot in which a computed structure is completed.
func (t *task) innerSlot() slot {
	inner := t.slot
	if t.info.redirect != nil {
		inner.stubPath, inner.stubs = t.info.redirect.path, t.info.redirect.stubs
	}
	inner.override = false
	inner.inner = (t.inner || t.info.prefer) && !t.info.none
	return inner
}

// completes tells whether a computed structure still has something to
// evaluate or to take over from the stubs.
func (t *task) completes(inner slot, v value.Value) bool {
	return !t.info.merged && (value.ShapeOf(v).Active || inner.inner && inner.stubs != nil)
}

func (r *run) replaceByStub(n *value.Node, t *task, hit *value.Node) error {
	r.adoptStub(n, t.slot, hit)
	if next, ok := n.Work.(*task); ok { // a dynamic template
		v, err := r.instantiateAt(n, next, next.raw.(*template))
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

func (r *run) reevaluate(n *value.Node, t *task, s value.String) error {
	t.reevaluated++
	if t.reevaluated > maxReevaluations {
		return fail("the result is an expression again for more than %d times", maxReevaluations)
	}
	if t.info.merged || t.info.none {
		t.override = false
	}
	t.raw = s
	return r.settleExpression(n, t)
}
