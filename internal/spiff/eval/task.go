package eval

import (
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// slot is a place in the document that is being built.
type slot struct {
	doc      *document
	scope    *scope
	path     *path // as reported
	stubPath *path // as looked up in the stubs
	stubs    *stubs
	// override allows a stub value to replace the node, inner the fields below.
	override, inner bool
	// inDefault is set below a map that is marked as default.
	inDefault bool
	// host is the map or list that an insert expression belongs to.
	host *value.Node
}

// state is the progress of a task.
type state uint8

const (
	fresh   state = iota
	running       // further up in the chain of evaluations
	done          // top level settled
	blocked       // failed or pending, see err
)

// task is the work left on a node: an expression to evaluate, a map or list
// to complete.
type task struct {
	slot
	raw   value.Value
	state state
	err   error
	// deepErr keeps why the content below a settled top level is not finished.
	deepErr error
	info    *info
	// inserts are the insert keys of the node, kept for the report; insert is
	// the work of the last one.
	inserts []*value.Node
	insert  *task
	// expr, expression and refers are what the report shows.
	expr               syntax.Expr
	expression, refers string
	reevaluated        int
}

// info collects what an expression says about the node hosting it.
type info struct {
	flags    value.Flags
	merged   bool // the value came from the stubs
	none     bool // stub override is switched off
	replace  bool
	prefer   bool
	redirect *redirect
	key      string // key field for a list
	template *templateMarker
}

// redirect is the place in the stubs that replaces the implied one.
type redirect struct {
	path  *path
	stubs *stubs
}

// place makes the working node for a piece of content. Content in which
// nothing can happen is used as it is.
func (r *run) place(raw *value.Node, s slot) *value.Node {
	if raw.Work != nil {
		return raw
	}
	n := &value.Node{Value: raw.Value, Source: raw.Source, Line: raw.Line, Flags: raw.Flags}
	switch v := raw.Value.(type) {
	case *value.Map:
		if s.leaves(v.Shape) {
			return raw
		}
	case *value.List:
		if s.leaves(v.Shape) {
			return raw
		}
	case value.String:
		if v.Data || !r.evaluates(v.Text) {
			return r.placeScalar(raw, n, s)
		}
	default:
		return r.placeScalar(raw, n, s)
	}
	n.Work = &task{slot: s, raw: raw.Value}
	n.Value = nil
	return n
}

// leaves tells whether nothing can happen in a structure of that shape.
func (s slot) leaves(shape value.Shape) bool {
	return !shape.Active && s.stubs == nil && (!s.doc.final || !shape.Marked)
}

// placeScalar applies the stubs to a value that needs no evaluation.
func (r *run) placeScalar(raw, n *value.Node, s slot) *value.Node {
	if s.override {
		if hit := s.stubs.override(); hit != nil {
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
func (r *run) adoptStub(n *value.Node, s slot, hit *value.Node) {
	overridden := n.Flags
	n.Value, n.Work = hit.Value, nil
	n.Source, n.Line = hit.Source, hit.Line
	n.Flags = overridden | hit.Flags
	if s.inDefault || overridden.Has(value.Default) {
		n.Flags = n.Flags&^value.Default | value.Inject
	}
	r.instantiatesHere(n, s)
}

// instantiatesHere prepares a dynamic template for evaluation if this level is
// the one that uses it.
func (r *run) instantiatesHere(n *value.Node, s slot) bool {
	if !n.Flags.Has(value.Dynamic) || !s.doc.final {
		return false
	}
	if _, ok := n.Value.(*template); !ok {
		return false
	}
	s.override = false
	n.Work = &task{slot: s, raw: n.Value}
	n.Value = nil
	return true
}

// top settles the top level of a node: an expression has a value, a map has
// all its fields, a list all its entries.
func (r *run) top(n *value.Node) (value.Value, error) {
	t, ok := n.Work.(*task)
	if !ok {
		return n.Value, nil
	}
	switch t.state {
	case done:
		return n.Value, nil
	case blocked:
		return nil, t.err
	case running:
		if r.trying > 0 {
			return nil, errTried
		}
		return nil, errRunning
	}
	if r.nesting >= maxNesting {
		return nil, &Pending{Class: Waiting, deferred: n, Issue: Issue{Message: "evaluation is deferred"}}
	}
	if r.stack >= maxStack {
		return nil, fail("evaluations are nested deeper than %d nodes", maxStack)
	}
	t.state = running
	r.nesting++
	r.stack++
	err := clean(r.settle(n, t))
	r.nesting--
	r.stack--
	switch {
	case err == nil:
		t.state = done
		if !value.IsOpen(n.Value) {
			n.Work = nil
		}
		return n.Value, nil
	case again(err):
		t.state = fresh
		return nil, err
	}
	t.state, t.err = blocked, err
	return nil, err
}

// tryTop settles a node if it does not depend on one that is being evaluated.
// If it does, it stays as it is: this is no cycle as long as nobody needs it.
func (r *run) tryTop(n *value.Node) (value.Value, error) {
	r.trying++
	defer func() { r.trying-- }()
	return r.top(n)
}

func (r *run) settle(n *value.Node, t *task) error {
	if err := r.step(1); err != nil {
		return err
	}
	switch raw := t.raw.(type) {
	case value.String:
		return r.settleExpression(n, t)
	case *value.Map:
		return r.settleMap(n, t, raw)
	case *value.List:
		return r.settleList(n, t, raw)
	case *template:
		v, err := r.instantiateAt(n, t, raw)
		if err != nil {
			return err
		}
		n.Value = v
	}
	return nil
}

// deep settles a node with everything below it. It returns the outcome of the
// first node below that has no value.
func (r *run) deep(n *value.Node) (value.Value, error) {
	v, err := r.top(n)
	if err != nil || !value.IsOpen(v) {
		return v, err
	}
	t, _ := n.Work.(*task)
	if t != nil && t.deepErr != nil {
		return nil, t.deepErr
	}
	whole, err := r.deepContent(v)
	if err != nil {
		if t != nil && !again(err) {
			t.deepErr = err
		}
		return nil, err
	}
	if t != nil {
		n.Value = whole
		n.Work = nil
	}
	return whole, nil
}

// deepContent settles the content of a list or map and leaves the undefined
// nodes out.
func (r *run) deepContent(v value.Value) (value.Value, error) {
	switch v := v.(type) {
	case *value.List:
		items, err := r.deepItems(v.Items)
		if err != nil {
			return nil, err
		}
		whole := value.NewList(defined(items))
		whole.Key = v.Key
		return r.bounded(whole)
	case *value.Map:
		if _, err := r.deepItems(v.Items); err != nil {
			return nil, err
		}
		return r.bounded(definedMap(v))
	}
	return v, nil
}

func (r *run) deepItems(items []*value.Node) ([]*value.Node, error) {
	for _, item := range items {
		if _, err := r.deep(item); err != nil {
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
func (r *run) drive(n *value.Node, evaluate func(*value.Node) error) error {
	outer := r.nesting
	r.nesting = 0
	defer func() { r.nesting = outer }()
	for {
		err := evaluate(n)
		next := deferredNode(err)
		if next == nil {
			return err
		}
		r.catchUp(next)
	}
}

// catchUp evaluates a deferred node, and first the nodes that it defers to.
func (r *run) catchUp(first *value.Node) {
	queue := []*value.Node{first}
	queued := map[*value.Node]bool{first: true}
	for len(queue) > 0 {
		last := queue[len(queue)-1]
		_, err := r.top(last)
		next := deferredNode(err)
		switch {
		case next == nil:
			queue = queue[:len(queue)-1]
		case queued[next]:
			// Every queued node needs the one behind it: this is a cycle.
			t := next.Work.(*task)
			t.state, t.err = blocked, errRunning
		default:
			queue = append(queue, next)
			queued[next] = true
		}
	}
}

// settleAll evaluates everything below a node and goes on after failures, so
// that the report is complete.
func (r *run) settleAll(n *value.Node) error {
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

func (r *run) settleItems(items []*value.Node) error {
	for _, item := range items {
		if err := r.settleAll(item); err != nil {
			return err
		}
	}
	return nil
}

// topAll settles one node with a fresh nesting and returns only aborts.
func (r *run) topAll(n *value.Node) (value.Value, error) {
	err := r.drive(n, func(n *value.Node) error {
		_, err := r.top(n)
		return err
	})
	if aborted(err) {
		return nil, err
	}
	return n.Value, nil
}
