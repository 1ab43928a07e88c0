package eval

import (
	"go.landscaper.dev/internal/spiff/value"
)

// scope is one level of name lookup. It is a document map, or a frame of local
// names (parameters, scope literals, "_").
type scope struct {
	parent *scope

	// Document maps.
	owner  *value.Node // node of the map
	raw    *value.Map  // content as written
	fields *value.Map  // fields once the insert key is settled

	same *scope // the level that this one is another view of

	// Local frames.
	names []local
	self  value.Value            // what "_" means, nil if unchanged
	flat  map[string]*value.Node // all local names visible here, made on demand
}

type local struct {
	name string
	node *value.Node
}

func (s *scope) isDocument() bool { return s.owner != nil }

// get finds a name in this level only. Fields of a map whose insert key is not
// settled yet can be seen as long as nothing in them needs evaluation.
func (s *scope) get(name string) (*value.Node, error) {
	if !s.isDocument() {
		for i := len(s.names) - 1; i >= 0; i-- {
			if s.names[i].name == name {
				return s.names[i].node, nil
			}
		}
		return nil, nil
	}
	level := s
	if s.same != nil {
		level = s.same
	}
	if level.fields != nil {
		return level.fields.Get(name), nil
	}
	n := level.raw.Get(name)
	if n != nil && value.ShapeOf(n.Value).Active {
		return nil, &Pending{Class: Waiting, Issue: Issue{Message: "'" + name + "' unresolved"}}
	}
	return n, nil
}

// push adds a frame of local names.
func (s *scope) push(names []local) *scope { return &scope{parent: s, names: names} }

// withSelf adds a frame in which "_" is v.
func (s *scope) withSelf(v value.Value) *scope { return &scope{parent: s, self: v} }

// document returns the nearest document map from here outwards.
func (s *scope) document() *scope {
	for s != nil && !s.isDocument() {
		s = s.parent
	}
	return s
}

// outermost returns the outermost document map.
func (s *scope) outermost() *scope {
	var last *scope
	for ; s != nil; s = s.parent {
		if s.isDocument() {
			last = s
		}
	}
	return last
}

// locals returns all local names visible from here; inner ones win.
func (s *scope) locals() map[string]*value.Node {
	var frames []*scope
	var base map[string]*value.Node
	for ; s != nil; s = s.parent {
		if s.isDocument() {
			continue
		}
		if s.flat != nil {
			base = s.flat
			break
		}
		frames = append(frames, s)
	}
	for i := len(frames) - 1; i >= 0; i-- {
		frame := frames[i]
		if len(frame.names) > 0 {
			next := make(map[string]*value.Node, len(base)+len(frame.names))
			for k, v := range base {
				next[k] = v
			}
			for _, l := range frame.names {
				next[l.name] = l.node
			}
			base = next
		}
		frame.flat = base
	}
	return base
}

// under is the same level with other levels around it.
func (s *scope) under(parent *scope) *scope {
	same := s
	if s.same != nil {
		same = s.same
	}
	return &scope{parent: parent, owner: s.owner, names: s.names, same: same}
}

// lexical is the chain of scopes as written: inside of a lambda or template it
// goes on at the place of the definition, not at the place of use.
func (s *scope) lexical() *scope {
	var inner []*scope
	for q := s; q != nil; q = q.parent {
		if q.self == nil {
			inner = append(inner, q)
			continue
		}
		chain := &scope{parent: definition(q.self), names: q.names}
		for i := len(inner) - 1; i >= 0; i-- {
			f := inner[i]
			chain = f.under(chain)
		}
		return chain
	}
	return s
}
