package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// TestEndlessReferences has references that come back without going into the
// value.
func TestEndlessReferences(t *testing.T) {
	types := map[string]string{
		"a": `{"$ref": "local://b"}`, "b": `{"$ref": "local://a"}`,
		"self": `{"$ref": "#"}`,
		"all":  `{"allOf": [{"$ref": "local://all"}]}`,
		"not":  `{"not": {"$ref": "local://not"}}`,
		"if":   `{"if": {"anyOf": [true, {"$ref": "#/definitions/x"}]}, "definitions": {"x": {"oneOf": [{"$ref": "#"}]}}}`,
		"dep":  `{"dependencies": {"a": {"$ref": "#"}}}`,
		"deep": `{"properties": {"x": {"items": {"$ref": "local://self"}}}}`,
	}
	for reason, want := range map[string]string{
		"a":    "cyclic references detected: local://a: (root) -> local://b: (root) -> local://a: (root) applies to the same value without end",
		"self": "cyclic references detected: local://self: (root) -> local://self: (root)",
		"all":  "local://all: (root) -> local://all: allOf.0 -> local://all: (root)",
		"not":  "cyclic references detected",
		"if":   "local://if: definitions.x -> local://if: definitions.x.oneOf.0 -> local://if: (root)",
		"dep":  "cyclic references detected",
		"deep": "cyclic references detected: local://self",
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := blueprint(types, nil).Compile(t.Context(), []byte(`{"$ref": "local://`+reason+`"}`))
			expect(t, reason, err, want)
		})
	}
	// No reference leads to the definitions here.
	_, err := (&Compiler{}).Compile(t.Context(), []byte(`{definitions: {a: {$ref: "#/definitions/b"}, b: {$ref: "#/definitions/a"}}}`))
	expect(t, "a cycle that is not used", err, "")
}

// TestMistakesInOrder: of several schemas without end the first one is told, each time.
func TestMistakesInOrder(t *testing.T) {
	endless := `{"$ref": "local://NAME"}`
	types := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		types[name] = strings.Replace(endless, "NAME", name, 1)
	}
	for range 20 {
		for _, keyword := range []string{"properties", "patternProperties", "dependencies"} {
			_, err := blueprint(types, nil).Compile(t.Context(), []byte(`{"`+keyword+`": {"z": {"$ref": "local://c"}, "x": {"$ref": "local://a"}, "y": {"$ref": "local://b"}}}`))
			expect(t, keyword, err, "cyclic references detected: local://a: (root) -> local://a")
		}
	}
}

func TestLimits(t *testing.T) {
	nested := func(levels int) string {
		return strings.Repeat(`{"items":`, levels) + "true" + strings.Repeat("}", levels)
	}
	chain := map[string]string{"c0": `{"type": "string"}`}
	for i := range 300 {
		chain[fmt.Sprintf("c%d", i+1)] = fmt.Sprintf(`{"$ref": "local://c%d"}`, i)
	}
	many := map[string]string{}
	var references []string
	for i := range 1001 {
		many[fmt.Sprintf("t%d", i)] = `{}`
		references = append(references, fmt.Sprintf(`{"$ref": "local://t%d"}`, i))
	}
	large := map[string]string{"big": `{"description": "` + strings.Repeat("x", link.MaxDocumentBytes) + `"}`}
	for i := range 3 {
		large[fmt.Sprintf("b%d", i)] = `{"description": "` + strings.Repeat("x", link.MaxDocumentBytes-100) + `"}`
	}
	var patterns []string
	for i := range 60 {
		patterns = append(patterns, fmt.Sprintf(`{"pattern": "%d%s"}`, i, strings.Repeat("x{1000}", 19)))
	}
	for _, test := range []struct {
		reason string
		types  map[string]string
		schema string
		want   string
	}{
		{"a deep schema", nil, nested(250), ""},
		{"a schema that is too deep", nil, nested(300), "nested more than 256 levels deep"},
		{"a schema that would overflow a stack", nil, nested(100_000), "exceeded max depth"},
		{"references one after the other", chain, `{"$ref": "local://c200"}`, ""},
		{"too many schemas one inside the other", chain, `{"$ref": "local://c300"}`, "more than 256 schemas apply to the same value one inside the other"},
		{"too many documents", many, `{"allOf": [` + strings.Join(references, ",") + `]}`, "more than 1000 documents belong to the schema"},
		{"too many schemas", nil, `{"allOf": [` + strings.Repeat("{},", 10_000) + `{}]}`, "more than 10000 schemas belong to the schema"},
		{"long paths", nil, strings.Repeat(`{"properties": {"`+strings.Repeat("x", 1000)+`":`, 60) + `{"definitions": {` + strings.Repeat(`"a": {}, `, 100) + `"b": {}, "c": {}}}` + strings.Repeat("}}", 60), ""},
		{"many long paths", nil, strings.Repeat(`{"properties": {"`+strings.Repeat("x", 1000)+`":`, 60) + `{"allOf": [` + strings.Repeat(`{}, `, 100) + `{}]}` + strings.Repeat("}}", 60), "the paths of all schemas that belong to the schema are longer than 4194304 bytes"},
		{"many long paths to ids", nil, strings.Repeat(`{"properties": {"`+strings.Repeat("x", 1000)+`":`, 60) + `{"allOf": [` + strings.Repeat(`{"id": "#a"}, `, 100) + `{}]}` + strings.Repeat("}}", 60), "the paths of all schemas that belong to the schema are longer than 4194304 bytes"},
		{"a large schema", large, `{"$ref": "local://big"}`, "the number of bytes of the schema is more than the limit of 8388608"},
		{"large schemas", large, `{"allOf": [{"$ref": "local://b0"}, {"$ref": "local://b1"}, {"$ref": "local://b2"}]}`, "all documents that belong to the schema is more than the limit of 16777216"},
		{"a pattern of many steps", nil, `{"pattern": "` + strings.Repeat("x{1000}", 30) + `"}`, "is too complex: use smaller repetitions"},
		{"a long pattern", nil, `{"pattern": "` + strings.Repeat("x", 10_001) + `"}`, "is longer than 10000 bytes"},
		{"many patterns of many steps", nil, `{"anyOf": [` + strings.Join(patterns, ",") + `]}`, "the patterns of the schema are too complex in all"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := blueprint(test.types, nil).Compile(t.Context(), []byte(test.schema))
			expect(t, test.reason, err, test.want)
		})
	}
}

