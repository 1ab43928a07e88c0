// Package scope holds the names that are visible at a place, and the values that
// remember where they were written: lambdas and templates.
package scope

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Level is one level of name lookup. It is a document map, or a frame of local
// names (parameters, scope literals, "_").
type Level struct {
	Parent *Level

	// Document maps.
	Owner  *value.Node // node of the map
	Raw    *value.Map  // content as written
	Fields *value.Map  // fields once the insert key is settled

	same *Level // the level that this one is another view of

	// Local frames.
	Names []Local
	Self  value.Value            // what "_" means, nil if unchanged
	flat  map[string]*value.Node // all local names visible here, made on demand
}

// Local is a name of a frame: a parameter, an entry of a scope literal.
type Local struct {
	Name string
	Node *value.Node
}

func (s *Level) isDocument() bool { return s.Owner != nil }

// Get finds a name in this level only. Fields of a map whose insert key is not
// settled yet can be seen as long as nothing in them needs evaluation.
func (s *Level) Get(name string) (*value.Node, error) {
	if !s.isDocument() {
		for i := len(s.Names) - 1; i >= 0; i-- {
			if s.Names[i].Name == name {
				return s.Names[i].Node, nil
			}
		}
		return nil, nil
	}
	level := s
	if s.same != nil {
		level = s.same
	}
	if level.Fields != nil {
		return level.Fields.Get(name), nil
	}
	n := level.Raw.Get(name)
	if n != nil && value.ShapeOf(n.Value).Active {
		return nil, &outcome.Pending{Class: outcome.Waiting, Issue: outcome.Issue{Message: "'" + name + "' unresolved"}}
	}
	return n, nil
}

// Push adds a frame of local names.
func (s *Level) Push(names []Local) *Level { return &Level{Parent: s, Names: names} }

// WithSelf adds a frame in which "_" is v.
func (s *Level) WithSelf(v value.Value) *Level { return &Level{Parent: s, Self: v} }

// Document returns the nearest document map from here outwards.
func (s *Level) Document() *Level {
	for s != nil && !s.isDocument() {
		s = s.Parent
	}
	return s
}

// Outermost returns the outermost document map.
func (s *Level) Outermost() *Level {
	var last *Level
	for ; s != nil; s = s.Parent {
		if s.isDocument() {
			last = s
		}
	}
	return last
}

// Locals returns all local names visible from here; inner ones win.
func (s *Level) Locals() map[string]*value.Node {
	var frames []*Level
	var base map[string]*value.Node
	for ; s != nil; s = s.Parent {
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
		if len(frame.Names) > 0 {
			next := make(map[string]*value.Node, len(base)+len(frame.Names))
			for k, v := range base {
				next[k] = v
			}
			for _, l := range frame.Names {
				next[l.Name] = l.Node
			}
			base = next
		}
		frame.flat = base
	}
	return base
}

// Under is the same level with other levels around it.
func (s *Level) Under(parent *Level) *Level {
	same := s
	if s.same != nil {
		same = s.same
	}
	return &Level{Parent: parent, Owner: s.Owner, Names: s.Names, same: same}
}

// Lexical is the chain of scopes as written: inside of a lambda or template it continues at the
// place of the definition, not at the place of use.
func (s *Level) Lexical() *Level {
	var inner []*Level
	for q := s; q != nil; q = q.Parent {
		if q.Self == nil {
			inner = append(inner, q)
			continue
		}
		chain := &Level{Parent: Definition(q.Self), Names: q.Names}
		for i := len(inner) - 1; i >= 0; i-- {
			f := inner[i]
			chain = f.Under(chain)
		}
		return chain
	}
	return s
}
