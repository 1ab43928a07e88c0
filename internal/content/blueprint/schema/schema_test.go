package schema

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

func value(t testing.TB, text string) any {
	t.Helper()
	v, err := jsonvalue.FromYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// check compiles a schema and validates a value.
func check(t testing.TB, c *Compiler, schema, text string) error {
	t.Helper()
	compiled, err := c.Compile(t.Context(), []byte(schema))
	if err != nil {
		return err
	}
	return compiled.Validate(value(t, text))
}

// expect compares an error with what it must contain; "" wants none.
func expect(t testing.TB, reason string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: got %v, want %q", reason, err, want)
	}
}

const (
	draft4 = `"$schema": "http://json-schema.org/draft-04/schema#"`
	draft6 = `"$schema": "http://json-schema.org/draft-06/schema"`
	draft7 = `"$schema": "http://json-schema.org/draft-07/schema#"`
	later  = `"$schema": "https://json-schema.org/draft/2020-12/schema"`
)

func TestDialects(t *testing.T) {
	for _, test := range []struct{ reason, schema, value, want string }{
		{"hybrid: a limit beside a flag, as in draft 4", `{minimum: 1, exclusiveMinimum: true}`, "1", "Must be greater than 1"},
		{"hybrid: the flag replaces the limit, so there is one message", `{maximum: 1, exclusiveMaximum: true}`, "2", "(root): Must be less than 1"},
		{"hybrid: a flag that is off changes nothing", `{minimum: 1, exclusiveMinimum: false}`, "1", ""},
		{"hybrid: a limit that is a number, as in draft 6", `{exclusiveMaximum: 3}`, "3", "Must be less than 3"},
		{"hybrid: a flag without a limit is a mistake", `{exclusiveMinimum: true}`, "1", "exclusiveMinimum: minimum is missing beside it"},
		{"hybrid: const", `{const: 1}`, "2", "Must be 1"},
		{"hybrid: contains", `{contains: {type: string}}`, "[1]", "At least one of the items must match (contains)"},
		{"hybrid: propertyNames", `{propertyNames: {maxLength: 2}}`, "{abc: 1}", "The property name abc is not allowed: String length must be less than or equal to 2"},
		{"hybrid: if and then", `{if: {type: string}, then: {minLength: 2}}`, "a", "String length must be greater than or equal to 2"},
		{"hybrid: else", `{if: {type: string}, else: {minimum: 2}}`, "1", "Must be greater than or equal to 2"},
		{"hybrid: definitions", `{$ref: "#/definitions/a", definitions: {a: {type: string}}}`, "1", "Expected: string, given: integer"},
		{"hybrid: $defs is a container", `{$ref: "#/$defs/a", $defs: {a: {type: string}}}`, "1", "Expected: string, given: integer"},
		{"hybrid: any place can be referred to", `{$ref: "#/x-types/0", x-types: [{type: string}]}`, "1", "Expected: string, given: integer"},
		{"hybrid: id gives an address", `{$ref: "https://example.org/a", definitions: {a: {id: "https://example.org/a", type: string}}}`, "1", "Expected: string"},
		{"hybrid: $id gives an address", `{$ref: "https://example.org/a", definitions: {a: {$id: "https://example.org/a", type: string}}}`, "1", "Expected: string"},
		{"hybrid: true and false are schemas", `{properties: {a: false}}`, "{a: 1}", "a: No value is allowed here"},
		{"hybrid: a whole schema that is true", `true`, "{a: 1}", ""},
		{"hybrid: keywords of later drafts have no effect", `{unevaluatedProperties: false, dependentRequired: {a: [b]}, dependentSchemas: {a: false}, prefixItems: [false], minContains: 3}`, "{a: 1}", ""},
		{"hybrid: an annotation in another form is not looked at", `{type: string, examples: {a: 1}, readOnly: maybe, title: 1, $comment: [], nullable: true}`, "a", ""},
		{"hybrid: empty lists are no rule", `{type: [], allOf: [], anyOf: [], items: [], required: []}`, "[1]", ""},

		{"draft 4: the flag", `{` + draft4 + `, minimum: 1, exclusiveMinimum: true}`, "1", "Must be greater than 1"},
		{"draft 4: a number is a mistake", `{` + draft4 + `, exclusiveMinimum: 1}`, "1", "exclusiveMinimum: it must be true or false in draft 4, not an integer"},
		{"draft 4: const has no effect", `{` + draft4 + `, const: 1, if: true, then: false}`, "2", ""},
		{"draft 4: id gives an address, $id does not", `{` + draft4 + `, $ref: "https://example.org/a", definitions: {a: {id: "https://example.org/a", type: string}}}`, "1", "Expected: string"},
		{"draft 6: const", `{` + draft6 + `, const: 1}`, "2", "Must be 1"},
		{"draft 6: if has no effect", `{` + draft6 + `, if: true, then: false}`, "2", ""},
		{"draft 7: if", `{` + draft7 + `, if: true, then: false}`, "2", "No value is allowed here"},
		{"draft 7: the flag is a mistake", `{` + draft7 + `, minimum: 1, exclusiveMinimum: true}`, "1", "exclusiveMinimum: it must be a number in draft 7, not a boolean"},
		{"draft 7: id gives no address", `{` + draft7 + `, $ref: "https://example.org/a", definitions: {a: {id: "https://example.org/a"}}}`, "1", "https://example.org/a is refused"},
		{"a later draft is hybrid", `{` + later + `, minimum: 1, exclusiveMinimum: true, prefixItems: [false]}`, "1", "Must be greater than 1"},
		{"an own dialect is hybrid, and not fetched", `{$schema: "https://example.org/mine", const: 1}`, "2", "Must be 1"},
		{"a dialect that is not a string", `{$schema: 7}`, "2", "$schema must be a string, not an integer"},
		{"a dialect inside has no effect", `{properties: {a: {` + draft4 + `, const: 1}}}`, "{a: 2}", "Must be 1"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			expect(t, test.reason, check(t, &Compiler{}, test.schema, test.value), test.want)
		})
	}
}

