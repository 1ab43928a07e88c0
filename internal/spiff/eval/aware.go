package eval

import (
	"strconv"

	"go.landscaper.dev/internal/spiff/builtin"
	"go.landscaper.dev/internal/spiff/builtin/call"
	"go.landscaper.dev/internal/spiff/builtin/text"
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// aware is the implementation of a function that works on expressions instead
// of values.
type aware func(e *env, args []syntax.Expr) (value.Value, error)

// awareFunctions implements the functions that the table of builtins marks as
// Aware.
var awareFunctions map[string]aware

func init() {
	awareFunctions = map[string]aware{
		"defined":     (*env).isDefined,
		"valid":       (*env).isValid,
		"require":     (*env).require,
		"optional":    (*env).optional,
		"type":        (*env).typeOf,
		"stub":        (*env).stub,
		"catch":       (*env).catchMap,
		"sync":        (*env).syncCall,
		"merge":       (*env).mergeCall,
		"eval":        (*env).evalText,
		"tagdef":      (*env).tagdef,
		"error":       (*env).errorCall,
		"list_to_map": (*env).listToMap,
		"static_ips":  (*env).staticIPs,
	}
}

func (e *env) callAware(x *syntax.Call, f aware) (value.Value, error) {
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
func (e *env) applyAware(x *syntax.Call, f aware, args []syntax.Expr) (value.Value, error) {
	c := &call.Call{Host: host{e}, Function: builtin.Lookup(x.Builtin), Args: make([]value.Value, len(args))}
	if err := c.Check(); err != nil {
		return nil, clean(err)
	}
	return f(e, args)
}

// callAwareSpread evaluates arguments with list expansion first.
func (e *env) callAwareSpread(x *syntax.Call, f aware) (value.Value, error) {
	nodes, undefined, err := e.items(x.Args)
	if err != nil || undefined {
		return value.Undefined{}, err
	}
	names := make([]local, len(nodes))
	args := make([]syntax.Expr, len(nodes))
	for i, n := range nodes {
		name := "..." + strconv.Itoa(i) // no name of a document
		names[i] = local{name: name, node: n}
		args[i] = &syntax.Ref{Steps: []syntax.Step{{Key: name}}}
	}
	return e.within(e.scope.push(names)).applyAware(x, f, args)
}

func (e *env) isDefined(args []syntax.Expr) (value.Value, error) {
	return e.all(args, func(v value.Value) bool { return !value.IsUndefined(v) })
}

func (e *env) isValid(args []syntax.Expr) (value.Value, error) {
	return e.all(args, func(v value.Value) bool { return !value.IsUndefined(v) && !value.IsNull(v) })
}

// all tells whether every expression evaluates to a value that passes a test.
func (e *env) all(args []syntax.Expr, test func(value.Value) bool) (value.Value, error) {
	result := true
	for _, a := range args {
		v, err := e.shallow(a)
		if err != nil && failure(err) == nil {
			return nil, err
		}
		result = result && err == nil && test(v)
	}
	return value.Bool(result), nil
}

func (e *env) require(args []syntax.Expr) (value.Value, error) {
	v, err := e.shallow(args[0])
	if err != nil {
		return nil, err
	}
	if value.IsUndefined(v) || value.IsNull(v) {
		return nil, fail("required value %s is %s", describe(args[0]), v.TypeName())
	}
	return e.settled(v, describe(args[0]))
}

func (e *env) optional(args []syntax.Expr) (value.Value, error) {
	cond, err := e.whole(args[0])
	if failure(err) != nil {
		return value.Undefined{}, nil //nolint:nilerr // the language takes a condition that fails for one that is not met
	}
	if err != nil {
		return nil, err
	}
	if !value.Truth(cond) {
		return value.Undefined{}, nil
	}
	return e.whole(args[1])
}

func (e *env) typeOf(args []syntax.Expr) (value.Value, error) {
	v, err := e.shallow(args[0])
	if err != nil {
		return nil, err
	}
	return value.Text(value.TypeName(v)), nil
}

// stub reads a value of the stubs without merging.
func (e *env) stub(args []syntax.Expr) (value.Value, error) {
	steps, own, err := e.stubPath(args)
	if err != nil {
		return nil, err
	}
	where := pathOf(steps)
	if own {
		where = e.site.task.reportPath()
		steps = stepsOf(where)
	}
	n := stubsOf(e.doc.stubs).follow(steps).first()
	if n != nil && !value.IsUndefined(n.Value) {
		return n.Value, nil
	}
	if e.Settings.Sensitive {
		return nil, fail("path not found in any stub")
	}
	return nil, fail("'%s' not found in any stub", where.stubString())
}

// stubPath returns the path given to stub(); own means the current one.
func (e *env) stubPath(args []syntax.Expr) (steps []syntax.Step, own bool, err error) {
	if len(args) == 0 {
		return nil, true, nil
	}
	if ref, ok := args[0].(*syntax.Ref); ok && ref.Tag == "" {
		return ref.Steps, false, nil
	}
	v, err := e.whole(args[0])
	if err != nil || value.IsUndefined(v) {
		return nil, true, err
	}
	if s, ok := v.(value.String); ok {
		expr, err := e.parse(s.Text)
		if ref, isRef := expr.(*syntax.Ref); err == nil && isRef {
			return ref.Steps, false, nil
		}
		return nil, false, fail("stub: %s is no path", e.Show(s))
	}
	l, ok := v.(*value.List)
	if !ok {
		return nil, false, fail("stub: path must be a string or a list of steps, not %s", value.A(v))
	}
	for _, n := range l.Items {
		s, ok := n.Value.(value.String)
		if !ok {
			return nil, false, fail("stub: steps of the path must be strings, not %s", value.A(n.Value))
		}
		steps = append(steps, parseStep(s.Text))
	}
	return steps, false, nil
}

func (e *env) catchMap(args []syntax.Expr) (value.Value, error) {
	v, message, err := e.attempt(args[0])
	if err != nil {
		return nil, err
	}
	if value.IsNull(message) {
		return value.MapOf("valid", value.Bool(true), "error", value.Text(""), "value", v), nil
	}
	return value.MapOf("valid", value.Bool(false), "error", message), nil
}

// evalText evaluates a text as an expression.
func (e *env) evalText(args []syntax.Expr) (value.Value, error) {
	v, err := e.whole(args[0])
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	s, ok := v.(value.String)
	if !ok {
		return nil, fail("eval: argument must be a string, not %s", value.A(v))
	}
	_, literal := args[0].(syntax.Text)
	hidden := e.Settings.Sensitive && !literal
	expr, err := e.parse(s.Text)
	if err != nil && hidden {
		return nil, errHiddenEval
	}
	if err != nil {
		return nil, fail("eval: %s", err)
	}
	if err := e.run.call(); err != nil {
		return nil, err
	}
	defer func() { e.run.calls-- }()
	v, err = e.whole(expr)
	if hidden && failure(err) != nil {
		// Its message shows names and operators of the text.
		return nil, errHiddenEval
	}
	return v, err
}

// errHiddenEval stands for what is wrong with a text that may be sensitive.
var errHiddenEval = fail("eval: the text cannot be evaluated, details are left out because they may hold bound values")

// errorCall fails with a message. Texts of sensitive bindings are left out.
func (e *env) errorCall(args []syntax.Expr) (value.Value, error) {
	nodes, _, err := e.items(itemsOf(args))
	if err != nil {
		return nil, err
	}
	values := make([]value.Value, len(nodes))
	for i, n := range nodes {
		values[i] = n.Value
		if _, literal := args[i].(syntax.Text); e.Settings.Sensitive && !literal {
			values[i] = value.Text(e.Show(n.Value))
		}
	}
	message, err := text.Format(values)
	if err != nil {
		return nil, fail("error: %s", err)
	}
	return nil, fail("%s", message)
}

func itemsOf(args []syntax.Expr) []syntax.Item {
	items := make([]syntax.Item, len(args))
	for i, a := range args {
		items[i] = syntax.Item{Value: a}
	}
	return items
}

// listToMap needs the key field declared at the list, so it looks at the node.
func (e *env) listToMap(args []syntax.Expr) (value.Value, error) {
	key := "name"
	v, err := e.whole(args[0])
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	if l, ok := v.(*value.List); ok && l.Key != "" {
		key = l.Key
	}
	values := []value.Value{v, value.Text(key)}
	if len(args) == 2 {
		if values[1], err = e.whole(args[1]); err != nil || value.IsUndefined(values[1]) {
			return values[1], err
		}
	}
	f := builtin.Lookup("list_to_map")
	return e.callBuiltin(f, values)
}

// tagdef tags a value.
func (e *env) tagdef(args []syntax.Expr) (value.Value, error) {
	nodes, undefined, err := e.items(itemsOf(args))
	if err != nil || undefined {
		return value.Undefined{}, err
	}
	s, ok := nodes[0].Value.(value.String)
	if !ok {
		return nil, fail("tagdef: tag name must be a string")
	}
	name, global := s.Text, false
	if len(nodes) == 2 && name != "" && name[0] == '*' {
		name, global = name[1:], true
	}
	if len(nodes) == 3 {
		scope, _ := nodes[2].Value.(value.String)
		if scope.Text != "local" && scope.Text != "global" {
			return nil, fail(`tagdef: scope must be "local" or "global"`)
		}
		global = scope.Text == "global"
	}
	name, ok = syntax.TagName(name)
	if !ok {
		return nil, fail("tagdef: invalid tag name %s", e.Show(s))
	}
	if err := e.doc.tags.define(name, nodes[1], e.site.task.path, global); err != nil {
		if e.Settings.Sensitive {
			return nil, fail("duplicate tag")
		}
		return nil, err
	}
	return nodes[1].Value, nil
}
