package inclusion

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/blueprint/schema"
	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// side is one of the two documents.
type side struct {
	name        string
	document    *schema.Document
	definitions map[string]any
	compiled    map[string]*schema.Schema
	// types are those of schemas, by their keys: references may lead to the same schema very often.
	types  map[string]types
	budget *budget
}

func newSide(name string, document *schema.Document, b *budget) *side {
	return &side{name: name, document: document, definitions: document.Definitions(), compiled: map[string]*schema.Schema{}, types: map[string]types{}, budget: b}
}

func (s *side) root() node { return s.at(schema.RootPointer) }

// at returns the schema that a reference leads to.
func (s *side) at(reference string) node {
	return node{side: s, pointer: reference, value: s.definitions[strings.TrimPrefix(reference, "#/definitions/")]}
}

// node is a schema in a document.
type node struct {
	side    *side
	pointer string
	// value is true, false or the rules.
	value any
	// without names rules that were left out of value.
	without string
	// limit are the types of a schema that is of no document.
	limit types
}

// ofTypes is a schema of no document, which admits all values of some types.
func ofTypes(t types) node { return node{limit: t, value: map[string]any{"type": t.String()}} }

func (n node) rules() map[string]any {
	rules, _ := n.value.(map[string]any)
	return rules
}

// separator is in no pointer: a property may be named like a rule that was left out.
const separator = "\n"

func (n node) key() string {
	if n.side == nil {
		return n.limit.String()
	}
	return n.side.name + n.pointer + n.without
}

// leaveOut returns the schema without some of its rules.
func (n node) leaveOut(keywords ...string) node {
	rules := n.rules()
	for _, keyword := range keywords {
		if _, exists := rules[keyword]; exists {
			rest := maps.Clone(rules)
			delete(rest, keyword)
			rules, n.without = rest, n.without+separator+"-"+keyword
		}
	}
	n.value = rules
	return n
}

func keyOf(nodes []node) string {
	keys := make([]string, len(nodes))
	for i, n := range nodes {
		keys[i] = n.key()
	}
	return strings.Join(keys, separator+"&")
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// child returns the schema under a keyword, or false.
func (n node) child(names ...string) (node, bool) {
	for _, name := range names {
		var value any
		found := false
		switch held := n.value.(type) {
		case map[string]any:
			value, found = held[name]
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i < len(held) {
				value, found = held[i], true
			}
		}
		if !found {
			return node{}, false
		}
		n = node{side: n.side, pointer: n.pointer + "/" + url.PathEscape(escaper.Replace(name)), value: value}
	}
	return n, true
}

// list returns the schemas in a list under a keyword.
func (n node) list(keyword string) []node {
	held, _ := n.rules()[keyword].([]any)
	all := make([]node, 0, len(held))
	for i := range held {
		element, _ := n.child(keyword, strconv.Itoa(i))
		all = append(all, element)
	}
	return all
}

// reference returns the schema that this one refers to.
func (n node) reference() (node, bool) {
	text, ok := n.rules()["$ref"].(string)
	if !ok || n.side == nil {
		return node{}, false
	}
	return n.side.at(text), true
}

// expand returns the schemas that all apply: references and allOf are followed, and left out. If it is
// impossible, no value satisfies all of them.
func expand(nodes []node) (all []node, impossible bool) {
	seen := map[string]bool{}
	for pending := nodes; len(pending) > 0; {
		n := pending[0]
		pending = pending[1:]
		if seen[n.key()] {
			continue
		}
		seen[n.key()] = true
		if allowed, isBool := n.value.(bool); isBool {
			impossible = impossible || !allowed
			continue
		}
		inner := n.list("allOf")
		if to, refers := n.reference(); refers {
			inner = append(inner, to)
		}
		pending = append(slices.Clip(pending), inner...)
		if rest := n.leaveOut("allOf", "$ref"); len(rest.rules()) > 0 {
			all = append(all, rest)
		}
	}
	return all, impossible
}

// admits reports whether a value satisfies the schema, references and alternatives included.
func (n node) admits(value any) bool {
	if allowed, isBool := n.value.(bool); isBool {
		return allowed
	}
	if n.side == nil {
		return n.limit&typeOf(value) != 0
	}
	if n.side.budget.exceeded() {
		return false
	}
	compiled := n.side.compiled[n.pointer]
	if compiled == nil {
		var err error
		if compiled, err = n.side.document.Part(n.pointer); err != nil {
			return false // the document is compiled as a whole, so its parts are
		}
		n.side.compiled[n.pointer] = compiled
	}
	admitted, comparisons := compiled.Admits(value)
	n.side.budget.comparisons += 1 + comparisons
	return admitted
}

// same reports whether two schemas are written alike, whatever the names of their definitions.
func same(a, b node) bool {
	return alike(a, b, map[string]bool{})
}

func alike(a, b node, open map[string]bool) bool {
	toA, refersA := a.onlyReference()
	toB, refersB := b.onlyReference()
	if refersA && refersB {
		key := toA.key() + "=" + toB.key()
		if open[key] {
			return true
		}
		open[key] = true
	}
	if refersA || refersB {
		if refersA {
			a = toA
		}
		if refersB {
			b = toB
		}
		return alike(a, b, open)
	}
	rulesA, isMapA := a.value.(map[string]any)
	rulesB, isMapB := b.value.(map[string]any)
	listA, isListA := a.value.([]any)
	listB, isListB := b.value.([]any)
	switch {
	case isMapA && isMapB:
		return alikeRules(a, b, rulesA, rulesB, open)
	case isListA && isListB:
		for i := range listA {
			if len(listA) != len(listB) || !alikeAt(a, b, strconv.Itoa(i), open) {
				return false
			}
		}
		return len(listA) == len(listB)
	}
	return reflect.DeepEqual(a.value, b.value)
}

func alikeRules(a, b node, rulesA, rulesB map[string]any, open map[string]bool) bool {
	if len(rulesA) != len(rulesB) {
		return false
	}
	for name := range rulesA {
		if _, both := rulesB[name]; !both || !alikeAt(a, b, name, open) {
			return false
		}
		// A value may look like a reference, and does not refer to anything.
		if (name == "const" || name == "enum") && !reflect.DeepEqual(rulesA[name], rulesB[name]) {
			return false
		}
	}
	return true
}

func alikeAt(a, b node, name string, open map[string]bool) bool {
	childA, hasA := a.child(name)
	childB, hasB := b.child(name)
	return hasA && hasB && alike(childA, childB, open)
}

// onlyReference returns what a schema without other rules refers to. The keyword for names of properties
// holds a reference as well.
func (n node) onlyReference() (node, bool) {
	if text, isText := n.value.(string); isText && n.side != nil && strings.HasSuffix(n.pointer, "/"+link.NamesKeyword) {
		return n.side.at(text), true
	}
	if len(n.rules()) != 1 {
		return node{}, false
	}
	return n.reference()
}
