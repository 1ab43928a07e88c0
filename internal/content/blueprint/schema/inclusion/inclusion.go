// Package inclusion decides whether each value that one schema admits is admitted by another one,
// from the form of the schemas alone. What it says for certain is true of some value; what the form
// does not show is left undecided.
//
// It knows nothing of imports and exports: which of two versions of a schema must admit the values of
// the other one is for its callers.
package inclusion

import (
	"slices"
	"strings"

	"go.landscaper.dev/internal/content/blueprint/schema"
	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// Kind says what a difference means.
type Kind int

const (
	// Refused means that the second schema does not admit some value that the first one admits.
	Refused Kind = iota + 1
	// Undecided means that the form of the schemas does not show whether such a value exists.
	Undecided
	// Declared means that the second schema has rules for a property that the first one does not name,
	// and admits with any value.
	Declared
	// Undeclared means that the second schema admits a property that the first one declares, and does
	// not name it.
	Undeclared
)

// Difference is a rule of the second schema that does not follow from the first one.
type Difference struct {
	Kind Kind
	// Path is where in the value; "" is the value itself. [] stands for the elements of a list, and *
	// for properties that are not named.
	Path string
	// Rule is the keyword of the rule.
	Rule string
	// From and To are what the schemas say; "" is nothing.
	From, To string
	// Values are the values that are refused, where they can be listed.
	Values string
}

const (
	// maxDifferences is how many differences of a kind are returned: no reader needs more. Many of one kind
	// do not keep out others, which may be worse.
	maxDifferences = 200
)

// Differences returns why values of the schema from may not be values of the schema to. Without
// differences, each value of from is a value of to.
func (r *Comparer) Differences(from, to *schema.Document) []Difference {
	c := &comparison{open: map[string]bool{}}
	first, second := newSide("a", from, &c.budget), newSide("b", to, &c.budget)
	if !r.exceeded() {
		c.include(nil, []node{first.root()}, second.root())
	}
	if r.spend(c.budget); c.exceeded() || r.exceeded() {
		c.found = append(c.found, Difference{Kind: Undecided, Rule: "size", To: "the schemas have too many alternatives or values"})
	}
	return c.found
}

// comparison is one call of Differences.
type comparison struct {
	differences
	// open are the pairs that are being compared. A pair that leads to itself adds nothing.
	open map[string]bool
	budget
	// uncertain counts the schemas around, of which it is not known that they admit what is looked at.
	uncertain int
}

// differences are those that were found.
type differences struct {
	found []Difference
	// number is how many there are of each kind.
	number [Undeclared + 1]int
}

// attempt returns the differences that a step would add, without adding them.
func (c *comparison) attempt(step func()) []Difference {
	before := c.differences
	c.differences = differences{}
	step()
	added := c.found
	c.differences = before
	return added
}

// report adds a difference. The rules of schemas around may refuse what seems to be admitted.
func (c *comparison) report(at []string, d Difference) {
	if d.Kind == Refused && c.uncertain > 0 {
		d.Kind = Undecided
	}
	d.Path = pathOf(at)
	if !c.exceeded() { // else a value may not have been looked at
		c.add(d)
	}
}

// add adds differences that were not found before.
func (c *comparison) add(all ...Difference) {
	for _, d := range all {
		if c.number[d.Kind] < maxDifferences && !slices.Contains(c.found, d) {
			c.found = append(c.found, d)
			c.number[d.Kind]++
		}
	}
}

// include compares the values that all schemas of a list admit with a schema.
func (c *comparison) include(at []string, from []node, to node) {
	if !c.pair() {
		return
	}
	key := keyOf(from) + separator + ">" + to.key()
	if c.open[key] {
		return
	}
	c.open[key] = true
	defer delete(c.open, key)
	f := factsOf(from)
	if f.impossible {
		return
	}
	targets, impossible := expand([]node{to})
	switch {
	case impossible:
		c.report(at, Difference{Kind: Refused, Rule: "false", To: "no value"})
	case f.isFinite:
		if !slices.ContainsFunc(from, func(n node) bool { return same(n, to) }) {
			c.values(at, f, targets)
		}
	default:
		c.infinite(at, to, f, targets)
	}
}

// infinite compares values that cannot be listed. The alternatives of the first schema are compared one by
// one if the rules that they have in common do not suffice.
func (c *comparison) infinite(at []string, to node, f *facts, targets []node) {
	if f.opaque {
		c.uncertain++
		defer func() { c.uncertain-- }()
	}
	added := c.attempt(func() {
		for _, target := range targets {
			c.check(at, f, target)
		}
		c.undeclared(at, f, targets)
	})
	if len(added) > 0 {
		if cases := f.cases(); cases != nil {
			for _, alternative := range cases {
				c.include(at, alternative, to)
			}
			return
		}
	}
	c.add(added...)
}

// values compares values that can be listed, each by itself.
func (c *comparison) values(at []string, f *facts, targets []node) {
	var refused []any
	for _, value := range f.finite {
		if slices.ContainsFunc(targets, func(target node) bool { return !target.admits(value) }) {
			refused = append(refused, value)
		}
	}
	if len(refused) == 0 {
		return
	}
	d := Difference{Kind: Refused, Rule: "enum", Values: listText(refused)}
	for _, target := range targets {
		if allowed, limited := target.listed(); limited {
			d.From, d.To = listText(f.finite), listText(allowed)
		}
	}
	c.report(at, d)
}

// check compares values with the rules of one schema.
func (c *comparison) check(at []string, f *facts, to node) {
	if slices.ContainsFunc(f.nodes, func(n node) bool { return same(n, to) }) {
		return
	}
	if allowed, limited := to.listed(); limited {
		d := Difference{Kind: Undecided, Rule: "enum", From: f.types.String(), To: listText(allowed)}
		if _, found := f.onlyOf(to); found || f.endless() {
			d.Kind = Refused
		}
		c.report(at, d)
		return
	}
	if beyond := f.types &^ to.types(); beyond != 0 {
		c.report(at, Difference{Kind: Refused, Rule: "type", From: f.types.String(), To: to.types().String()})
		if f = f.only(to.types()); f.types == 0 {
			return
		}
	}
	c.counts(at, f, to)
	c.numbers(at, f, to)
	c.texts(at, f, to)
	c.lists(at, f, to)
	c.objects(at, f, to)
	c.alternatives(at, f, to)
	c.others(at, f, to)
}

func pathOf(at []string) string {
	if len(at) == 0 {
		return ""
	}
	var path strings.Builder
	for i, name := range at {
		if i > 0 && !strings.HasPrefix(name, "[") {
			path.WriteString(".")
		}
		if name == anyProperty || strings.HasPrefix(name, "[") {
			path.WriteString(name)
		} else {
			path.WriteString(link.Path([]string{name}))
		}
	}
	return path.String()
}

// Names in paths.
const (
	anyElement  = "[]"
	anyProperty = "*"
)

func within(at []string, name string) []string { return append(slices.Clip(at), name) }
