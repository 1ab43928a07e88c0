package expression

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// function is what a mapping applies to each element.
type function interface {
	arity() (smallest, largest int)
	invoke(args []*value.Node) (value.Value, error)
}

// inline is a lambda written inside a mapping. It is no value: "_" keeps its
// meaning, and nothing is captured.
type inline struct {
	env    *Env
	lambda *syntax.Lambda
}

func (f inline) arity() (int, int) { return len(f.lambda.Params), len(f.lambda.Params) }

func (f inline) invoke(args []*value.Node) (value.Value, error) {
	names := make([]scope.Local, len(args))
	for i, a := range args {
		names[i] = scope.Local{Name: f.lambda.Params[i].Name, Node: a}
	}
	return f.env.within(f.env.Scope.Push(names)).Whole(f.lambda.Body)
}

// computed is a lambda value used by a mapping.
type computed struct {
	env    *Env
	lambda *scope.Lambda
}

func (f computed) arity() (int, int) { return f.lambda.Arity() }

func (f computed) invoke(args []*value.Node) (value.Value, error) {
	return f.env.Apply(f.lambda, args)
}

func (e *Env) function(fn syntax.Expr) (function, error) {
	if l, ok := fn.(*syntax.Lambda); ok && l.Inline && !l.Variadic {
		return inline{env: e, lambda: l}, nil
	}
	v, err := e.Whole(fn)
	if err != nil {
		return nil, err
	}
	l, ok := v.(*scope.Lambda)
	if !ok {
		return nil, outcome.Fail("a lambda is needed, but %s is %s", syntax.Describe(fn), value.A(v))
	}
	return computed{env: e, lambda: l}, nil
}

func (e *Env) mapping(x *syntax.Mapping) (value.Value, error) {
	if x.Kind == syntax.CatchKind {
		return e.catch(x)
	}
	source, err := e.Shallow(x.Source)
	if err != nil || value.IsUndefined(source) {
		return source, err
	}
	if err := checkSource(x, source); err != nil {
		return nil, err
	}
	fn, err := e.function(x.Fn)
	if err != nil {
		return nil, err
	}
	smallest, largest := 1, 2
	if x.Kind == syntax.SumKind {
		smallest, largest = 2, 3
	}
	low, high := fn.arity()
	if low > largest || high >= 0 && high < smallest {
		return nil, outcome.Fail("%s[] needs a lambda with %d to %d parameters", x.Kind, smallest, largest)
	}
	pairs := value.PairsOf(source)
	withKey := low == largest || high == largest
	if x.Kind == syntax.SumKind {
		return e.sum(x, fn, pairs, withKey)
	}
	results := make([]value.Value, len(pairs))
	for i, p := range pairs {
		args := []*value.Node{p.Node}
		if withKey {
			args = []*value.Node{value.New(p.Key), p.Node}
		}
		if results[i], err = fn.invoke(args); err != nil {
			return nil, err
		}
	}
	return e.mapped(x, source, pairs, results)
}

func checkSource(x *syntax.Mapping, source value.Value) error {
	_, isList := source.(*value.List)
	_, isMap := source.(*value.Map)
	word := string(x.Kind) + "[]"
	if x.Curly {
		word = string(x.Kind) + "{}"
	}
	switch {
	case !isList && !isMap:
		return outcome.Fail("%s needs a list or map, not %s", word, value.A(source))
	case isList && x.Curly && x.Kind != syntax.MapKind:
		return outcome.Fail("%s does not support a list", word)
	case isMap && !x.Curly && x.Kind == syntax.FilterKind:
		return outcome.Fail("%s does not support a map, use filter{}", word)
	}
	return nil
}

func (e *Env) sum(x *syntax.Mapping, fn function, pairs []value.Pair, withKey bool) (value.Value, error) {
	acc, err := e.Whole(x.Init)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if value.IsUndefined(acc) {
			acc = value.Null{}
		}
		args := []*value.Node{value.New(acc), p.Node}
		if withKey {
			args = []*value.Node{args[0], value.New(p.Key), p.Node}
		}
		if acc, err = fn.invoke(args); err != nil {
			return nil, err
		}
	}
	if value.IsUndefined(acc) {
		return value.Null{}, nil
	}
	return acc, nil
}

// mapped builds the result of map, select and filter.
func (e *Env) mapped(x *syntax.Mapping, source value.Value, pairs []value.Pair, results []value.Value) (value.Value, error) {
	if x.Kind != syntax.MapKind {
		return e.selected(x, source, pairs, results)
	}
	if !x.Curly {
		var nodes []*value.Node
		for _, v := range results {
			if !value.IsUndefined(v) && !value.IsNull(v) {
				nodes = append(nodes, value.New(v))
			}
		}
		return value.NewList(nodes), nil
	}
	b := value.NewBuilder(len(pairs))
	_, fromList := source.(*value.List)
	for i, p := range pairs {
		key, _ := p.Key.(value.String)
		if fromList {
			v, err := e.Deep(p.Node)
			if err != nil {
				return nil, outcome.Dependent(err, "'%s' unresolved", syntax.Describe(x.Source))
			}
			text, ok := v.(value.String)
			if !ok {
				return nil, outcome.Fail("map{} over a list needs strings, but found %s", value.A(v))
			}
			key = text
		}
		if !value.IsUndefined(results[i]) && !value.IsNull(results[i]) {
			b.Data = b.Data || key.Data
			b.SetValue(key.Text, results[i])
		}
	}
	return b.Map(), nil
}

func (e *Env) selected(x *syntax.Mapping, source value.Value, pairs []value.Pair, results []value.Value) (value.Value, error) {
	b := value.NewBuilder(len(pairs))
	if m, ok := source.(*value.Map); ok {
		b.Data = m.Data
	}
	var nodes []*value.Node
	for i, p := range pairs {
		if !value.Truth(results[i]) {
			continue
		}
		v, err := e.Deep(p.Node)
		if err != nil {
			return nil, outcome.Dependent(err, "'%s' unresolved", syntax.Describe(x.Source))
		}
		if x.Curly {
			b.SetValue(p.Key.(value.String).Text, v)
		} else {
			nodes = append(nodes, value.New(v))
		}
	}
	if x.Curly {
		return b.Map(), nil
	}
	return value.NewList(nodes), nil
}

// catch evaluates catch[e|v,err|->…].
func (e *Env) catch(x *syntax.Mapping) (value.Value, error) {
	v, message, err := e.Attempt(x.Source)
	if err != nil {
		return nil, err
	}
	fn, err := e.function(x.Fn)
	if err != nil {
		return nil, err
	}
	low, high := fn.arity()
	if low > 2 || high == 0 {
		return nil, outcome.Fail("catch[] needs a lambda with 1 or 2 parameters")
	}
	args := []*value.Node{value.New(v), value.New(message)}
	if high == 1 {
		args = args[:1]
	}
	return fn.invoke(args)
}

// Attempt evaluates an expression and turns a failure into a message.
func (e *Env) Attempt(x syntax.Expr) (v, message value.Value, err error) {
	v, err = e.Whole(x)
	if failed := outcome.AsFailure(err); failed != nil {
		return value.Null{}, value.Data(failed.Issue.Message), nil //nolint:nilerr // catching failures is what this is for
	}
	if err != nil {
		return nil, nil, err
	}
	if value.IsUndefined(v) {
		v = value.Null{}
	}
	return v, value.Null{}, nil
}
