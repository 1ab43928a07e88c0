package expression

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Items evaluates an argument list or list literal. undefined is set if one of
// them is undefined.
func (e *Env) Items(list []syntax.Item) (nodes []*value.Node, undefined bool, err error) {
	nodes = make([]*value.Node, 0, len(list))
	for _, item := range list {
		v, err := e.Whole(item.Value)
		if err != nil {
			return nil, false, err
		}
		if value.IsUndefined(v) {
			undefined = true
			continue
		}
		if !item.Spread {
			nodes = append(nodes, value.New(v))
			continue
		}
		l, ok := v.(*value.List)
		if !ok {
			return nil, false, outcome.Fail("%s... needs a list, not %s", syntax.Describe(item.Value), value.A(v))
		}
		nodes = append(nodes, l.Items...)
	}
	return nodes, undefined, nil
}

func (e *Env) list(x *syntax.List) (value.Value, error) {
	nodes, undefined, err := e.Items(x.Items)
	if err != nil {
		return nil, err
	}
	if undefined {
		return value.Undefined{}, nil
	}
	return value.NewList(nodes), nil
}

func (e *Env) mapLiteral(x *syntax.Map) (value.Value, error) {
	b := value.NewBuilder(len(x.Entries))
	for _, entry := range x.Entries {
		key, v, err := e.assign(e, entry)
		if err != nil {
			return nil, err
		}
		b.Data = b.Data || key.Data
		b.SetValue(key.Text, v)
	}
	return b.Map(), nil
}

// assign evaluates one entry of a map or scope literal.
func (e *Env) assign(keys *Env, entry syntax.Entry) (value.String, value.Value, error) {
	k, err := keys.Whole(entry.Key)
	if err != nil {
		return value.String{}, nil, err
	}
	key, ok := k.(value.String)
	if !ok {
		return key, nil, outcome.Fail("key %s must be a string, not %s", syntax.Describe(entry.Key), value.A(k))
	}
	v, err := e.Whole(entry.Value)
	if err != nil {
		return key, nil, err
	}
	if value.IsUndefined(v) {
		v = value.Null{}
	}
	return key, v, nil
}

// scoped evaluates an expression with a scope literal in front.
func (e *Env) scoped(x *syntax.Scope) (value.Value, error) {
	names := make([]scope.Local, 0, len(x.Entries))
	for _, entry := range x.Entries {
		key, v, err := e.assign(e, entry)
		if err != nil {
			return nil, err
		}
		names = append(names, scope.Local{Name: key.Text, Node: value.New(v)})
	}
	return e.within(e.Scope.Push(names)).Whole(x.Body)
}

// span evaluates a range literal.
func (e *Env) span(x *syntax.Range) (value.Value, error) {
	if x.From == nil || x.To == nil {
		return nil, outcome.Fail("a range needs both ends")
	}
	from, to, undefined, err := e.bounds(x)
	if err != nil {
		return nil, err
	}
	if undefined {
		return value.Undefined{}, nil
	}
	count := uint64(to) - uint64(from) //nolint:gosec // a difference modulo 2^64 is right, where one of int64 overflows
	step := value.Int(1)
	if from > to {
		count, step = uint64(from)-uint64(to), -1 //nolint:gosec // as above
	}
	var values []value.Value
	for i := uint64(0); ; i++ {
		if err := e.Step(); err != nil { // a few characters ask for any number of values
			return nil, err
		}
		values = append(values, from+value.Int(i)*step)
		if i == count {
			return value.ListOf(values...), nil
		}
	}
}

func (e *Env) bounds(x *syntax.Range) (from, to value.Int, undefined bool, err error) {
	for _, end := range []struct {
		expr syntax.Expr
		to   *value.Int
	}{{x.From, &from}, {x.To, &to}} {
		if end.expr == nil {
			continue
		}
		v, err := e.Whole(end.expr)
		if err != nil {
			return 0, 0, false, err
		}
		if value.IsUndefined(v) {
			return 0, 0, true, nil
		}
		n, ok := v.(value.Int)
		if !ok {
			return 0, 0, false, outcome.Fail("range needs integers, not %s", value.A(v))
		}
		*end.to = n
	}
	return from, to, false, nil
}

// project applies the rest of a chain to every element.
func (e *Env) project(x *syntax.Project) (value.Value, error) {
	base, err := e.nodeOf(x.Base)
	if err != nil || value.IsUndefined(base.Value) {
		return value.Undefined{}, err
	}
	var items []*value.Node
	switch v := base.Value.(type) {
	case *value.List:
		items = v.Items
	case *value.Map:
		if x.Slice == nil {
			items = v.Items
			break
		}
		return nil, outcome.Fail("a slice needs a list, not a map")
	default:
		return nil, outcome.Fail("a projection needs a list or map, not %s", value.A(v))
	}
	if x.Slice != nil {
		whole, err := e.DeepContent(base.Value)
		if err != nil {
			return nil, outcome.Dependent(err, "'%s' unresolved", syntax.Describe(x.Base))
		}
		items, err = e.slice(whole.(*value.List).Items, x.Slice)
		if err != nil {
			return nil, err
		}
	}
	return e.projectItems(x, items)
}