func TestDefaultDialect(t *testing.T) {
	for _, test := range []struct{ reason, version, schema, value, want string }{
		{"the default of all blueprints changes nothing", v1alpha1.DefaultJSONSchemaVersion, `{minimum: 1, exclusiveMinimum: true}`, "1", "Must be greater than 1"},
		{"a later draft changes nothing", "https://json-schema.org/draft/2020-12/schema", `{const: 1}`, "2", "Must be 1"},
		{"draft 4 counts", "http://json-schema.org/draft-04/schema#", `{const: 1}`, "2", ""},
		{"the schema's own word comes first", "http://json-schema.org/draft-04/schema#", `{` + draft7 + `, const: 1}`, "2", "Must be 1"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			expect(t, test.reason, check(t, &Compiler{Default: test.version}, test.schema, test.value), test.want)
		})
	}
}

// TestOnlyInSchemaPosition has properties and values with the names of keywords.
func TestOnlyInSchemaPosition(t *testing.T) {
	const schema = `
type: object
properties:
  id: {type: string}
  $id: {type: string}
  $ref: {type: string}
  $schema: {type: string}
  exclusiveMinimum: {type: boolean}
  definitions: {type: integer}
  pattern: {type: string}
  const: {const: {$ref: 5, exclusiveMinimum: true}}
  enum: {enum: [{$ref: "https://example.org"}]}
required: [id]
additionalProperties: false
`
	for _, test := range []struct{ reason, value, want string }{
		{"all are ordinary properties", `{id: a, $id: b, $ref: "http://example.org", $schema: "", exclusiveMinimum: true, definitions: 1, pattern: "(", const: {$ref: 5, exclusiveMinimum: true}, enum: {$ref: "https://example.org"}}`, ""},
		{"the rule of id", `{id: 1}`, "id: Invalid type. Expected: string, given: integer"},
		{"the rule of $ref", `{id: a, $ref: 1}`, "$ref: Invalid type. Expected: string, given: integer"},
		{"the rule of exclusiveMinimum", `{id: a, exclusiveMinimum: 1}`, "exclusiveMinimum: Invalid type. Expected: boolean, given: integer"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			expect(t, test.reason, check(t, &Compiler{}, schema, test.value), test.want)
		})
	}
}

