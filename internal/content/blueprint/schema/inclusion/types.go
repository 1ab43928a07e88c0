package inclusion

import (
	"encoding/json"
	"slices"
	"strings"

	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// types is a set of types of values. A number is an integer or a fraction.
type types uint8

const (
	null types = 1 << iota
	boolean
	integer
	fraction
	text
	array
	object

	number   = integer | fraction
	anything = null | boolean | number | text | array | object
)

// typeNames are in the order in which messages show them.
var typeNames = []struct {
	name string
	set  types
}{{"null", null}, {"boolean", boolean}, {"number", number}, {"integer", integer}, {"string", text}, {"array", array}, {"object", object}, {"fraction", fraction}}

// parts are the named types that make up a set.
func (t types) parts() []types {
	var parts []types
	for _, one := range typeNames {
		if t&one.set == one.set {
			parts = append(parts, one.set)
			t &^= one.set
		}
	}
	return parts
}

// String is the form in messages.
func (t types) String() string {
	if t == anything {
		return "any value"
	}
	var names []string
	for _, part := range t.parts() {
		for _, one := range typeNames {
			if one.set == part {
				names = append(names, one.name)
			}
		}
	}
	return strings.Join(names, " or ")
}

func typeNamed(name any) types {
	for _, one := range typeNames {
		if one.name == name {
			return one.set
		}
	}
	return 0
}

// typeOf is the type of a value. 1.0 is an integer. A number that is an integer only after rounding, or
// too large for a float, counts as both.
func typeOf(value any) types {
	name := link.TypeName(value)
	literal, isLiteral := value.(json.Number)
	if !isLiteral || name != "number" {
		return typeNamed(name)
	}
	exact := rational(literal)
	rounded, err := literal.Float64()
	switch {
	case exact == nil || err != nil || exact.IsInt() != (link.TypeName(rounded) == "integer"):
		return number
	case exact.IsInt():
		return integer
	}
	return fraction
}

// types are those that the schema names, without what it refers to.
func (n node) types() types {
	if n.side == nil {
		return n.limit
	}
	switch held := n.rules()["type"].(type) {
	case string:
		return typeNamed(held)
	case []any:
		var all types
		for _, name := range held {
			all |= typeNamed(name)
		}
		return all
	}
	return anything
}

// listed returns the values that the schema lists, if it does.
func (n node) listed() ([]any, bool) {
	if value, constant := n.rules()["const"]; constant {
		return []any{value}, true
	}
	values, limited := n.rules()["enum"].([]any)
	return values, limited
}

// typesOf are the types that values of all schemas of a list may have.
func typesOf(nodes []node) types {
	all, impossible := expand(nodes)
	if impossible {
		return 0
	}
	possible := anything
	for _, n := range all {
		possible &= n.possible()
	}
	return possible
}

// possible are the types of values that the rules of a schema admit, references left out.
func (n node) possible() types {
	if n.side == nil {
		return n.types()
	}
	if known, exists := n.side.types[n.key()]; exists {
		return known
	}
	possible := n.types()
	if values, limited := n.listed(); limited {
		possible &= union(values, typeOf)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if branches := n.list(keyword); len(branches) > 0 {
			possible &= union(branches, func(branch node) types { return typesOf([]node{branch}) })
		}
	}
	n.side.types[n.key()] = possible
	return possible
}

func union[T any](all []T, of func(T) types) types {
	var together types
	for _, one := range all {
		together |= of(one)
	}
	return together
}

// listText shows values in messages.
func listText(values []any) string {
	const most = 10
	shown := make([]string, 0, most)
	for _, value := range values[:min(len(values), most)] {
		raw, err := json.Marshal(value)
		if err != nil {
			raw = []byte("?")
		}
		shown = append(shown, link.Shortened(string(raw)))
	}
	slices.Sort(shown)
	if len(values) > most {
		shown = append(shown, "...")
	}
	return strings.Join(shown, ", ")
}
