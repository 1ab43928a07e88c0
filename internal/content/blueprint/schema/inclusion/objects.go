package inclusion

import (
	"maps"
	"slices"
)

// objects compares the rules for properties.
func (c *comparison) objects(at []string, f *facts, to node) {
	if f.types&object == 0 {
		return
	}
	if f.hasRule("minProperties", "maxProperties") {
		c.uncertain++ // the number of properties may say which ones there are
		defer func() { c.uncertain-- }()
	}
	required := f.required()
	for _, name := range to.requires() {
		if !slices.Contains(required, name) {
			c.report(within(at, name), Difference{Kind: Refused, Rule: "required", To: "true"})
		}
	}
	for _, name := range f.names(to) {
		c.property(within(at, name), f, to, name)
	}
	c.patterns(at, f, to)
	rest, closed := to.child("additionalProperties")
	if !closed {
		return
	}
	if !f.leavesNames(to) {
		c.uncertain++ // there may be no further names
		defer func() { c.uncertain-- }()
	}
	others := f.others()
	if len(others) == 0 && rest.value == false {
		c.report(at, Difference{Kind: Refused, Rule: "additionalProperties", To: "false"})
		return
	}
	c.include(within(at, anyProperty), others, rest)
}

// property compares the rules for one name.
func (c *comparison) property(at []string, f *facts, to node, name string) {
	wanted := to.property(name)
	from, declared := f.property(name)
	compare := func() {
		for _, one := range wanted {
			c.include(at, from, one)
		}
	}
	if declared || len(from) > 0 {
		compare()
		return
	}
	// A value that had no meaning before is rarely given.
	if refused := c.attempt(compare); len(refused) > 0 {
		c.report(at, Difference{Kind: Declared, Rule: "properties", To: typesOf(wanted).String()})
	}
}

// undeclared reports properties that the first schema names and the second one only tolerates.
func (c *comparison) undeclared(at []string, f *facts, targets []node) {
	if f.types&object == 0 {
		return
	}
	for _, name := range f.names(node{}) {
		if _, declared := f.property(name); !declared {
			continue
		}
		mentioned := slices.ContainsFunc(targets, func(target node) bool { return len(target.property(name)) > 0 })
		if !mentioned && !slices.ContainsFunc(targets, node.hasAlternatives) {
			c.report(within(at, name), Difference{Kind: Undeclared, Rule: "properties"})
		}
	}
}

// hasAlternatives reports whether properties may be named in parts of the schema.
func (n node) hasAlternatives() bool {
	for _, keyword := range []string{"anyOf", "oneOf", "if", "not", "dependencies"} {
		if n.rules()[keyword] != nil {
			return true
		}
	}
	return false
}

// leavesNames reports whether there is a name that no expression of the schemas matches.
func (f *facts) leavesNames(to node) bool {
	return slices.ContainsFunc(samples, func(name string) bool {
		return !slices.ContainsFunc(append(slices.Clip(f.nodes), to), func(n node) bool { return n.matchesAny(name) })
	})
}

// matchesAny reports whether one of the expressions of the schema matches a name.
func (n node) matchesAny(name string) bool {
	expressions, _ := n.rules()["patternProperties"].(map[string]any)
	for expression := range expressions {
		if n.side.document.Matches(expression, name) {
			return true
		}
	}
	return false
}

// patterns compares the rules for names that match an expression.
func (c *comparison) patterns(at []string, f *facts, to node) {
	wanted, _ := to.rules()["patternProperties"].(map[string]any)
	for _, expression := range slices.Sorted(maps.Keys(wanted)) {
		rule, _ := to.child("patternProperties", expression)
		var from []node
		for _, n := range f.nodes {
			if own, has := n.child("patternProperties", expression); has {
				from = append(from, own)
			}
		}
		c.uncertain++ // whether a name matches, and what other expressions say of it, is not looked at
		if len(from) == 0 {
			from = f.others()
			c.matched(within(at, "/"+expression+"/"), f, rule)
		}
		c.include(within(at, "/"+expression+"/"), from, rule)
		c.uncertain--
	}
	rest, closed := to.child("additionalProperties")
	for _, n := range f.nodes {
		own, _ := n.rules()["patternProperties"].(map[string]any)
		for _, expression := range slices.Sorted(maps.Keys(own)) {
			if _, both := wanted[expression]; both || !closed {
				continue
			}
			rule, _ := n.child("patternProperties", expression)
			c.uncertain++
			c.include(within(at, "/"+expression+"/"), []node{rule}, rest)
			c.uncertain--
		}
	}
}

// matched compares what expressions of the first schema say of names with a rule: a name may match several.
func (c *comparison) matched(at []string, f *facts, rule node) {
	for _, n := range f.nodes {
		own, _ := n.rules()["patternProperties"].(map[string]any)
		for _, expression := range slices.Sorted(maps.Keys(own)) {
			from, _ := n.child("patternProperties", expression)
			c.include(at, []node{from}, rule)
		}
	}
}

func (n node) requires() []string {
	var names []string
	listed, _ := n.rules()["required"].([]any)
	for _, name := range listed {
		if text, ok := name.(string); ok {
			names = append(names, text)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// required are the names that all objects have.
func (f *facts) required() []string {
	var names []string
	for _, n := range f.nodes {
		names = append(names, n.requires()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// names are those that one of the schemas has rules for.
func (f *facts) names(to node) []string {
	var names []string
	for _, n := range append(slices.Clip(f.nodes), to) {
		properties, _ := n.rules()["properties"].(map[string]any)
		names = slices.AppendSeq(names, maps.Keys(properties))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// property returns what the schemas say of a name, and whether one of them names it.
func (f *facts) property(name string) (all []node, declared bool) {
	for _, n := range f.nodes {
		all = append(all, n.property(name)...)
		_, names := n.child("properties", name)
		declared = declared || names
	}
	return all, declared
}

// property returns all that the schema says of a name.
func (n node) property(name string) []node {
	var all []node
	if own, has := n.child("properties", name); has {
		all = append(all, own)
	}
	expressions, _ := n.rules()["patternProperties"].(map[string]any)
	for _, expression := range slices.Sorted(maps.Keys(expressions)) {
		if n.side.document.Matches(expression, name) {
			rule, _ := n.child("patternProperties", expression)
			all = append(all, rule)
		}
	}
	if len(all) == 0 {
		if rest, has := n.child("additionalProperties"); has {
			all = append(all, rest)
		}
	}
	return all
}

// others returns what the schemas say of names without rules of their own.
func (f *facts) others() []node {
	var all []node
	for _, n := range f.nodes {
		if rest, has := n.child("additionalProperties"); has {
			all = append(all, rest)
		}
	}
	return all
}
