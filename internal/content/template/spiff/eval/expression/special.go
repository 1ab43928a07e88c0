package expression

import (
	"strconv"

	"go.landscaper.dev/internal/content/template/spiff/builtin"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

func (e *Env) callAware(x *syntax.Call, f Special) (value.Value, error) {
	args := make([]syntax.Expr, len(x.Args))
	for i, a := range x.Args {
		if a.Spread {
			return e.callAwareSpread(x, f)
		}
		args[i] = a.Value
	}
	return e.applyAware(x, f, args)
}

// applyAware calls the implementation after a look at the number of arguments.
func (e *Env) applyAware(x *syntax.Call, f Special, args []syntax.Expr) (value.Value, error) {
	c := &call.Call{Host: host{e}, Function: builtin.Lookup(x.Builtin), Args: make([]value.Value, len(args))}
	if err := c.Check(); err != nil {
		return nil, outcome.Clean(err)
	}
	return f(e, args)
}

// callAwareSpread evaluates arguments with list expansion first.
func (e *Env) callAwareSpread(x *syntax.Call, f Special) (value.Value, error) {
	nodes, undefined, err := e.Items(x.Args)
	if err != nil || undefined {
		return value.Undefined{}, err
	}
	names := make([]scope.Local, len(nodes))
	args := make([]syntax.Expr, len(nodes))
	for i, n := range nodes {
		name := "..." + strconv.Itoa(i) // no name of a document
		names[i] = scope.Local{Name: name, Node: n}
		args[i] = &syntax.Ref{Steps: []syntax.Step{{Key: name}}}
	}
	return e.within(e.Scope.Push(names)).applyAware(x, f, args)
}

// ItemsOf is an argument list of plain expressions.
func ItemsOf(args []syntax.Expr) []syntax.Item {
	items := make([]syntax.Item, len(args))
	for i, a := range args {
		items[i] = syntax.Item{Value: a}
	}
	return items
}