func (e *Env) projectItems(x *syntax.Project, items []*value.Node) (value.Value, error) {
	results := make([]*value.Node, 0, len(items))
	for i, item := range items {
		v, err := e.Deep(item)
		if x.Rest != nil {
			inner := *e
			inner.element = item
			v, err = inner.Whole(x.Rest)
		}
		if failed := outcome.AsFailure(err); err != nil && failed != nil {
			return nil, outcome.Fail("element %d of %s: %s", i, syntax.Describe(x.Base), failed.Issue.Message)
		}
		if err != nil {
			return nil, outcome.Dependent(err, "'%s' unresolved", syntax.Describe(x.Base))
		}
		if !value.IsUndefined(v) {
			results = append(results, value.New(v))
		}
	}
	return value.NewList(results), nil
}

// slice cuts a list; both ends are inclusive.
func (e *Env) slice(items []*value.Node, x *syntax.Range) ([]*value.Node, error) {
	from, to, undefined, err := e.bounds(x)
	if err != nil || undefined {
		return nil, outcome.OrFail(err, "end of a slice is undefined")
	}
	n := value.Int(len(items))
	if x.To == nil {
		to = n - 1
	} else if x.From != nil && from < 0 && to >= 0 {
		return nil, outcome.Fail("slice mixes a start from the end with an end from the start")
	}
	if from < 0 {
		from += n
	}
	if to < 0 && x.To != nil {
		to += n
	}
	if from > to {
		return nil, nil
	}
	if from < 0 || to >= n {
		return nil, outcome.Fail("slice leaves the list of %d entries", n)
	}
	return items[from : to+1], nil
}

// indexed resolves a dynamic index.
func (e *Env) indexed(x *syntax.Index) (*value.Node, error) {
	var n *value.Node
	var err error
	if x.Base != nil {
		if n, err = e.nodeOf(x.Base); err != nil {
			return nil, err
		}
	}
	steps, err := e.indexSteps(x)
	if err != nil {
		return nil, err
	}
	if x.Base == nil {
		if len(steps) == 0 || steps[0].IsIndex && e.Doc.RootScope() != nil {
			return nil, outcome.Fail("%s not found", syntax.Describe(x))
		}
		if n, err = e.rootStep(steps[0]); err != nil {
			return nil, err
		}
		steps = steps[1:]
	}
	return e.Walk(n, steps, func(i int) string { return e.indexText(x, steps[:i]) })
}

func (e *Env) rootStep(s syntax.Step) (*value.Node, error) {
	var n *value.Node
	var err error
	if s.IsIndex {
		if _, err := e.Top(e.Doc.Root); err != nil {
			return nil, outcome.Dependent(err, "document root unresolved")
		}
		n, err = e.Child(e.Doc.Root, s)
	} else {
		n, err = e.Absolute(s.Key)
	}
	name := "." + e.stepText(s)
	if err != nil {
		return nil, outcome.Dependent(err, "'%s' unresolved", name)
	}
	if n == nil {
		return nil, outcome.Fail("'%s' not found", name)
	}
	if _, err := e.Top(n); err != nil {
		return nil, outcome.Dependent(err, "'%s' unresolved", name)
	}
	return n, nil
}

func (e *Env) indexText(x *syntax.Index, steps []syntax.Step) string {
	text := ""
	if x.Base != nil {
		text = syntax.Describe(x.Base)
	}
	for _, s := range steps {
		text += "." + e.stepText(s)
	}
	return text
}

// stepText shows a computed step, which may hold sensitive text.
func (e *Env) stepText(s syntax.Step) string {
	if e.Settings.Sensitive {
		return "[…]"
	}
	return syntax.StepText(s)
}

func (e *Env) indexSteps(x *syntax.Index) ([]syntax.Step, error) {
	nodes, undefined, err := e.Items(x.Items)
	if err != nil {
		return nil, err
	}
	if undefined {
		return nil, outcome.Fail("index of %s is undefined", syntax.Describe(x))
	}
	var steps []syntax.Step
	for _, n := range nodes {
		if steps, err = appendStep(steps, n.Value, true); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

func appendStep(steps []syntax.Step, v value.Value, lists bool) ([]syntax.Step, error) {
	switch v := v.(type) {
	case value.String:
		return append(steps, syntax.Step{Key: v.Text}), nil
	case value.Int:
		return append(steps, syntax.Step{Index: int(v), IsIndex: true}), nil
	case *value.List:
		if !lists {
			break
		}
		var err error
		for _, n := range v.Items {
			if steps, err = appendStep(steps, n.Value, false); err != nil {
				return nil, err
			}
		}
		return steps, nil
	}
	return nil, outcome.Fail("index must be a string, an integer or a list of them, not %s", value.A(v))
}