func TestNumbersAreExact(t *testing.T) {
	for _, test := range []struct{ reason, schema, value, want string }{
		{"a limit above 2^53", `{maximum: 9007199254740993}`, "9007199254740993", ""},
		{"a number above a limit above 2^53", `{maximum: 9007199254740993}`, "9007199254740994", "Must be less than or equal to 9007199254740993"},
		{"an integer of more than 64 bits", `{"const": 123456789012345678901234567890}`, `123456789012345678901234567890`, ""},
		{"the number beside a constant of many digits", `{"const": 123456789012345678901234567890}`, `123456789012345678901234567891`, "Must be 123456789012345678901234567890"},
		{"a tenth is a tenth", `{"multipleOf": 0.1}`, `0.3`, ""},
		{"not a multiple", `{"multipleOf": 0.1}`, `0.35`, "Must be a multiple of 0.1"},
		{"an integer in another form", `{type: integer}`, `1.0`, ""},
		{"a number is no integer", `{type: integer}`, `1.5`, "Expected: integer, given: number"},
		{"an integer is a number", `{type: number}`, `1`, ""},
		{"2 and 2.0 are equal", `{enum: [2]}`, `2.0`, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			v, err := jsonvalue.FromJSON([]byte(test.value))
			if err != nil {
				t.Fatal(err)
			}
			compiled, err := (&Compiler{}).Compile(t.Context(), []byte(test.schema))
			if err != nil {
				t.Error(err)
				return
			}
			expect(t, test.reason, compiled.Validate(v), test.want)
		})
	}
}

