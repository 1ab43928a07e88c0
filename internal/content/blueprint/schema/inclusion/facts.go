package inclusion

import (
	"slices"

	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// facts are what follows from the schemas that a value satisfies.
type facts struct {
	// given are the schemas as they were given.
	given []node
	// nodes are all that apply.
	nodes []node
	types types
	// impossible says that no value satisfies all of them.
	impossible bool
	// opaque says that there are rules that these facts do not have: further values may be impossible.
	opaque bool
	// finite are the values, if they can be listed.
	finite   []any
	isFinite bool
}

// opaqueRules are those that are compared only as a whole.
var opaqueRules = []string{"not", "if", "dependencies", "contains", link.NamesKeyword}

func factsOf(given []node) *facts {
	f := &facts{given: given, types: typesOf(given)}
	f.nodes, f.impossible = expand(given)
	for _, name := range f.required() {
		if all, _ := f.property(name); isFalse(all) {
			f.types &^= object
		}
	}
	if f.types == 0 {
		f.impossible = true
	}
	for _, n := range f.nodes {
		f.opaque = f.opaque || slices.ContainsFunc(opaqueRules, func(rule string) bool { return n.rules()[rule] != nil }) ||
			(len(n.list("oneOf")) > 1 && !disjoint(n.list("oneOf")))
	}
	f.list()
	if low, high := f.low(), f.high(); f.types&^number == 0 && low.value != nil && high.value != nil && low.value.Cmp(high.value) > 0 {
		f.impossible = true
	}
	return f
}

// list finds the values if they can be listed.
func (f *facts) list() {
	var candidates []any
	for _, n := range f.nodes {
		if values, limited := n.listed(); limited && !f.isFinite {
			candidates, f.isFinite = values, true
		}
	}
	if !f.isFinite && f.types&^(null|boolean) == 0 {
		candidates, f.isFinite = []any{nil, false, true}, true
	}
	if !f.isFinite {
		return
	}
	for _, value := range candidates {
		if f.admit(value) {
			f.finite = append(f.finite, value)
		}
	}
	f.impossible = f.impossible || len(f.finite) == 0
}

// admit reports whether a value satisfies all schemas.
func (f *facts) admit(value any) bool {
	return f.types&typeOf(value) != 0 && !slices.ContainsFunc(f.given, func(n node) bool { return !n.admits(value) })
}

// isFalse reports whether one of the schemas is false.
func isFalse(all []node) bool {
	_, impossible := expand(all)
	return impossible
}

// endless reports whether no list has all values.
func (f *facts) endless() bool {
	switch {
	case f.types&text != 0 && !f.hasRule("pattern", "format", "maxLength"), f.types&number != 0 && (f.low().value == nil || f.high().value == nil):
		return true
	case f.types&fraction != 0:
		return !f.hasRule("multipleOf") && f.low().value.Cmp(f.high().value) < 0
	case f.types&array != 0 && f.count(count{"maxItems", array, -1}) == nil && !f.hasRule("items", "uniqueItems"):
		return true
	}
	return f.types&object != 0 && len(f.others()) == 0 && !f.hasRule("maxProperties")
}

// hasRule reports whether one of the schemas has one of the rules.
func (f *facts) hasRule(keywords ...string) bool {
	return slices.ContainsFunc(f.nodes, func(n node) bool {
		return slices.ContainsFunc(keywords, func(keyword string) bool { return n.rules()[keyword] != nil })
	})
}

// only returns the facts about the values of some types.
func (f *facts) only(t types) *facts {
	return factsOf(append(slices.Clip(f.given), ofTypes(t)))
}

// disjoint reports whether no value satisfies two of the schemas, because their types differ.
func disjoint(nodes []node) bool {
	var before types
	for _, n := range nodes {
		t := typesOf([]node{n})
		if before&t != 0 {
			return false
		}
		before |= t
	}
	return true
}

// cases returns the schemas once for each of their alternatives; nil without one.
func (f *facts) cases() [][]node {
	for i, n := range f.nodes {
		for _, keyword := range []string{"anyOf", "oneOf"} {
			branches := n.list(keyword)
			if len(branches) == 0 {
				continue
			}
			rest := n.leaveOut(keyword)
			var all [][]node
			for _, branch := range branches {
				nodes := slices.Concat(f.nodes[:i:i], []node{rest, branch}, f.nodes[i+1:])
				all = append(all, nodes)
			}
			return all
		}
	}
	return nil
}
