package place

import (
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Stubs is the counterpart of a place in every stub of the document, in
// command line order. A nil pointer means that no stub has the place.
type Stubs struct {
	nodes   []*value.Node
	implied []bool // below a map marked as default
}

// StubsOf starts at the roots of the stubs.
func StubsOf(roots []*value.Node) *Stubs {
	if len(roots) == 0 {
		return nil
	}
	return &Stubs{nodes: roots, implied: make([]bool, len(roots))}
}

// child follows one step in every stub.
func (s *Stubs) child(step func(*value.Node) *value.Node) *Stubs {
	if s == nil {
		return nil
	}
	var next *Stubs
	for i, n := range s.nodes {
		if n == nil {
			continue
		}
		child := step(n)
		if child == nil {
			continue
		}
		if next == nil {
			next = &Stubs{nodes: make([]*value.Node, len(s.nodes)), implied: make([]bool, len(s.nodes))}
		}
		next.nodes[i] = child
		next.implied[i] = (s.implied[i] || n.Flags.Has(value.Default)) && !child.Flags.Has(value.Inject)
	}
	return next
}

// Field follows a field in every stub.
func (s *Stubs) Field(key string) *Stubs {
	return s.child(func(n *value.Node) *value.Node {
		if m, ok := n.Value.(*value.Map); ok {
			return m.Get(key)
		}
		return nil
	})
}

// Entry finds a list entry by position, or by the value of a key field.
func (s *Stubs) Entry(index int, keyField, keyValue string) *Stubs {
	return s.child(func(n *value.Node) *value.Node {
		l, ok := n.Value.(*value.List)
		if !ok {
			return nil
		}
		if keyField != "" {
			return entryByKey(l, keyField, keyValue)
		}
		if index < len(l.Items) {
			return l.Items[index]
		}
		return nil
	})
}

// entryByKey finds the entry of a finished list whose key field has a value.
func entryByKey(l *value.List, field, want string) *value.Node {
	for _, item := range l.Items {
		m, ok := item.Value.(*value.Map)
		if !ok {
			continue
		}
		if s, ok := m.Field(field).(value.String); ok && s.Text == want {
			return item
		}
	}
	return nil
}

// Follow walks a static path through the stubs.
func (s *Stubs) Follow(steps []syntax.Step) *Stubs {
	for _, step := range steps {
		s = s.child(func(n *value.Node) *value.Node { return finishedStep(n, step) })
	}
	return s
}

// finishedStep is one step through finished nodes.
func finishedStep(n *value.Node, step syntax.Step) *value.Node {
	switch v := n.Value.(type) {
	case *value.Map:
		if !step.IsIndex {
			return v.Get(step.Key)
		}
	case *value.List:
		if step.IsIndex {
			if i := ListIndex(len(v.Items), step.Index); i >= 0 {
				return v.Items[i]
			}
			return nil
		}
		field, want := KeyStep(step.Key, v.Key)
		return entryByKey(v, field, want)
	}
	return nil
}

// First is the node of the first stub having the place, or nil.
func (s *Stubs) First() *value.Node {
	if s == nil {
		return nil
	}
	for _, n := range s.nodes {
		if n != nil {
			return n
		}
	}
	return nil
}

// Override is the node that replaces the template's node, or nil. Defaults
// never override.
func (s *Stubs) Override() *value.Node {
	if s == nil {
		return nil
	}
	for i, n := range s.nodes {
		if n == nil {
			continue
		}
		if s.implied[i] || n.Flags.Has(value.Default) {
			return nil
		}
		return n
	}
	return nil
}

// InjectedFields adds the fields that the stubs inject into a map.
func (s *Stubs) InjectedFields(b *value.Builder) map[string]*value.Node {
	if s == nil {
		return nil
	}
	var added map[string]*value.Node
	for _, n := range s.nodes {
		if n == nil {
			continue
		}
		m, ok := n.Value.(*value.Map)
		if !ok || !m.Shape.Marked {
			continue
		}
		for i, key := range m.Keys {
			if !m.Items[i].Flags.Any(value.Inject|value.Default) || b.Get(key) != nil || added[key] != nil {
				continue
			}
			if added == nil {
				added = map[string]*value.Node{}
			}
			added[key] = m.Items[i]
		}
	}
	return added
}

// InjectedEntries returns the entries that the stubs inject into a list.
func (s *Stubs) InjectedEntries() []*value.Node {
	if s == nil {
		return nil
	}
	for _, n := range s.nodes {
		if n == nil {
			continue
		}
		l, ok := n.Value.(*value.List)
		if !ok {
			return nil
		}
		var entries []*value.Node
		for _, item := range l.Items {
			if item.Flags.Has(value.Inject) {
				entries = append(entries, item)
			}
		}
		return entries
	}
	return nil
}
