// Package expression evaluates expressions at their place in a document.
package expression

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/reference"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Env evaluates the expressions of one place.
type Env struct {
	reference.Finder
	specials map[string]Special
	// element is the current element of a projection.
	element *value.Node
}

// Special is a function that works on expressions instead of values.
type Special func(e *Env, args []syntax.Expr) (value.Value, error)

// New makes the evaluator of one place.
func New(r *work.Run, s work.Surroundings, specials map[string]Special) *Env {
	return &Env{Finder: reference.Finder{Run: r, Surroundings: s}, specials: specials}
}

func (e *Env) within(s *scope.Level) *Env {
	inner := *e
	inner.Scope = s
	return &inner
}

// Whole evaluates an expression to a value that is settled completely.
func (e *Env) Whole(expr syntax.Expr) (value.Value, error) {
	v, err := e.Shallow(expr)
	if err != nil || !value.IsOpen(v) {
		return v, err
	}
	return e.Settled(v, syntax.Describe(expr))
}

// Settled completes a value whose top level is there; what names it in a message.
func (e *Env) Settled(v value.Value, what string) (value.Value, error) {
	whole, err := e.DeepContent(v)
	if err != nil {
		return nil, outcome.Dependent(err, "'%s' unresolved", what)
	}
	return whole, nil
}

// Shallow evaluates an expression. A reference to a list or map is settled at
// its top level only; everything else is settled completely.
func (e *Env) Shallow(expr syntax.Expr) (value.Value, error) {
	n, err := e.place(expr)
	if err != nil || n == nil {
		if err == nil {
			err = e.Step()
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
func (e *Env) place(expr syntax.Expr) (*value.Node, error) {
	switch x := expr.(type) {
	case *syntax.Ref:
		return e.Find(x)
	case *syntax.Group:
		return e.place(x.Body)
	case *syntax.Qualify:
		base, err := e.nodeOf(x.Base)
		if err != nil || value.IsUndefined(base.Value) {
			return nil, outcome.OrFail(err, "'%s' not found", syntax.Describe(x))
		}
		return e.Walk(base, x.Steps, func(i int) string {
			return syntax.Describe(&syntax.Qualify{Base: x.Base, Steps: x.Steps[:i]})
		})
	case *syntax.Index:
		return e.indexed(x)
	case syntax.Element:
		_, err := e.Top(e.element)
		return e.element, err
	}
	return nil, nil
}

// nodeOf returns the node of an expression, a new one for a computed value.
func (e *Env) nodeOf(expr syntax.Expr) (*value.Node, error) {
	n, err := e.place(expr)
	if err != nil {
		return nil, err
	}
	if n == nil {
		v, err := e.Shallow(expr)
		if err != nil {
			return nil, err
		}
		return value.New(v), nil
	}
	return n, nil
}

// compute evaluates all expressions but references.
func (e *Env) compute(expr syntax.Expr) (value.Value, error) {
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
		return e.Shallow(x.Body)
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

func (e *Env) computeSpecial(expr syntax.Expr) (value.Value, error) {
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
		e.Info().Prefer = true
		return e.Whole(x.Body)
	case *syntax.Sync:
		return e.sync(x)
	case syntax.Auto:
		return e.auto()
	}
	return nil, outcome.Fail("expression is not supported")
}
