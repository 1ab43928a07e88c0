// Package reference finds the node that a name, a path or a tag addresses from a place.
package reference

import (
	"errors"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Names with a meaning of their own.
const (
	selfName    = "_"
	hostName    = "__"
	outerName   = "___"
	contextName = "__ctx"
	rootMapName = "__map"
)

// Finder finds the nodes that the expressions of one place address.
type Finder struct {
	*work.Run
	work.Surroundings
}

// Find finds the node that a static reference addresses and settles its
// top level.
func (f *Finder) Find(ref *syntax.Ref) (*value.Node, error) {
	if err := f.Step(); err != nil {
		return nil, err
	}
	name := func(i int) string { return syntax.RefText(ref, i) }
	if ref.Tag != "" {
		return f.tagged(ref)
	}
	first, err := f.start(ref)
	if err != nil {
		return nil, err
	}
	if first == nil {
		return nil, outcome.Fail("'%s' not found%s", name(1), f.hint(ref))
	}
	if first == f.Site.Node && len(ref.Steps) > 1 && !ref.Absolute {
		// Nothing else has the name, and what is being computed has no parts yet.
		return nil, outcome.Fail("'%s' not found", name(2))
	}
	if _, err := f.Top(first); err != nil {
		return nil, outcome.Dependent(err, "'%s' unresolved", name(1))
	}
	if value.IsUndefined(first.Value) {
		return nil, outcome.Fail("'%s' not found", name(1))
	}
	n, err := f.Walk(first, ref.Steps[1:], func(i int) string { return name(i + 1) })
	if failed, ok := errors.AsType[*outcome.Failure](err); ok && first != f.binding(ref.Steps[0].Key) {
		return nil, outcome.Fail("%s%s", failed.Issue.Message, f.hint(ref))
	}
	return n, err
}

// start finds the node of the first step, or nil.
func (f *Finder) start(ref *syntax.Ref) (*value.Node, error) {
	key := ref.Steps[0].Key
	if ref.Absolute {
		return f.Absolute(key)
	}
	if strings.HasPrefix(key, "_") {
		if n, ok, err := f.special(ref); ok {
			return n, err
		}
	}
	return f.lookup(f.Scope, key)
}

// special resolves the names that start with an underscore and have a meaning.
func (f *Finder) special(ref *syntax.Ref) (n *value.Node, ok bool, err error) {
	key := ref.Steps[0].Key
	switch key {
	case selfName:
		return f.self(ref)
	case contextName:
		return value.New(f.contextMap()), true, nil
	case hostName, outerName:
		return f.skipLocals(key, len(ref.Steps) == 1), true, nil
	}
	return nil, false, nil
}

// self resolves "_": the lambda or template, or with further steps the place
// of its definition.
func (f *Finder) self(ref *syntax.Ref) (*value.Node, bool, error) {
	for s := f.Scope; s != nil; s = s.Parent {
		if s.Self == nil {
			continue
		}
		if len(ref.Steps) == 1 {
			return value.New(s.Self), true, nil
		}
		return value.New(&view{scope: scope.Definition(s.Self), finder: f}), true, nil
	}
	return nil, false, nil
}

// view is the value of a name that stands for a whole chain of scopes, such as
// "_" with a path behind it.
type view struct {
	scope  *scope.Level
	finder *Finder
}

// TypeName implements value.Value.
func (v *view) TypeName() string { return "map" }

func (f *Finder) skipLocals(key string, alone bool) *value.Node {
	if key == outerName {
		doc := f.outermost()
		if doc.Bindings != nil {
			return doc.Bindings
		}
		return doc.Root
	}
	if s := f.Scope.Document(); alone && s != nil {
		return s.Owner
	}
	return value.New(&view{scope: documents(f.Scope), finder: f})
}

// documents is the chain of scopes without the local ones.
func documents(s *scope.Level) *scope.Level {
	s = s.Document()
	if s == nil {
		return nil
	}
	return s.Under(documents(s.Parent))
}

// lookup finds a relative name in the scopes, the outer documents and the bindings. If the nearest
// hit is the very node being evaluated, the search continues; only without another hit it stays.
func (f *Finder) lookup(s *scope.Level, name string) (*value.Node, error) {
	var own *value.Node
	for ; s != nil; s = s.Parent {
		n, err := s.Get(name)
		if err != nil {
			return nil, err
		}
		if n == nil {
			continue
		}
		if !f.evaluating(n) {
			return n, nil
		}
		if own == nil {
			own = n
		}
	}
	if outer := f.Doc.Outer; outer != nil {
		n, err := (&Finder{Run: f.Run, Surroundings: *outer}).lookup(outer.Scope, name)
		if err != nil || n != nil {
			return n, err
		}
	}
	if n := f.binding(name); n != nil {
		return n, nil
	}
	return own, nil
}

// evaluating reports whether a node is the one that the expression belongs to.
func (f *Finder) evaluating(n *value.Node) bool {
	return n == f.Site.Node || n == f.Site.Task.Host
}

func (f *Finder) binding(name string) *value.Node {
	if f.Doc.Bindings == nil {
		return nil
	}
	if m, ok := f.Doc.Bindings.Value.(*value.Map); ok {
		return m.Get(name)
	}
	return nil
}

// Absolute finds a field of the document root, then a binding.
func (f *Finder) Absolute(name string) (*value.Node, error) {
	var n *value.Node
	switch root := f.Doc.RootScope(); {
	case root != nil:
		found, err := root.Get(name)
		if err != nil {
			return nil, err
		}
		n = found
	case name == rootMapName:
		if s := f.Scope.Outermost(); s != nil {
			return value.New(&view{scope: s.Under(nil), finder: f}), nil
		}
	case f.Doc.Root == f.Site.Node || computed(f.Doc.Root):
		// Whatever is evaluated stands inside of the expression that is the whole
		// document. A file that it reads at this place has the fields.
		if s := f.Scope.Outermost(); s != nil {
			found, err := s.Get(name)
			if err != nil {
				return nil, err
			}
			n = found
		}
	default:
		if _, err := f.Top(f.Doc.Root); err != nil {
			return nil, outcome.Dependent(err, "'.%s' unresolved", name)
		}
		if child, err := f.Child(f.Doc.Root, syntax.Step{Key: name}); err != nil || child != nil {
			return child, err
		}
	}
	if n == nil || f.evaluating(n) {
		if bound := f.binding(name); bound != nil {
			return bound, nil
		}
	}
	return n, nil
}

// computed reports whether a node is an expression that is being evaluated.
func computed(n *value.Node) bool {
	t, ok := n.Work.(*work.Task)
	if !ok || t.State != work.Running {
		return false
	}
	_, isText := t.Raw.(value.String)
	return isText
}

// Walk follows static steps; name gives the text of the first i steps.
func (f *Finder) Walk(n *value.Node, steps []syntax.Step, name func(i int) string) (*value.Node, error) {
	for i, s := range steps {
		next, err := f.Child(n, s)
		if err != nil {
			return nil, outcome.Dependent(err, "'%s' unresolved", name(i+1))
		}
		if next == nil {
			return nil, outcome.Fail("'%s' not found", name(i+1))
		}
		if _, err := f.Top(next); err != nil {
			return nil, outcome.Dependent(err, "'%s' unresolved", name(i+1))
		}
		if value.IsUndefined(next.Value) {
			return nil, outcome.Fail("'%s' not found", name(i+1))
		}
		n = next
	}
	return n, nil
}

// Child is one step below a node whose top level is settled; nil if there is
// no such child.
func (f *Finder) Child(n *value.Node, s syntax.Step) (*value.Node, error) {
	switch v := n.Value.(type) {
	case *view:
		if s.IsIndex {
			return nil, nil
		}
		return v.finder.lookup(v.scope, s.Key)
	case *value.Map:
		if s.IsIndex {
			return nil, nil
		}
		return v.Get(s.Key), nil
	case *value.List:
		if s.IsIndex {
			return f.entry(v, s.Index)
		}
		return f.namedEntry(v, s.Key)
	}
	return nil, nil
}

// entry is a list entry by position. Entries that turn out to be undefined do
// not count; those that depend on the node being evaluated do.
func (f *Finder) entry(l *value.List, index int) (*value.Node, error) {
	if !l.Shape.Open {
		if i := place.ListIndex(len(l.Items), index); i >= 0 {
			return l.Items[i], nil
		}
		return nil, nil
	}
	var live []*value.Node
	for _, n := range l.Items {
		if index >= 0 && len(live) > index {
			break
		}
		v, err := f.TryTop(n)
		if outcome.Aborted(err) || outcome.DeferredNode(err) != nil {
			return nil, err
		}
		if err != nil || !value.IsUndefined(v) {
			live = append(live, n)
		}
	}
	if i := place.ListIndex(len(live), index); i >= 0 {
		return live[i], nil
	}
	return nil, nil
}

// namedEntry is the entry of a list of maps with a value in the key field.
func (f *Finder) namedEntry(l *value.List, step string) (*value.Node, error) {
	field, want := place.KeyStep(step, l.Key)
	var open error
	for _, n := range l.Items {
		v, err := f.Top(n)
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
		if _, err := f.Top(key); err != nil {
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
func (f *Finder) hint(ref *syntax.Ref) string {
	if ref.Absolute || len(ref.Steps) == 0 {
		return ""
	}
	if n := f.binding(ref.Steps[0].Key); n != nil {
		return " (the binding of that name is hidden, use ___." + ref.Steps[0].Key + ")"
	}
	return ""
}
