package inclusion

import (
	"slices"

	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// alternatives compares values with the branches of anyOf and oneOf.
func (c *comparison) alternatives(at []string, f *facts, to node) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		branches := to.list(keyword)
		if len(branches) == 0 || f.hasSame(to, keyword) {
			continue
		}
		for _, part := range f.types.parts() {
			c.alternativesOf(at, f, keyword, branches, part)
		}
	}
}

// alternativesOf compares the values of one type with the branches that have such values.
func (c *comparison) alternativesOf(at []string, f *facts, keyword string, branches []node, t types) {
	of := slices.Concat(f.given, []node{ofTypes(t)})
	candidates := slices.DeleteFunc(slices.Clone(branches), func(branch node) bool { return typesOf([]node{branch})&t == 0 })
	switch len(candidates) {
	case 0:
		c.report(at, Difference{Kind: Refused, Rule: "type", From: f.types.String(), To: typesOfAny(branches).String()})
		return
	case 1:
		c.include(at, of, candidates[0])
		return
	}
	if keyword == "anyOf" && slices.ContainsFunc(candidates, func(branch node) bool {
		return len(c.attempt(func() { c.include(at, of, branch) })) == 0
	}) {
		return
	}
	c.report(at, Difference{Kind: Undecided, Rule: keyword})
}

func typesOfAny(branches []node) types {
	return union(branches, func(branch node) types { return typesOf([]node{branch}) })
}

// others compares the rules that are compared only as a whole.
func (c *comparison) others(at []string, f *facts, to node) {
	for _, rule := range opaqueRules {
		if to.rules()[rule] == nil || f.hasSame(to, rule) || !f.concerned(to, rule) {
			continue
		}
		shown := rule
		if rule == link.NamesKeyword {
			shown = "propertyNames"
		}
		c.report(at, Difference{Kind: Undecided, Rule: shown})
	}
}

// concerned reports whether a rule is about values of the types that are possible.
func (f *facts) concerned(to node, rule string) bool {
	switch rule {
	case "contains":
		return f.types&array != 0
	case "dependencies", link.NamesKeyword:
		return f.types&object != 0
	case "not":
		refused, _ := to.child(rule)
		return f.types&typesOf([]node{refused}) != 0
	}
	return true
}

// hasSame reports whether a schema has the same rule, with what belongs to it.
func (f *facts) hasSame(to node, rule string) bool {
	keywords := []string{rule}
	if rule == "if" {
		keywords = []string{"if", "then", "else"}
	}
	return slices.ContainsFunc(f.nodes, func(n node) bool {
		for _, keyword := range keywords {
			own, has := n.child(keyword)
			wanted, wants := to.child(keyword)
			if has != wants || has && !same(own, wanted) {
				return false
			}
		}
		return true
	})
}