// TestAliases has a YAML document that would become very large.
func TestAliases(t *testing.T) {
	bomb := "a0: &a0 {type: string}\n"
	for i := range 30 {
		bomb += fmt.Sprintf("a%d: &a%d {x: *a%d, y: *a%d}\n", i+1, i+1, i, i)
	}
	_, err := (&Compiler{}).Compile(t.Context(), []byte(bomb))
	expect(t, "aliases of aliases", err, "more than 750000 values")
}

func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Compiler{}).Compile(ctx, []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestExplosions has small schemas that lead to very many comparisons.
func TestExplosions(t *testing.T) {
	const want = "more than 1000000 comparisons would be needed"
	var doubling strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doubling, `"d%d": {"allOf": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	deep := strings.Repeat("[", 60) + strings.Repeat("]", 60)
	long := `"` + strings.Repeat("x", 1<<20) + `"`
	for _, test := range []struct{ reason, schema, value, want string }{
		{"each definition uses the next one twice", `{"$ref": "#/definitions/d0", "definitions": {` + doubling.String() + `"d40": {"type": "string"}}}`, `"a"`, want},
		{"each level is compared twice", `{"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}`, deep, want},
		{"two alternatives that both go down", `{"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}, "maxItems": 0}, {"items": {"$ref": "#"}}]}`, deep, want},
		{"patterns for properties", `{"patternProperties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}`, strings.Repeat(`{"ab":`, 60) + "1" + strings.Repeat("}", 60), want},
		{"a long text and a pattern of many steps", `{"pattern": "(x?){900}y"}`, long, want},
		{"a long text and a simple pattern", `{"pattern": "^x*$"}`, long, ""},
		{"alternatives that types tell apart", `{"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}]}`, deep, ""},
		{"a deep value", `{"items": {"$ref": "#"}}`, strings.Repeat("[", 900) + strings.Repeat("]", 900), ""},
		{"a value that is too deep", `{"items": {"$ref": "#"}}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested more than 1000 levels deep"},
		{"a number that takes long", `{"properties": {"a": {"minimum": 1}}}`, `{"a": [1, 1e999999]}`, "a.1: The number has more than 1000 digits"},
		{"an integer that takes long", `{"multipleOf": 3}`, strings.Repeat("9", 100_000), "(root): The number has more than 1000 digits"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			compiled, err := (&Compiler{}).Compile(t.Context(), []byte(test.schema))
			if err != nil {
				t.Error(err)
				return
			}
			v, err := jsonvalue.FromJSON([]byte(test.value))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, test.reason, compiled.Validate(v), test.want)
		})
	}
}

func TestNotPlain(t *testing.T) {
	compiled, err := (&Compiler{}).Compile(t.Context(), []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "a value of another type", compiled.Validate([]any{map[string]string{"a": "secret"}}), "a value cannot be checked: it is neither an object, an array, a string")
}

// FuzzSchema looks for schemas and values that crash, and for messages that show
// the value.
func FuzzSchema(f *testing.F) {
	for _, schema := range []string{
		`{"$ref": "#/definitions/a", "definitions": {"a": {"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}}]}}}`,
		`{"$id": "https://example.org/a", "minimum": 1, "exclusiveMinimum": true, "properties": {"a": {"$ref": "b#/c"}}}`,
		`{"patternProperties": {"^a": {"const": 1}}, "propertyNames": {"format": "regex"}, "dependencies": {"a": ["b"]}}`,
	} {
		f.Add([]byte(schema), []byte(`{"a": ["b", 1.5, null]}`))
	}
	f.Fuzz(func(t *testing.T, schema, text []byte) {
		compiled, err := blueprint(map[string]string{"a": `{"$ref": "local://a"}`}, nil).Compile(t.Context(), schema)
		if err != nil {
			return
		}
		const secret = "s3cret-s3cret"
		v, err := jsonvalue.FromJSON(text)
		if err != nil || strings.Contains(string(schema), secret) {
			return
		}
		if err := compiled.Validate(map[string]any{"a": v, "b": []any{secret, json.Number("99999999999999999999")}}); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the message shows the value: %v", err)
		}
	})
}
