package inclusion

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/blueprint/schema"
)

func open(t *testing.T, text string) *schema.Document {
	t.Helper()
	document, err := (&schema.Compiler{}).Open(t.Context(), []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return document
}

var kindNames = map[Kind]string{Refused: "refused", Undecided: "undecided", Declared: "declared", Undeclared: "undeclared"}

func TestDifferences(t *testing.T) {
	for _, test := range []struct{ reason, from, to, want string }{
		{"the same", `{type: object, properties: {a: {type: string}}}`, `{type: object, properties: {a: {type: string}}}`, ""},
		{"anything is anything", `true`, `{}`, ""},
		{"no value is refused where no value is possible", `false`, `{type: string}`, ""},
		{"every value is refused", `{type: string}`, `false`, "refused false:  -> no value"},
		{"a type that is left out", `{type: [string, integer]}`, `{type: string}`, "refused type: integer or string -> string"},
		{"integers are numbers", `{type: integer}`, `{type: number}`, ""},
		{"numbers are more than integers", `{type: number}`, `{type: integer}`, "refused type: number -> integer"},
		{"rules for another type do not matter", `{type: string}`, `{type: string, minimum: 3, required: [a], minItems: 1}`, ""},
		{"a list of values is shorter", `{enum: [a, b, c]}`, `{enum: [a, b]}`, `refused enum: "a", "b", "c" -> "a", "b" ["c"]`},
		{"a list of values is longer", `{enum: [a]}`, `{enum: [b, a]}`, ""},
		{"a list takes the place of any text", `{type: string}`, `{enum: [a]}`, `refused enum: string -> "a"`},
		{"a list may take the place of a pattern", `{type: string, pattern: "^(a|b)$"}`, `{enum: [a, b]}`, `undecided enum: string -> "a", "b"`},
		{"both truths", `{type: boolean}`, `{enum: [true, false]}`, ""},
		{"one truth", `{type: boolean}`, `{const: true}`, "refused enum: false, true -> true [false]"},
		{"values of a list are checked by each rule", `{enum: [1, 5]}`, `{minimum: 3}`, "refused enum:  ->  [1]"},
		{"a minimum grows", `{type: integer, minimum: 1}`, `{type: integer, minimum: 2}`, "refused minimum: 1 -> 2"},
		{"a minimum shrinks", `{type: integer, minimum: 2}`, `{type: integer, minimum: 1}`, ""},
		{"more than 0 is at least 1 for integers", `{type: integer, exclusiveMinimum: 0}`, `{type: integer, minimum: 1}`, ""},
		{"more than 0 is less than 1 for numbers", `{type: number, exclusiveMinimum: 0}`, `{type: number, minimum: 1}`, "refused minimum: 0, not included -> 1"},
		{"the limit itself is refused", `{type: number, maximum: 3}`, `{type: number, exclusiveMaximum: 3}`, "refused maximum: 3 -> 3, not included"},
		{"multiples of 6 are multiples of 3", `{multipleOf: 6}`, `{multipleOf: 3}`, ""},
		{"multiples of 3 need not be multiples of 6", `{type: integer, multipleOf: 3}`, `{multipleOf: 6}`, "refused multipleOf: 3 -> 6"},
		{"a text may be longer", `{type: string, maxLength: 3}`, `{type: string, maxLength: 4}`, ""},
		{"a text must be shorter", `{type: string}`, `{type: string, maxLength: 4}`, "refused maxLength:  -> 4"},
		{"a length may follow from a pattern", `{type: string, pattern: "^a+$"}`, `{minLength: 1}`, "undecided minLength:  -> 1"},
		{"a pattern is new", `{type: string}`, `{type: string, pattern: "^[a-z]+$"}`, `refused pattern:  -> ^[a-z]+$ [""]`},
		{"a pattern that all texts match", `{type: string}`, `{type: string, pattern: ".*"}`, `undecided pattern:  -> .*`},
		{"a pattern is another one", `{type: string, pattern: "^[a-f]$"}`, `{type: string, pattern: "^[a-z]$"}`, `undecided pattern: ^[a-f]$ -> ^[a-z]$`},
		{"a format is new", `{type: string}`, `{type: string, format: ipv4}`, `refused format:  -> ipv4 [""]`},
		{"a format that is not checked", `{type: string}`, `{type: string, format: colour}`, ""},
		{"a property is required", `{type: object}`, `{type: object, required: [a]}`, "refused a required:  -> true"},
		{"a property is not required any more", `{type: object, required: [a]}`, `{type: object}`, ""},
		{"a property is narrowed", `{properties: {a: {properties: {b: {type: integer}}}}}`, `{properties: {a: {properties: {b: {type: integer, maximum: 9}}}}}`, "refused a.b maximum:  -> 9"},
		{"a property that was not declared", `{type: object}`, `{type: object, properties: {a: {type: string}}}`, "declared a properties:  -> string"},
		{"a property that is not declared any more", `{type: object, properties: {a: {type: string}}}`, `{type: object}`, "undeclared a properties:  -> "},
		{"properties that are not declared are refused", `{type: object}`, `{type: object, additionalProperties: false}`, "refused additionalProperties:  -> false"},
		{"a declared property is refused", `{type: object, properties: {a: true}, additionalProperties: false}`, `{type: object, additionalProperties: false}`, "refused a false:  -> no value"},
		{"a property is declared where none was allowed", `{type: object, additionalProperties: false}`, `{type: object, properties: {a: {type: string}}, additionalProperties: false}`, ""},
		{"values of a map are narrowed", `{additionalProperties: {type: string}}`, `{additionalProperties: {type: string, maxLength: 1}}`, "refused * maxLength:  -> 1"},
		{"a map gets a known key", `{type: object, additionalProperties: {type: string}}`, `{type: object, properties: {a: {type: integer}}, additionalProperties: {type: string}}`, "refused a type: string -> integer"},
		{"a key matches a pattern", `{type: object, properties: {x-a: {type: integer}}}`, `{type: object, patternProperties: {^x-: {type: integer}}}`, `undecided /^x-/ type: any value -> integer`},
		{"elements are narrowed", `{type: array, items: {type: [string, "null"]}}`, `{type: array, items: {type: string}}`, "refused [] type: null or string -> string"},
		{"elements of a list that is empty", `{type: array, maxItems: 0, items: {type: integer}}`, `{type: array, items: {type: string}}`, ""},
		{"an element at a place", `{type: array, items: [{type: string}, {type: string}]}`, `{type: array, items: [{type: string}, {type: integer}]}`, "refused [1] type: string -> integer"},
		{"elements must differ", `{type: array}`, `{type: array, uniqueItems: true}`, "refused uniqueItems:  -> true"},
		{"a reference is followed", `{$ref: "#/$defs/a", $defs: {a: {type: string}}}`, `{type: string, maxLength: 1}`, "refused maxLength:  -> 1"},
		{"names of definitions do not matter", `{properties: {x: {$ref: "#/$defs/a"}}, $defs: {a: {type: string, not: {const: x}}}}`, `{properties: {x: {$ref: "#/$defs/b"}}, $defs: {b: {type: string, not: {const: x}}}}`, ""},
		{"a tree", `{$ref: "#/$defs/t", $defs: {t: {type: object, properties: {left: {$ref: "#/$defs/t"}, size: {type: integer}}}}}`, `{$ref: "#/$defs/t", $defs: {t: {type: object, properties: {left: {$ref: "#/$defs/t"}, size: {type: number}}}}}`, ""},
		{"a leaf of a tree is narrowed", `{$ref: "#/$defs/t", $defs: {t: {type: object, properties: {left: {$ref: "#/$defs/t"}, size: {type: number}}}}}`, `{$ref: "#/$defs/t", $defs: {t: {type: object, properties: {left: {$ref: "#/$defs/t"}, size: {type: integer}}}}}`, "refused left.size type: number -> integer; refused size type: number -> integer"},
		{"rules of allOf are together", `{allOf: [{type: integer}, {minimum: 3}]}`, `{type: integer, minimum: 2}`, ""},
		{"each rule of allOf counts", `{type: integer}`, `{allOf: [{type: integer}, {minimum: 3}]}`, "refused minimum:  -> 3"},
		{"a case is added", `{anyOf: [{type: string}, {type: integer}]}`, `{anyOf: [{type: string}, {type: integer}, {type: "null"}]}`, ""},
		{"a case is dropped", `{anyOf: [{type: string}, {type: integer}]}`, `{anyOf: [{type: string}]}`, "refused type: integer -> string"},
		{"a type becomes a case", `{type: string}`, `{oneOf: [{type: string}, {type: array, items: {type: string}}]}`, ""},
		{"a case of its type is narrowed", `{type: [string, array]}`, `{oneOf: [{type: string, maxLength: 3}, {type: array}]}`, "refused maxLength:  -> 3"},
		{"cases of one type", `{type: object}`, `{oneOf: [{required: [a]}, {required: [b]}]}`, "undecided oneOf:  -> "},
		{"the same condition", `{if: {required: [a]}, then: {required: [b]}}`, `{if: {required: [a]}, then: {required: [b]}}`, ""},
		{"another condition", `{if: {required: [a]}, then: {required: [b]}}`, `{if: {required: [a]}, then: {required: [c]}}`, "undecided if:  -> "},
		{"what a condition already refuses", `{not: {maximum: 3}}`, `{minimum: 2}`, "undecided minimum:  -> 2"},
		{"an expression matches names of another one", `{patternProperties: {^ab: {type: integer}}, additionalProperties: false}`, `{patternProperties: {^a: {type: string}}}`, "undecided /^a/ type: integer -> string"},
		{"an expression in the form of ECMA", `{properties: {a: {type: integer}}}`, `{patternProperties: {'^\u0061': {type: string}}}`, `refused a type: integer -> string; undecided "/^\\u0061/" type: any value -> string`},
		{"an expression that all names match leaves none", `{type: object, patternProperties: {"": {type: string}}}`, `{type: object, patternProperties: {"": {type: string}}, additionalProperties: false}`, "undecided additionalProperties:  -> false"},
		{"a property with the name of a rule", `{properties: {a: {type: integer, allOf: [{minimum: 1}]}, a-allOf: {type: string}}}`, `{properties: {a: {type: integer, allOf: [{minimum: 1}]}, a-allOf: {type: integer}}}`, "refused a-allOf type: string -> integer"},
		{"a value that looks like a reference", `{type: object, not: {const: {$ref: "#/definitions/x"}}}`, `{type: object, not: {const: {$ref: "#/definitions/y"}}}`, "undecided not:  -> "},
		{"a number that is an integer after rounding", `{anyOf: [{const: 1.00000000000000000001}]}`, `{type: integer}`, "refused enum:  ->  [1.00000000000000000001]"},
		{"a range of one number", `{type: number, minimum: 1.5, maximum: 1.5}`, `{enum: [1.5]}`, "undecided enum: number -> 1.5"},
		{"1 is 1.0", `{enum: [1, 2.0]}`, `{enum: [1.0, 2]}`, ""},
		{"names of properties", `{type: object}`, `{type: object, propertyNames: {maxLength: 3}}`, "undecided propertyNames:  -> "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var all []string
			for _, d := range (&Comparer{}).Differences(open(t, test.from), open(t, test.to)) {
				text := fmt.Sprintf("%s: %s -> %s", strings.Join(strings.Fields(kindNames[d.Kind]+" "+d.Path+" "+d.Rule), " "), d.From, d.To)
				if d.Values != "" {
					text += " [" + d.Values + "]"
				}
				all = append(all, text)
			}
			if got := strings.Join(all, "; "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestLarge: a schema whose alternatives multiply ends in bounded time, and is not said to be the same.
func TestLarge(t *testing.T) {
	definitions := func(leaf string) string {
		all := []string{fmt.Sprintf(`"d30": %s`, leaf)}
		for i := range 30 {
			all = append(all, fmt.Sprintf(`"d%d": {"anyOf": [{"properties": {"a": {"$ref": "#/$defs/d%d"}}}, {"properties": {"b": {"$ref": "#/$defs/d%d"}}}]}`, i, i+1, i+1))
		}
		return fmt.Sprintf(`{"$ref": "#/$defs/d0", "$defs": {%s}}`, strings.Join(all, ","))
	}
	if len((&Comparer{}).Differences(open(t, definitions(`{"type": "number"}`)), open(t, definitions(`{"type": "integer"}`)))) == 0 {
		t.Error("no difference")
	}
}

// TestMany: many differences that are harmless do not keep out one that is not.
func TestMany(t *testing.T) {
	properties := ""
	for i := range maxDifferences + 50 {
		properties += fmt.Sprintf("a%d: {type: string}, ", i)
	}
	from, to := `{type: object, properties: {z: {enum: [a, b]}}}`, `{type: object, properties: {`+properties+`z: {enum: [a]}}}`
	kinds := map[Kind]int{}
	for _, d := range (&Comparer{}).Differences(open(t, from), open(t, to)) {
		kinds[d.Kind]++
	}
	if kinds[Refused] != 1 || kinds[Declared] != maxDifferences {
		t.Error(kinds)
	}
}

// TestBounded: what is expensive to check ends, and is not said to be the same.
func TestBounded(t *testing.T) {
	values := func(last string) string {
		return `{"enum": [` + strings.Join(numbered("v", 20_000), ", ") + `, "` + last + `"]}`
	}
	// Each check of a text takes 2^17 comparisons.
	branches := func(pattern string) string {
		definitions, properties := []string{`"d16": {"const": 1}`}, []string{}
		for i := range 16 {
			definitions = append(definitions, fmt.Sprintf(`"d%d": {"anyOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}`, i, i+1, i+1))
		}
		for _, name := range numbered("p", 200) {
			properties = append(properties, fmt.Sprintf(`%s: {"type": "string", "pattern": %q, "not": {"$ref": "#/$defs/d0"}}`, name, pattern))
		}
		return fmt.Sprintf(`{"properties": {%s}, "$defs": {%s}}`, strings.Join(properties, ", "), strings.Join(definitions, ", "))
	}
	for _, test := range []struct{ reason, from, to string }{
		{"long lists of values", values("x"), values("y")},
		{"many branches for each sample", branches("^a"), branches("^b")},
	} {
		t.Run(test.reason, func(t *testing.T) {
			all := (&Comparer{}).Differences(open(t, test.from), open(t, test.to))
			if len(all) == 0 || all[len(all)-1].Rule != "size" || all[len(all)-1].Kind != Undecided {
				t.Errorf("%+v", all)
			}
		})
	}
}

// TestTogether: a Comparer that has taken all says of no further schema that it is the same.
func TestTogether(t *testing.T) {
	comparer, a := &Comparer{}, open(t, `{type: string}`)
	if all := comparer.Differences(a, a); len(all) != 0 {
		t.Error(all)
	}
	comparer.spend(budget{work: maxTogether * maxWork})
	if all := comparer.Differences(a, a); len(all) != 1 || all[0].Rule != "size" || all[0].Kind != Undecided {
		t.Error(all)
	}
}

// numbered are texts of JSON.
func numbered(prefix string, count int) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprintf("%q", fmt.Sprint(prefix, i))
	}
	return all
}

// random makes small schemas and values that meet often.
type random struct{ *rand.Rand }

func (r random) one(all ...string) string { return all[r.IntN(len(all))] }

func (r random) schema(depth int) string {
	var rules []string
	add := func(rule string) { rules = append(rules, rule) }
	if r.IntN(4) > 0 {
		add(r.one(`"type":"integer"`, `"type":"number"`, `"type":"string"`, `"type":["string","null"]`, `"type":"object"`, `"type":"array"`, `"type":["integer","string"]`, `"type":"boolean"`))
	}
	for range r.IntN(3) {
		add(r.one(`"minimum":1`, `"minimum":2`, `"exclusiveMinimum":1`, `"maximum":3`, `"maximum":2.5`, `"exclusiveMaximum":3`, `"multipleOf":2`, `"multipleOf":0.5`,
			`"minLength":1`, `"maxLength":2`, `"pattern":"^a"`, `"pattern":"^a*$"`, `"enum":[1,"a",null]`, `"enum":["a","b"]`, `"const":2`, `"minItems":1`, `"maxItems":1`, `"uniqueItems":true`,
			`"required":["a"]`, `"required":["a","b"]`, `"minProperties":1`, `"maxProperties":1`, `"additionalProperties":false`))
	}
	if depth > 0 && r.IntN(2) == 0 {
		child := func() string { return r.schema(depth - 1) }
		add(r.one(`"properties":{"a":`+child()+`}`, `"properties":{"a":`+child()+`,"b":`+child()+`}`, `"items":`+child(), `"items":[`+child()+`,`+child()+`]`,
			`"additionalProperties":`+child(), `"anyOf":[`+child()+`,`+child()+`]`, `"oneOf":[`+child()+`,`+child()+`]`, `"allOf":[`+child()+`,`+child()+`]`,
			`"not":`+child(), `"if":`+child()+`,"then":`+child(), `"patternProperties":{"^a":`+child()+`}`, `"patternProperties":{"^aa":`+child()+`},"additionalProperties":false`, `"contains":`+child()))
	}
	unique := map[string]string{}
	for _, rule := range rules {
		name, _, _ := strings.Cut(rule, ":")
		unique[name] = rule
	}
	rules = nil
	for _, rule := range unique {
		rules = append(rules, rule)
	}
	return "{" + strings.Join(rules, ",") + "}"
}

// values are all that random schemas tell apart, and small lists and objects of them.
func values(t *testing.T) []any {
	t.Helper()
	scalars := []string{"null", "true", "false", "-1", "0", "1", "1.5", "2", "2.25", "2.5", "3", "4", "5", `""`, `"a"`, `"aa"`, `"aaa"`, `"ab"`, `"b"`, `"bbb"`, "[]", "{}", `[1]`, `{"a":1}`, `{"z":1}`}
	all := append([]string{}, scalars...)
	for _, x := range scalars {
		all = append(all, "["+x+"]", `{"a":`+x+`}`, `{"b":`+x+`}`, `{"z":`+x+`}`)
		for _, y := range scalars {
			all = append(all, "["+x+","+y+"]", `{"a":`+x+`,"b":`+y+`}`, `{"a":`+x+`,"z":`+y+`}`)
		}
	}
	all = append(all, "[1,2,3]", `["a","b",1]`, `{"a":1,"b":1,"z":1}`, `{"a":1,"b":1,"aa":"x"}`)
	decoded := make([]any, len(all))
	for i, text := range all {
		var err error
		if decoded[i], err = jsonvalue.FromJSONWithNumbers([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return decoded
}

// TestSound: without a difference, no value of the first schema is refused by the second one; and what is
// said for certain is seen at a value.
func TestSound(t *testing.T) {
	all := values(t)
	const rounds = 800
	r := random{rand.New(rand.NewPCG(41, 3))}
	included, refused := 0, 0
	for i := range rounds {
		from, to := r.schema(2), r.schema(2)
		if i%2 == 0 {
			to = strings.Replace(from, r.one(`"minimum":1`, `"maximum":3`, `"type":"integer"`, `"minLength":1`, `"maxItems":1`), r.one(`"minimum":2`, `"maximum":4`, `"type":"number"`), 1)
		}
		var check map[string]any
		if json.Unmarshal([]byte(to), &check) != nil {
			continue
		}
		first, second := open(t, from), open(t, to)
		differences := (&Comparer{}).Differences(first, second)
		certain := false
		for _, d := range differences {
			certain = certain || d.Kind == Refused
		}
		var witness any
		seen := false
		a, b := newSide("a", first, &budget{}).root(), newSide("b", second, &budget{}).root()
		for _, value := range all {
			if a.admits(value) && !b.admits(value) {
				witness, seen = value, true
				break
			}
		}
		switch {
		case len(differences) == 0 && seen:
			t.Errorf("%s is within %s, but %v is not", from, to, witness)
		case certain && !seen:
			t.Errorf("%s is not within %s, but no value shows it: %+v", from, to, differences)
		case len(differences) == 0:
			included++
		case certain:
			refused++
		}
	}
	if included < rounds/20 || refused < rounds/20 {
		t.Errorf("only %d included and %d refused: the schemas meet too rarely", included, refused)
	}
}
