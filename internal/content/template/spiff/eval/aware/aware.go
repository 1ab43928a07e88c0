// Package aware holds the functions that look at their arguments as expressions, before
// or instead of evaluating them: whether one has a value, what a stub says, a merge.
package aware

import (
	"go.landscaper.dev/internal/content/template/spiff/builtin"
	"go.landscaper.dev/internal/content/template/spiff/builtin/text"
	"go.landscaper.dev/internal/content/template/spiff/eval/expression"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Functions implements the functions that the table of builtins marks as Aware.
var Functions = map[string]expression.Special{
	"defined":     isDefined,
	"valid":       isValid,
	"require":     require,
	"optional":    optional,
	"type":        typeOf,
	"stub":        stub,
	"catch":       catchMap,
	"sync":        (*expression.Env).SyncCall,
	"merge":       mergeCall,
	"eval":        evalText,
	"tagdef":      tagdef,
	"error":       errorCall,
	"list_to_map": listToMap,
	"static_ips":  staticIPs,
}

func isDefined(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	return all(e, args, func(v value.Value) bool { return !value.IsUndefined(v) })
}

func isValid(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	return all(e, args, func(v value.Value) bool { return !value.IsUndefined(v) && !value.IsNull(v) })
}

// all reports whether every expression evaluates to a value that passes a test.
func all(e *expression.Env, args []syntax.Expr, test func(value.Value) bool) (value.Value, error) {
	result := true
	for _, a := range args {
		v, err := e.Shallow(a)
		if err != nil && outcome.AsFailure(err) == nil {
			return nil, err
		}
		result = result && err == nil && test(v)
	}
	return value.Bool(result), nil
}

func require(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	v, err := e.Shallow(args[0])
	if err != nil {
		return nil, err
	}
	if value.IsUndefined(v) || value.IsNull(v) {
		return nil, outcome.Fail("required value %s is %s", syntax.Describe(args[0]), v.TypeName())
	}
	return e.Settled(v, syntax.Describe(args[0]))
}

func optional(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	cond, err := e.Whole(args[0])
	if outcome.AsFailure(err) != nil {
		return value.Undefined{}, nil //nolint:nilerr // the language takes a condition that fails for one that is not met
	}
	if err != nil {
		return nil, err
	}
	if !value.Truth(cond) {
		return value.Undefined{}, nil
	}
	return e.Whole(args[1])
}

func typeOf(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	v, err := e.Shallow(args[0])
	if err != nil {
		return nil, err
	}
	return value.Text(value.TypeName(v)), nil
}

// stub reads a value of the stubs without merging.
func stub(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	steps, own, err := stubPath(e, args)
	if err != nil {
		return nil, err
	}
	where := place.PathOf(steps)
	if own {
		where = e.Site.Task.ReportPath()
		steps = place.StepsOf(where)
	}
	n := place.StubsOf(e.Doc.Stubs).Follow(steps).First()
	if n != nil && !value.IsUndefined(n.Value) {
		return n.Value, nil
	}
	if e.Settings.Sensitive {
		return nil, outcome.Fail("path not found in any stub")
	}
	return nil, outcome.Fail("'%s' not found in any stub", where.StubString())
}

// stubPath returns the path given to stub(); own means the current one.
func stubPath(e *expression.Env, args []syntax.Expr) (steps []syntax.Step, own bool, err error) {
	if len(args) == 0 {
		return nil, true, nil
	}
	if ref, ok := args[0].(*syntax.Ref); ok && ref.Tag == "" {
		return ref.Steps, false, nil
	}
	v, err := e.Whole(args[0])
	if err != nil || value.IsUndefined(v) {
		return nil, true, err
	}
	if s, ok := v.(value.String); ok {
		expr, err := e.Parse(s.Text)
		if ref, isRef := expr.(*syntax.Ref); err == nil && isRef {
			return ref.Steps, false, nil
		}
		return nil, false, outcome.Fail("stub: %s is not a path", e.Show(s))
	}
	l, ok := v.(*value.List)
	if !ok {
		return nil, false, outcome.Fail("stub: path must be a string or a list of steps, not %s", value.A(v))
	}
	for _, n := range l.Items {
		s, ok := n.Value.(value.String)
		if !ok {
			return nil, false, outcome.Fail("stub: steps of the path must be strings, not %s", value.A(n.Value))
		}
		steps = append(steps, place.ParseStep(s.Text))
	}
	return steps, false, nil
}

func catchMap(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	v, message, err := e.Attempt(args[0])
	if err != nil {
		return nil, err
	}
	if value.IsNull(message) {
		return value.MapOf("valid", value.Bool(true), "error", value.Text(""), "value", v), nil
	}
	return value.MapOf("valid", value.Bool(false), "error", message), nil
}

// evalText evaluates a text as an expression.
func evalText(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	v, err := e.Whole(args[0])
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	s, ok := v.(value.String)
	if !ok {
		return nil, outcome.Fail("eval: argument must be a string, not %s", value.A(v))
	}
	_, literal := args[0].(syntax.Text)
	hidden := e.Settings.Sensitive && !literal
	expr, err := e.Parse(s.Text)
	if err != nil && hidden {
		return nil, errHiddenEval
	}
	if err != nil {
		return nil, outcome.Fail("eval: %s", err)
	}
	if err := e.EnterCall(); err != nil {
		return nil, err
	}
	defer e.LeaveCall()
	v, err = e.Whole(expr)
	if hidden && outcome.AsFailure(err) != nil {
		// Its message shows names and operators of the text.
		return nil, errHiddenEval
	}
	return v, err
}

// errHiddenEval stands for what is wrong with a text that may be sensitive.
var errHiddenEval = outcome.Fail("eval: the text cannot be evaluated, details are left out because they may hold bound values")

// errorCall fails with a message. Texts of sensitive bindings are left out.
func errorCall(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	values := make([]value.Value, 0, len(args))
	for _, arg := range args {
		v, err := e.Whole(arg)
		if err != nil {
			return nil, err
		}
		if value.IsUndefined(v) {
			continue
		}
		if _, literal := arg.(syntax.Text); e.Settings.Sensitive && !literal {
			v = value.Text(e.Show(v))
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return nil, outcome.Fail("error: the format is undefined")
	}
	message, err := text.Format(values)
	if err != nil {
		return nil, outcome.Fail("error: %s", err)
	}
	return nil, outcome.Fail("%s", message)
}

// listToMap needs the key field declared at the list, so it looks at the node.
func listToMap(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	key := "name"
	v, err := e.Whole(args[0])
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	if l, ok := v.(*value.List); ok && l.Key != "" {
		key = l.Key
	}
	values := []value.Value{v, value.Text(key)}
	if len(args) == 2 {
		if values[1], err = e.Whole(args[1]); err != nil || value.IsUndefined(values[1]) {
			return values[1], err
		}
	}
	f := builtin.Lookup("list_to_map")
	return e.CallBuiltin(f, values)
}

// tagdef tags a value.
func tagdef(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	nodes, undefined, err := e.Items(expression.ItemsOf(args))
	if err != nil || undefined {
		return value.Undefined{}, err
	}
	s, ok := nodes[0].Value.(value.String)
	if !ok {
		return nil, outcome.Fail("tagdef: tag name must be a string")
	}
	name, global := s.Text, false
	if len(nodes) == 2 && name != "" && name[0] == '*' {
		name, global = name[1:], true
	}
	if len(nodes) == 3 {
		scope, _ := nodes[2].Value.(value.String)
		if scope.Text != "local" && scope.Text != "global" {
			return nil, outcome.Fail(`tagdef: scope must be "local" or "global"`)
		}
		global = scope.Text == "global"
	}
	name, ok = syntax.TagName(name)
	if !ok {
		return nil, outcome.Fail("tagdef: invalid tag name %s", e.Show(s))
	}
	if err := e.Doc.Tags.Define(name, nodes[1], e.Site.Task.Path, global); err != nil {
		if e.Settings.Sensitive {
			return nil, outcome.Fail("duplicate tag")
		}
		return nil, err
	}
	return nodes[1].Value, nil
}
