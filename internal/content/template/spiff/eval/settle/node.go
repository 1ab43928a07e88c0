// Package settle gives the nodes of a document their values, in the order in which they need each
// other: expressions, maps with insert keys, lists with key fields, templates. The values of stubs
// are merged into a node here.
package settle

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Place makes the working node for a piece of content. Content in which
// nothing can happen is used as it is.
func (r *Runner) Place(raw *value.Node, s work.Slot) *value.Node {
	if raw.Work != nil {
		return raw
	}
	n := &value.Node{Value: raw.Value, Source: raw.Source, Line: raw.Line, Flags: raw.Flags}
	switch v := raw.Value.(type) {
	case *value.Map:
		if s.Leaves(v.Shape) {
			return raw
		}
	case *value.List:
		if s.Leaves(v.Shape) {
			return raw
		}
	case value.String:
		if v.Data || !r.Evaluates(v.Text) {
			return r.placeScalar(raw, n, s)
		}
	default:
		return r.placeScalar(raw, n, s)
	}
	n.Work = &work.Task{Slot: s, Raw: raw.Value}
	n.Value = nil
	return n
}

// placeScalar applies the stubs to a value that needs no evaluation.
func (r *Runner) placeScalar(raw, n *value.Node, s work.Slot) *value.Node {
	if s.Override {
		if hit := s.Stubs.Override(); hit != nil {
			r.adoptStub(n, s, hit)
			return n
		}
	}
	if r.instantiatesHere(n, s) {
		return n
	}
	return raw
}

// adoptStub replaces a node by a stub value; markers of both are kept.
func (r *Runner) adoptStub(n *value.Node, s work.Slot, hit *value.Node) {
	overridden := n.Flags
	n.Value, n.Work = hit.Value, nil
	n.Source, n.Line = hit.Source, hit.Line
	n.Flags = overridden | hit.Flags
	if s.InDefault || overridden.Has(value.Default) {
		n.Flags = n.Flags&^value.Default | value.Inject
	}
	r.instantiatesHere(n, s)
}

// instantiatesHere prepares a dynamic template for evaluation if this level is
// the one that uses it.
func (r *Runner) instantiatesHere(n *value.Node, s work.Slot) bool {
	if !n.Flags.Has(value.Dynamic) || !s.Doc.Final {
		return false
	}
	if _, ok := n.Value.(*scope.Template); !ok {
		return false
	}
	s.Override = false
	n.Work = &work.Task{Slot: s, Raw: n.Value}
	n.Value = nil
	return true
}

// Top settles the top level of a node: an expression has a value, a map has
// all its fields, a list all its entries.
func (r *Runner) Top(n *value.Node) (value.Value, error) {
	t, ok := n.Work.(*work.Task)
	if !ok {
		return n.Value, nil
	}
	switch t.State {
	case work.Done:
		return n.Value, nil
	case work.Blocked:
		return nil, t.Err
	case work.Running:
		if r.trying > 0 {
			return nil, outcome.ErrTried
		}
		return nil, outcome.ErrRunning
	}
	if r.nesting >= maxNesting {
		return nil, &outcome.Pending{Class: outcome.Waiting, Deferred: n, Issue: outcome.Issue{Message: "evaluation is deferred"}}
	}
	if r.stack >= maxStack {
		return nil, outcome.Fail("evaluations are nested deeper than %d nodes", maxStack)
	}
	t.State = work.Running
	r.nesting++
	r.stack++
	err := outcome.Clean(r.settle(n, t))
	r.nesting--
	r.stack--
	switch {
	case err == nil:
		t.State = work.Done
		if !value.IsOpen(n.Value) {
			n.Work = nil
		}
		return n.Value, nil
	case outcome.Again(err):
		t.State = work.Fresh
		return nil, err
	}
	t.State, t.Err = work.Blocked, err
	return nil, err
}

// TryTop settles a node if it does not depend on one that is being evaluated. If it does, it stays
// as it is: this is no cycle as long as no other node needs it.
func (r *Runner) TryTop(n *value.Node) (value.Value, error) {
	r.trying++
	defer func() { r.trying-- }()
	return r.Top(n)
}

func (r *Runner) settle(n *value.Node, t *work.Task) error {
	if err := r.Step(); err != nil {
		return err
	}
	switch raw := t.Raw.(type) {
	case value.String:
		return r.settleExpression(n, t)
	case *value.Map:
		return r.settleMap(n, t, raw)
	case *value.List:
		return r.settleList(n, t, raw)
	case *scope.Template:
		v, err := r.instantiateAt(n, t, raw)
		if err != nil {
			return err
		}
		n.Value = v
	}
	return nil
}

