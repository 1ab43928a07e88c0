package eval

import (
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// env is the surroundings of an expression.
type env struct {
	*run
	doc   *document
	scope *scope
	site  *site
	// element is the current element of a projection.
	element *value.Node
}

// site is the node that an expression belongs to. Calls and mappings stay at
// the site of the outermost expression.
type site struct {
	node *value.Node
	task *task
}

func (e *env) info() *info { return e.site.task.info }

func (e *env) within(s *scope) *env {
	inner := *e
	inner.scope = s
	return &inner
}

// whole evaluates an expression to a value that is settled completely.
func (e *env) whole(expr syntax.Expr) (value.Value, error) {
	v, err := e.shallow(expr)
	if err != nil || !value.IsOpen(v) {
		return v, err
	}
	return e.settled(v, describe(expr))
}

func (e *env) settled(v value.Value, what string) (value.Value, error) {
	whole, err := e.deepContent(v)
	if err != nil {
		return nil, waiting(err, "'%s' unresolved", what)
	}
	return whole, nil
}

// describe names an expression in a message.
func describe(expr syntax.Expr) string {
	if ref, ok := expr.(*syntax.Ref); ok {
		return refText(ref, len(ref.Steps))
	}
	return short(syntax.String(expr))
}

// maxShown is the length to which values and expressions are cut in messages.
const maxShown = 40

func short(s string) string {
	runes := []rune(s)
	if len(runes) <= maxShown {
		return s
	}
	return string(runes[:maxShown]) + "..."
}

// shallow evaluates an expression. A reference to a list or map is settled at
// its top level only; everything else is settled completely.
func (e *env) shallow(expr syntax.Expr) (value.Value, error) {
	n, err := e.place(expr)
	if err != nil || n == nil {
		if err == nil {
			err = e.step(1)
		}
		if err != nil {
			return nil, err
		}
		return e.compute(expr)
	}
	return n.Value, nil
}

// place returns the node that an expression addresses, settled at its top
// level, or nil if the expression computes a value.
func (e *env) place(expr syntax.Expr) (*value.Node, error) {
	switch x := expr.(type) {
	case *syntax.Ref:
		n, err := e.reference(x)
		if err == nil {
			err = e.handled(n.Value)
		}
		return n, err
	case *syntax.Group:
		return e.place(x.Body)
	case *syntax.Qualify:
		base, err := e.nodeOf(x.Base)
		if err != nil || value.IsUndefined(base.Value) {
			return nil, orFail(err, "'%s' not found", describe(x))
		}
		return e.walk(base, x.Steps, func(i int) string {
			return describe(&syntax.Qualify{Base: x.Base, Steps: x.Steps[:i]})
		})
	case *syntax.Index:
		return e.indexed(x)
	case syntax.Element:
		_, err := e.top(e.element)
		return e.element, err
	}
	return nil, nil
}

// handled books the handling of a long text, which costs time on every use.
func (e *env) handled(v value.Value) error {
	if s, ok := v.(value.String); ok && len(s.Text) > longText {
		return e.step(int64(len(s.Text)) / 1024)
	}
	return nil
}

const longText = 4096

func orFail(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return fail(format, args...)
}

// nodeOf returns the node of an expression, a new one for a computed value.
func (e *env) nodeOf(expr syntax.Expr) (*value.Node, error) {
	n, err := e.place(expr)
	if err != nil {
		return nil, err
	}
	if n == nil {
		v, err := e.shallow(expr)
		if err != nil {
			return nil, err
		}
		return value.New(v), nil
	}
	return n, nil
}

// compute evaluates the expressions that are no references.
func (e *env) compute(expr syntax.Expr) (value.Value, error) {
	switch x := expr.(type) {
	case syntax.Nil:
		return value.Null{}, nil
	case syntax.Undefined:
		return value.Undefined{}, nil
	case syntax.Bool:
		return value.Bool(x.Value), nil
	case syntax.Int:
		return value.Int(x.Value), nil
	case syntax.Float:
		return value.Float(x.Value), nil
	case syntax.Text:
		return value.Text(x.Value), nil
	case *syntax.Group:
		return e.shallow(x.Body)
	case *syntax.Binary:
		return e.binary(x)
	case *syntax.Cond:
		return e.conditional(x)
	case *syntax.Not:
		return e.not(x)
	case *syntax.List:
		return e.list(x)
	case *syntax.Map:
		return e.mapLiteral(x)
	case *syntax.Range:
		return e.span(x)
	}
	return e.computeSpecial(expr)
}

func (e *env) computeSpecial(expr syntax.Expr) (value.Value, error) {
	switch x := expr.(type) {
	case *syntax.Scope:
		return e.scoped(x)
	case *syntax.Call:
		return e.call(x)
	case *syntax.Lambda:
		return e.lambda(x)
	case *syntax.LambdaOf:
		return e.lambdaOf(x)
	case *syntax.Mapping:
		return e.mapping(x)
	case *syntax.Project:
		return e.project(x)
	case *syntax.Instantiate:
		return e.instantiate(x)
	case *syntax.Merge:
		return e.merge(x)
	case *syntax.Marked:
		return e.marked(x)
	case *syntax.Prefer:
		e.info().prefer = true
		return e.whole(x.Body)
	case *syntax.Sync:
		return e.sync(x)
	case syntax.Auto:
		return e.auto()
	}
	return nil, fail("expression is not supported")
}
