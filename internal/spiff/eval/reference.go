package eval

import (
	"errors"
	"strings"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// Names with a meaning of their own.
const (
	selfName    = "_"
	hostName    = "__"
	outerName   = "___"
	contextName = "__ctx"
	rootMapName = "__map"
)

// refText is the text of the first n steps of a reference.
func refText(ref *syntax.Ref, n int) string {
	text := stepsText(ref.Steps[:n])
	switch {
	case ref.Tag != "" && n == 0:
		return ref.Tag + "::."
	case ref.Tag != "":
		return ref.Tag + "::" + text
	case ref.Absolute:
		return "." + text
	}
	return text
}

// reference finds the node that a static reference addresses and settles its
// top level.
func (e *env) reference(ref *syntax.Ref) (*value.Node, error) {
	if err := e.step(1); err != nil {
		return nil, err
	}
	name := func(i int) string { return refText(ref, i) }
	if ref.Tag != "" {
		return e.tagged(ref)
	}
	first, err := e.start(ref)
	if err != nil {
		return nil, err
	}
	if first == nil {
		return nil, fail("'%s' not found%s", name(1), e.hint(ref))
	}
	if _, err := e.top(first); err != nil {
		return nil, waiting(err, "'%s' unresolved", name(1))
	}
	if value.IsUndefined(first.Value) {
		return nil, fail("'%s' not found", name(1))
	}
	n, err := e.walk(first, ref.Steps[1:], func(i int) string { return name(i + 1) })
	if f, ok := errors.AsType[*Failure](err); ok && first != e.binding(ref.Steps[0].Key) {
		return nil, fail("%s%s", f.Issue.Message, e.hint(ref))
	}
	return n, err
}

// start finds the node of the first step, or nil.
func (e *env) start(ref *syntax.Ref) (*value.Node, error) {
	key := ref.Steps[0].Key
	if ref.Absolute {
		return e.absolute(key)
	}
	if strings.HasPrefix(key, "_") {
		if n, ok, err := e.special(ref); ok {
			return n, err
		}
	}
	return e.lookup(e.scope, key)
}

// special resolves the names that start with an underscore and have a meaning.
func (e *env) special(ref *syntax.Ref) (n *value.Node, ok bool, err error) {
	key := ref.Steps[0].Key
	switch key {
	case selfName:
		return e.self(ref)
	case contextName:
		return value.New(e.context()), true, nil
	case hostName, outerName:
		return e.skipLocals(key, len(ref.Steps) == 1), true, nil
	}
	return nil, false, nil
}

// self resolves "_": the lambda or template, or with further steps the place
// of its definition.
func (e *env) self(ref *syntax.Ref) (*value.Node, bool, error) {
	for s := e.scope; s != nil; s = s.parent {
		if s.self == nil {
			continue
		}
		if len(ref.Steps) == 1 {
			return value.New(s.self), true, nil
		}
		return value.New(&view{scope: definition(s.self), env: e}), true, nil
	}
	return nil, false, nil
}

// view is the value of a name that stands for a whole chain of scopes, such as
// "_" with a path behind it.
type view struct {
	scope *scope
	env   *env
}

// TypeName implements value.Value.
func (v *view) TypeName() string { return "map" }

func (e *env) skipLocals(key string, alone bool) *value.Node {
	if key == outerName {
		outer := e
		for outer.doc.outer != nil {
			outer = outer.doc.outer
		}
		if outer.doc.bindings != nil {
			return outer.doc.bindings
		}
		return outer.doc.root
	}
	if s := e.scope.document(); alone && s != nil {
		return s.owner
	}
	return value.New(&view{scope: documents(e.scope), env: e})
}

// documents is the chain of scopes without the local ones.
func documents(s *scope) *scope {
	s = s.document()
	if s == nil {
		return nil
	}
	return s.under(documents(s.parent))
}

// lookup finds a relative name in the scopes, the outer documents and the
// bindings. If the nearest hit is the very node being evaluated, the search
// goes on; only without another hit it stays.
func (e *env) lookup(s *scope, name string) (*value.Node, error) {
	var own *value.Node
	for ; s != nil; s = s.parent {
		n, err := s.get(name)
		if err != nil {
			return nil, err
		}
		if n == nil {
			continue
		}
		if !e.evaluating(n) {
			return n, nil
		}
		if own == nil {
			own = n
		}
	}
	if e.doc.outer != nil {
		n, err := e.doc.outer.lookup(e.doc.outer.scope, name)
		if err != nil || n != nil {
			return n, err
		}
	}
	if n := e.binding(name); n != nil {
		return n, nil
	}
	return own, nil
}

// evaluating tells whether a node is the one that the expression belongs to.
func (e *env) evaluating(n *value.Node) bool {
	return n == e.site.node || n == e.site.task.host
}

func (e *env) binding(name string) *value.Node {
	if e.doc.bindings == nil {
		return nil
	}
	if m, ok := e.doc.bindings.Value.(*value.Map); ok {
		return m.Get(name)
	}
	return nil
}

// absolute finds a field of the document root, then a binding.
func (e *env) absolute(name string) (*value.Node, error) {
	var n *value.Node
	switch root := e.doc.rootScope(); {
	case root != nil:
		found, err := root.get(name)
		if err != nil {
			return nil, err
		}
		n = found
	case name == rootMapName:
		if s := e.scope.outermost(); s != nil {
			return value.New(&view{scope: s.under(nil), env: e}), nil
		}
	case e.doc.root == e.site.node:
	default:
		if _, err := e.top(e.doc.root); err != nil {
			return nil, waiting(err, "'.%s' unresolved", name)
		}
		if child, err := e.child(e.doc.root, syntax.Step{Key: name}); err != nil || child != nil {
			return child, err
		}
	}
	if n == nil || e.evaluating(n) {
		if bound := e.binding(name); bound != nil {
			return bound, nil
		}
	}
	return n, nil
}

// walk follows static steps; name gives the text of the first i steps.
func (e *env) walk(n *value.Node, steps []syntax.Step, name func(i int) string) (*value.Node, error) {
	for i, s := range steps {
		next, err := e.child(n, s)
		if err != nil {
			return nil, waiting(err, "'%s' unresolved", name(i+1))
		}
		if next == nil {
			return nil, fail("'%s' not found", name(i+1))
		}
		if _, err := e.top(next); err != nil {
			return nil, waiting(err, "'%s' unresolved", name(i+1))
		}
		if value.IsUndefined(next.Value) {
			return nil, fail("'%s' not found", name(i+1))
		}
		n = next
	}
	return n, nil
}

// child is one step below a node whose top level is settled; nil if there is
// no such child.
func (e *env) child(n *value.Node, s syntax.Step) (*value.Node, error) {
	switch v := n.Value.(type) {
	case *view:
		if s.IsIndex {
			return nil, nil
		}
		return v.env.lookup(v.scope, s.Key)
	case *value.Map:
		if s.IsIndex {
			return nil, nil
		}
		return v.Get(s.Key), nil
	case *value.List:
		if s.IsIndex {
			return e.entry(v, s.Index)
		}
		return e.namedEntry(v, s.Key)
	}
	return nil, nil
}

// entry is a list entry by position. Entries that turn out to be undefined do
// not count; those that depend on the node being evaluated do.
func (e *env) entry(l *value.List, index int) (*value.Node, error) {
	if !l.Shape.Open {
		if i := listIndex(len(l.Items), index); i >= 0 {
			return l.Items[i], nil
		}
		return nil, nil
	}
	var live []*value.Node
	for _, n := range l.Items {
		if index >= 0 && len(live) > index {
			break
		}
		v, err := e.tryTop(n)
		if aborted(err) || deferredNode(err) != nil {
			return nil, err
		}
		if err != nil || !value.IsUndefined(v) {
			live = append(live, n)
		}
	}
	if i := listIndex(len(live), index); i >= 0 {
		return live[i], nil
	}
	return nil, nil
}

// namedEntry is the entry of a list of maps with a value in the key field.
func (e *env) namedEntry(l *value.List, step string) (*value.Node, error) {
	field, want := keyStep(step, l.Key)
	var open error
	for _, n := range l.Items {
		v, err := e.top(n)
		if err != nil {
			open = err
			continue
		}
		m, ok := v.(*value.Map)
		if !ok {
			continue
		}
		key := m.Get(field)
		if key == nil {
			continue
		}
		if _, err := e.top(key); err != nil {
			open = err
			continue
		}
		if s, ok := key.Value.(value.String); ok && s.Text == want {
			return n, nil
		}
	}
	return nil, open
}

// hint explains a missing name that a binding of the same name would have had.
func (e *env) hint(ref *syntax.Ref) string {
	if ref.Absolute || len(ref.Steps) == 0 {
		return ""
	}
	if n := e.binding(ref.Steps[0].Key); n != nil {
		return " (the binding of that name is hidden, use ___." + ref.Steps[0].Key + ")"
	}
	return ""
}