// Deep settles a node with everything below it. It returns the outcome of the
// first node below that has no value.
func (r *Runner) Deep(n *value.Node) (value.Value, error) {
	v, err := r.Top(n)
	if err != nil || !value.IsOpen(v) {
		return v, err
	}
	t, _ := n.Work.(*work.Task)
	if t != nil && t.DeepErr != nil {
		return nil, t.DeepErr
	}
	whole, err := r.DeepContent(v)
	if err != nil {
		if t != nil && !outcome.Again(err) {
			t.DeepErr = err
		}
		return nil, err
	}
	if t != nil {
		n.Value = whole
		n.Work = nil
	}
	return whole, nil
}

// DeepContent settles the content of a list or map and leaves the undefined
// nodes out.
func (r *Runner) DeepContent(v value.Value) (value.Value, error) {
	switch v := v.(type) {
	case *value.List:
		items, err := r.deepItems(v.Items)
		if err != nil {
			return nil, err
		}
		whole := value.NewList(defined(items))
		whole.Key = v.Key
		return whole, nil
	case *value.Map:
		if _, err := r.deepItems(v.Items); err != nil {
			return nil, err
		}
		return definedMap(v), nil
	}
	return v, nil
}

func (r *Runner) deepItems(items []*value.Node) ([]*value.Node, error) {
	for _, item := range items {
		if _, err := r.Deep(item); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// defined leaves out the entries that are undefined.
func defined(items []*value.Node) []*value.Node {
	for i, item := range items {
		if !value.IsUndefined(item.Value) {
			continue
		}
		kept := append([]*value.Node(nil), items[:i]...)
		for _, rest := range items[i:] {
			if !value.IsUndefined(rest.Value) {
				kept = append(kept, rest)
			}
		}
		return kept
	}
	return items
}

func definedMap(m *value.Map) *value.Map {
	keys := make([]string, 0, len(m.Keys))
	items := make([]*value.Node, 0, len(m.Keys))
	for i, item := range m.Items {
		if !value.IsUndefined(item.Value) {
			keys = append(keys, m.Keys[i])
			items = append(items, item)
		}
	}
	return value.NewMap(keys, items, m.Data)
}

// drive evaluates a node completely. Chains of nodes that get too long for one
// recursion are evaluated from their far end.
func (r *Runner) drive(n *value.Node, evaluate func(*value.Node) error) error {
	outer := r.nesting
	r.nesting = 0
	defer func() { r.nesting = outer }()
	for {
		err := evaluate(n)
		next := outcome.DeferredNode(err)
		if next == nil {
			return err
		}
		r.catchUp(next)
	}
}

// catchUp evaluates a deferred node, and first the nodes that it defers to.
func (r *Runner) catchUp(first *value.Node) {
	queue := []*value.Node{first}
	queued := map[*value.Node]bool{first: true}
	for len(queue) > 0 {
		last := queue[len(queue)-1]
		_, err := r.Top(last)
		next := outcome.DeferredNode(err)
		switch {
		case next == nil:
			queue = queue[:len(queue)-1]
		case queued[next]:
			// Every queued node needs the one behind it: this is a cycle.
			t := next.Work.(*work.Task)
			t.State, t.Err = work.Blocked, outcome.ErrRunning
		default:
			queue = append(queue, next)
			queued[next] = true
		}
	}
}

// SettleAll evaluates everything below a node and continues after failures, so that the report is
// complete.
func (r *Runner) SettleAll(n *value.Node) error {
	v, err := r.topAll(n)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *value.List:
		if v.Shape.Open {
			err = r.settleItems(v.Items)
		}
	case *value.Map:
		if v.Shape.Open {
			err = r.settleItems(v.Items)
		}
	}
	return err
}

func (r *Runner) settleItems(items []*value.Node) error {
	for _, item := range items {
		if err := r.SettleAll(item); err != nil {
			return err
		}
	}
	return nil
}

// topAll settles one node with a fresh nesting and returns only aborts.
func (r *Runner) topAll(n *value.Node) (value.Value, error) {
	err := r.drive(n, func(n *value.Node) error {
		_, err := r.Top(n)
		return err
	})
	if outcome.Aborted(err) {
		return nil, err
	}
	return n.Value, nil
}
