package expression

import (
	"fmt"

	"go.landscaper.dev/internal/content/template/spiff/builtin"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

func (e *Env) call(x *syntax.Call) (value.Value, error) {
	if x.Builtin != "" {
		return e.callNamed(x)
	}
	fn, err := e.Shallow(x.Fn)
	if err != nil || value.IsUndefined(fn) {
		return fn, err
	}
	l, ok := fn.(*scope.Lambda)
	if !ok {
		return nil, outcome.Fail("only functions and lambdas can be called, but %s is %s", syntax.Describe(x.Fn), value.A(fn))
	}
	args, undefined, err := e.Items(x.Args)
	if err != nil {
		return nil, err
	}
	var given []scope.Named
	for _, n := range x.Named {
		v, err := e.Whole(n.Value)
		if err != nil {
			return nil, err
		}
		undefined = undefined || value.IsUndefined(v)
		given = append(given, scope.Named{Name: n.Name, Node: value.New(v)})
	}
	if undefined {
		return value.Undefined{}, nil
	}
	if x.Curry || len(given) == 0 && l.AutoCurries(len(args)) {
		curried, err := l.Curry(args, given)
		if err != nil {
			return nil, outcome.Fail("%s: %s", syntax.Describe(x.Fn), err)
		}
		return curried, nil
	}
	names, err := l.Bind(args, given)
	if err != nil {
		return nil, outcome.Fail("%s: %s", syntax.Describe(x.Fn), err)
	}
	return e.enter(l, names)
}

// callNamed calls or curries a builtin or host function.
func (e *Env) callNamed(x *syntax.Call) (value.Value, error) {
	if len(x.Named) > 0 {
		return nil, outcome.Fail("%s: named arguments are for lambdas only", x.Builtin)
	}
	if aware, ok := e.specials[x.Builtin]; ok {
		if x.Curry {
			return nil, outcome.Fail("%s cannot be curried", x.Builtin)
		}
		return e.callAware(x, aware)
	}
	args, undefined, err := e.Items(x.Args)
	if err != nil {
		return nil, err
	}
	if undefined {
		return value.Undefined{}, nil
	}
	if x.Curry {
		return e.curryNamed(x.Builtin, args)
	}
	values := make([]value.Value, len(args))
	for i, a := range args {
		values[i] = a.Value
	}
	return e.callFunction(x, values)
}

func (e *Env) callFunction(x *syntax.Call, values []value.Value) (v value.Value, err error) {
	name := x.Builtin
	if err := e.EnterCall(); err != nil {
		return nil, err
	}
	defer e.LeaveCall()
	if f := builtin.Lookup(name); f != nil {
		return e.CallBuiltin(f, values)
	}
	if host, ok := e.Functions[name]; ok {
		return e.callHost(name, host, values)
	}
	return nil, outcome.Fail("unknown function '%s'", name)
}

// CallBuiltin calls a function of the language with values.
func (e *Env) CallBuiltin(f *call.Function, values []value.Value) (value.Value, error) {
	c := &call.Call{Host: host{e}, Function: f, Args: values}
	if err := c.Check(); err != nil {
		return nil, outcome.Clean(err)
	}
	// One call may take long, so that the clock is looked at before each one.
	if err := e.CheckTime(); err != nil {
		return nil, err
	}
	v, err := f.Run(c)
	if err != nil {
		return nil, outcome.Clean(err)
	}
	if !f.Keeps && anyData(values) {
		v = value.MarkData(v)
	}
	return v, nil
}

func anyData(values []value.Value) bool {
	for _, v := range values {
		if value.ShapeOf(v).Data {
			return true
		}
	}
	return false
}

// callHost calls a function of the embedder. Its errors and panics are
// ordinary failures.
//
//nolint:contextcheck // the meter holds the context of the evaluation
func (e *Env) callHost(name string, fn work.HostFunction, values []value.Value) (v value.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, outcome.Fail("%s: the function crashed", name)
		}
	}()
	v, err = fn(e.Meter.Context(), values)
	if err != nil && e.Settings.Sensitive {
		return nil, outcome.Fail("%s: the function failed, details are left out because they may hold bound values", name)
	}
	if err != nil {
		return nil, outcome.Fail("%s: %s", name, err)
	}
	if v == nil {
		v = value.Null{}
	}
	return value.MarkData(v), nil
}

// curryNamed binds leading arguments of a builtin.
func (e *Env) curryNamed(name string, args []*value.Node) (value.Value, error) {
	const rest = "__args"
	call := &syntax.Call{Builtin: name}
	captured := map[string]*value.Node{}
	for k, n := range e.Scope.Locals() {
		captured[k] = n
	}
	for i, a := range args {
		item := literal(a.Value)
		if item == nil {
			bound := fmt.Sprintf("__arg%d", i+1)
			captured[bound] = a
			item = &syntax.Ref{Steps: []syntax.Step{{Key: bound}}}
		}
		call.Args = append(call.Args, syntax.Item{Value: item})
	}
	more := syntax.Item{Value: &syntax.Ref{Steps: []syntax.Step{{Key: rest}}}, Spread: true}
	call.Args = append(call.Args, more)
	def := &syntax.Lambda{Params: []syntax.Param{{Name: rest}}, Variadic: true, Body: call}
	return scope.NewLambda(def, make([]*value.Node, 1), captured, e.Scope), nil
}

// literal is the expression for a value that can be written as a literal, or
// nil. Text from outside is not, it would lose its mark.
func literal(v value.Value) syntax.Expr {
	switch v := v.(type) {
	case value.Null:
		return syntax.Nil{}
	case value.Bool:
		return syntax.Bool{Value: bool(v)}
	case value.Int:
		return syntax.Int{Value: int64(v)}
	case value.Float:
		return syntax.Float{Value: float64(v)}
	case value.String:
		if !v.Data {
			return syntax.Text{Value: v.Text}
		}
	case *value.List:
		list := &syntax.List{}
		for _, n := range v.Items {
			item := literal(n.Value)
			if item == nil {
				return nil
			}
			list.Items = append(list.Items, syntax.Item{Value: item})
		}
		return list
	case *value.Map:
		m := &syntax.Map{}
		for i, k := range v.Keys {
			item := literal(v.Items[i].Value)
			if item == nil || v.Data {
				return nil
			}
			m.Entries = append(m.Entries, syntax.Entry{Key: syntax.Text{Value: k}, Value: item})
		}
		return m
	}
	return nil
}