// TestMessages has one row for each rule. The values hold the word "secret", which
// no message may show.
func TestMessages(t *testing.T) {
	for _, test := range []struct{ schema, value, want string }{
		{`{type: integer}`, `secret`, "(root): Invalid type. Expected: integer, given: string"},
		{`{type: [integer, "null"]}`, `secret`, "(root): Invalid type. Expected: null/integer, given: string"},
		{`{properties: {a: {items: {type: string}}}}`, `{a: [b, 1, null]}`, "[a.1: Invalid type. Expected: string, given: integer, a.2: Invalid type. Expected: string, given: null]"},
		{`{properties: {a.b: {"": {}, type: string}}}`, `{a.b: true}`, `"a.b": Invalid type. Expected: string, given: boolean`},
		{`{required: [name, kind]}`, `{x: secret}`, "[(root): kind is required, (root): name is required]"},
		{`{additionalProperties: false}`, `{z: secret, x: secret}`, "[(root): Additional property x is not allowed, (root): Additional property z is not allowed]"},
		{`{dependencies: {a: [b]}}`, `{a: secret}`, "(root): b is required, because a is given"},
		{`{dependencies: {a: {required: [b]}}}`, `{a: secret}`, "(root): b is required"},
		{`{enum: [small, 2, null]}`, `secret`, `(root): Must be one of: "small", 2, null`},
		{`{const: {a: [1]}}`, `secret`, `(root): Must be {"a":[1]}`},
		{`{pattern: "^[a-c]+$"}`, `secret`, "(root): Must match the pattern ^[a-c]+$"},
		{`{minLength: 10}`, `secret`, "(root): String length must be greater than or equal to 10"},
		{`{maxLength: 2}`, `secret`, "(root): String length must be less than or equal to 2"},
		{`{format: ipv4}`, `secret`, "(root): Must have the format ipv4"},
		{`{minimum: 1}`, `0`, "(root): Must be greater than or equal to 1"},
		{`{maximum: 1.5}`, `2`, "(root): Must be less than or equal to 1.5"},
		{`{exclusiveMinimum: 1}`, `1`, "(root): Must be greater than 1"},
		{`{exclusiveMaximum: 1}`, `1`, "(root): Must be less than 1"},
		{`{multipleOf: 2}`, `3`, "(root): Must be a multiple of 2"},
		{`{minItems: 2}`, `[secret]`, "(root): Array must have at least 2 items"},
		{`{maxItems: 1}`, `[secret, secret]`, "(root): Array must have at most 1 items"},
		{`{uniqueItems: true}`, `[a, secret, secret]`, "(root): Items must be unique, but items 1 and 2 are equal"},
		{`{items: [true], additionalItems: false}`, `[secret, secret]`, "(root): Additional items are not allowed, there are 1"},
		{`{contains: {type: integer}}`, `[secret]`, "(root): At least one of the items must match (contains)"},
		{`{minProperties: 2}`, `{a: secret}`, "(root): Must have at least 2 properties"},
		{`{maxProperties: 0}`, `{a: secret}`, "(root): Must have at most 0 properties"},
		{`{properties: {a: {propertyNames: {enum: [x]}}, b: {}}}`, `{a: {z: secret}, b: secret}`, `a: The property name z is not allowed: Must be one of: "x"`},
		{`{not: {type: string}}`, `secret`, "(root): Must not validate the schema (not)"},
		{`false`, `secret`, "(root): No value is allowed here"},
		{`{allOf: [{type: integer}, {maxLength: 1}]}`, `secret`, "[(root): Invalid type. Expected: integer, given: string, (root): String length must be less than or equal to 1]"},
		{`{anyOf: [{type: integer}, {maxLength: 1}]}`, `secret`, "[(root): Must validate at least one schema (anyOf), (root): String length must be less than or equal to 1]"},
		{`{oneOf: [{type: integer}, {maxLength: 1}]}`, `secret`, "[(root): Must validate one and only one schema (oneOf), (root): String length must be less than or equal to 1]"},
		{`{oneOf: [{type: string}, {maxLength: 10}]}`, `secret`, "(root): Must validate one and only one schema (oneOf)"},
		{
			`{anyOf: [{properties: {kind: {const: a}, x: {type: integer}, z: {type: integer}}}, {properties: {kind: {const: b}, x: {type: boolean}}}]}`, `{kind: a, x: secret, z: secret}`,
			"[(root): Must validate at least one schema (anyOf), x: Invalid type. Expected: integer, given: string, z: Invalid type. Expected: integer, given: string]",
		},
		{`{items: {type: integer}}`, `[a, 1, b, 1, 1, 1, 1, 1, 1, 1, c]`, "[0: Invalid type. Expected: integer, given: string, 2: Invalid type. Expected: integer, given: string, 10: Invalid type. Expected: integer, given: string]"},
	} {
		t.Run(test.schema, func(t *testing.T) {
			err := check(t, &Compiler{}, test.schema, test.value)
			if err == nil || err.Error() != test.want {
				t.Errorf("%s:\n got %v\nwant %s", test.schema, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: the message shows the value: %v", test.schema, err)
			}
		})
	}
}

func TestViolations(t *testing.T) {
	err := check(t, &Compiler{}, `{properties: {a: {type: string}}, required: [b]}`, `{a: 1}`)
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	want := []Violation{
		{Path: "(root)", Rule: "required", Message: "b is required"},
		{Path: "a", Rule: "type", Message: "Invalid type. Expected: string, given: integer"},
	}
	if fmt.Sprint(invalid.Violations) != fmt.Sprint(want) || invalid.Violations[1].Rule != "type" {
		t.Errorf("got %#v", invalid.Violations)
	}
}

// TestNamesOfOthers has names that come with the value and could harm a log.
func TestNamesOfOthers(t *testing.T) {
	err := check(t, &Compiler{}, `{additionalProperties: false}`, `{"a\nb": 1}`)
	expect(t, "a line break is escaped", err, `Additional property "a\nb" is not allowed`)
	err = check(t, &Compiler{}, `{additionalProperties: {type: string}}`, `{`+strings.Repeat("x", 500)+`: 1}`)
	expect(t, "a long name is cut", err, strings.Repeat("x", 100)+`...": Invalid type`)
	err = check(t, &Compiler{}, `{items: {type: string}}`, `[`+strings.Repeat("1,", 100)+`1]`)
	expect(t, "many violations are summed up", err, "and 81 more]")
}

func TestSchemaErrors(t *testing.T) {
	for _, test := range []struct{ reason, schema, want string }{
		{"nothing", ``, "no schema is given"},
		{"null", `null`, "(root): a schema is an object, true or false, not null"},
		{"a text", `"x"`, "(root): a schema is an object, true or false, not a string"},
		{"broken JSON", `{"a": {}`, "neither JSON nor YAML"},
		{"two values", `{} {}`, "there is more after the first value"},
		{"two documents", "type: string\n---\ntype: integer", "there is more after the first document"},
		{"a list where a schema belongs", `{properties: {a: []}}`, "properties.a: a schema is an object, true or false, not an array"},
		{"a wrong type", `{properties: {a: {type: text}}}`, "properties.a.type: Must be one of: "},
		{"required of draft 3", `{properties: {a: {required: true}}}`, "properties.a.required: Invalid type. Expected: array, given: boolean"},
		{"a negative length", `{minLength: -1}`, "minLength: Must be greater than or equal to 0"},
		{"properties that are not an object", `{properties: [a]}`, "properties: Invalid type. Expected: object, given: array"},
		{"definitions that are not an object", `{definitions: []}`, "definitions: it must be an object, not an array"},
		{"a mistake in an unused definition", `{definitions: {a: {type: text}}}`, "definitions.a.type: Must be one of: "},
		{"a format that is not a string", `{format: [date]}`, "format: a format is a string, not an array"},
		{"a look-ahead", `{pattern: "^(?=a)"}`, `pattern: the pattern "^(?=a)" is not valid (invalid or unsupported Perl syntax): use the syntax of RE2, which has no look-around and no back references`},
		{"a back reference", `{properties: {a: {pattern: '(a)\1'}}}`, `properties.a.pattern: the pattern "(a)\\1" is not valid (invalid escape sequence)`},
		{"a look-behind in the name of properties", `{patternProperties: {"(?<!a)b": {}}}`, `patternProperties: the pattern "(?<!a)b" is not valid (invalid named capture)`},
		{"a number that takes long", `{"const": 1e100000}`, "const: The number has more than 1000 digits"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := (&Compiler{}).Compile(t.Context(), []byte(test.schema))
			expect(t, test.reason, err, test.want)
			expect(t, test.reason, err, "error compiling jsonschema: ")
		})
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct{ reason, pattern, good, bad string }{
		{"an escaped slash", `^a\/b$`, "a/b", "ab"},
		{"an escaped hyphen", `^[a\-z]+$`, "a-z", "b"},
		{"a character by its number", `^\u00e4$`, "ä", "a"},
		{"an escaped backslash before a u", `^\\u00e4$`, `\u00e4`, "ä"},
		{"a pattern is searched for anywhere", `b`, "abc", "ac"},
		{"a named group", `^(?<x>a)$`, "a", "b"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			schema, err := yaml.Marshal(map[string]any{"pattern": test.pattern})
			if err != nil {
				t.Fatal(err)
			}
			compiled, err := (&Compiler{}).Compile(t.Context(), schema)
			if err != nil {
				t.Error(err)
				return
			}
			if err := compiled.Validate(test.good); err != nil {
				t.Error(err)
			}
			expect(t, test.reason, compiled.Validate(test.bad), "Must match the pattern "+test.pattern)
		})
	}
}

func TestManyGoroutines(t *testing.T) {
	compiled, err := (&Compiler{}).Compile(t.Context(), []byte(`{type: object, properties: {a: {pattern: "^a", format: regex}, b: {$ref: "#"}}, propertyNames: {maxLength: 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	good, bad := value(t, `{a: a, b: {a: aa}}`), value(t, `{a: a, b: {a: b}}`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if err := compiled.Validate(good); err != nil {
					t.Error(err)
				}
				expect(t, "a bad value", compiled.Validate(bad), "b.a: Must match the pattern ^a")
			}
		})
	}
	group.Wait()
}

// blueprint is a compiler for a blueprint with types and files.
func blueprint(types map[string]string, files map[string]string) *Compiler {
	c := &Compiler{Local: map[string]v1alpha1.JSONSchemaDefinition{}, Files: fstest.MapFS{}}
	for name, text := range types {
		c.Local[name] = v1alpha1.JSONSchemaDefinition{RawMessage: []byte(text)}
	}
	all := fstest.MapFS{}
	for name, text := range files {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	c.Files = all
	return c
}
