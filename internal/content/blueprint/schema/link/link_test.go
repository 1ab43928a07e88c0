package link_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// sources has types and files that refer to each other.
func sources() link.Sources {
	local := map[string]v1alpha1.JSONSchemaDefinition{}
	for name, text := range map[string]string{
		"port":  `{"type": "integer", "minimum": 1}`,
		"a":     `{"properties": {"b": {"$ref": "local://b"}}}`,
		"b":     `{"properties": {"a": {"$ref": "local://a"}}}`,
		"four":  `{"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://h/x.json", "minimum": 1, "exclusiveMinimum": true, "const": 1, "$id": "http://h/no"}`,
		"slash": `{"definitions": {"a/b": {"type": "string"}}}`,
	} {
		local[name] = v1alpha1.JSONSchemaDefinition{RawMessage: []byte(text)}
	}
	return link.Sources{Local: local, Files: fstest.MapFS{"dir/x y.json": {Data: []byte("type: boolean\n")}}}
}

// written is the one document as JSON, whose keys have an order.
func written(t *testing.T, linked *link.Linked) string {
	t.Helper()
	text, err := json.Marshal(linked.Document["definitions"])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocument demands the one document of a schema: 0 is the schema itself.
func TestDocument(t *testing.T) {
	for _, test := range []struct{ reason, schema, want string }{
		{"nothing to refer to", `type: string`, `{"0":{"type":"string"}}`},
		{"everything is allowed", `true`, `{"0":true}`},
		{"nothing is allowed", `false`, `{"0":false}`},
		{"an empty schema", `{}`, `{"0":{}}`},
		{"a reference alone", `{$ref: "local://port"}`, `{"0":{"$ref":"#/definitions/1"},"1":{"minimum":1,"type":"integer"}}`},
		{"a reference to itself", `{items: {$ref: "#"}}`, `{"0":{"items":{"$ref":"#/definitions/0"}}}`},
		{"what stands beside a reference counts", `{$ref: "local://port", maximum: 5}`, `{"0":{"allOf":[{"$ref":"#/definitions/1"}],"maximum":5},"1":{"minimum":1,"type":"integer"}}`},
		{"a rule for all beside a reference counts", `{$ref: "local://port", allOf: [true]}`, `{"0":{"allOf":[true,{"$ref":"#/definitions/1"}]},"1":{"minimum":1,"type":"integer"}}`},
		{"two references to one place", `{properties: {x: {$ref: "local://port"}, y: {$ref: "local://port#"}}}`, `{"0":{"properties":{"x":{"$ref":"#/definitions/1"},"y":{"$ref":"#/definitions/1"}}},"1":{"minimum":1,"type":"integer"}}`},
		{"types that refer to each other end", `{$ref: "local://a"}`, `{"0":{"$ref":"#/definitions/1"},"1":{"properties":{"b":{"$ref":"#/definitions/2"}}},"2":{"properties":{"a":{"$ref":"#/definitions/1"}}}}`},
		{"a place in a type, with a slash in its name", `{$ref: "local://slash#/definitions/a~1b"}`, `{"0":{"$ref":"#/definitions/1"},"1":{"type":"string"}}`},
		{"a file with a blank in its name", `{$ref: "blueprint://dir/x%20y.json"}`, `{"0":{"$ref":"#/definitions/1"},"1":{"type":"boolean"}}`},
		{"a file by a longer path is the same file", `{allOf: [{$ref: "blueprint://dir/x%20y.json"}, {$ref: "blueprint:///dir/../dir/./x%20y.json"}]}`, `{"0":{"allOf":[{"$ref":"#/definitions/1"},{"$ref":"#/definitions/1"}]},"1":{"type":"boolean"}}`},
		{"a type keeps its own draft, in which const means nothing", `{$ref: "local://four", const: 2}`, `{"0":{"allOf":[{"$ref":"#/definitions/1"}],"const":2},"1":{"exclusiveMinimum":1}}`},
		{"ids and remarks are left out", `{$id: "http://h/a", title: t, description: d, default: 1, examples: [1], $comment: c, type: string}`, `{"0":{"type":"string"}}`},
		{"unknown keywords have no effect", `{typ: string, x-secret: 1}`, `{"0":{}}`},
		{"keywords of later drafts have none", `{unevaluatedProperties: false, prefixItems: [true], dependentRequired: {}}`, `{"0":{}}`},
		{"unused definitions are checked", `{definitions: {b: {type: string}, a: true}}`, `{"0":{},"1":true,"2":{"type":"string"}}`},
		{"a schema in $defs counts only if a reference leads to it", `{$defs: {a: {type: text}, b: true}, not: {$ref: "#/$defs/b"}}`, `{"0":{"not":{"$ref":"#/definitions/1"}},"1":true}`},
		{"a format that is known", `{format: date}`, `{"0":{"format":"blueprint-date"}}`},
		{"a format that is not", `{format: duration}`, `{"0":{}}`},
		{"no type at all is no rule", `{type: []}`, `{"0":{}}`},
		{"an empty list of rules as well", `{allOf: [], anyOf: []}`, `{"0":{}}`},
		{"a flag that is off", `{minimum: 1, exclusiveMinimum: false}`, `{"0":{"minimum":1}}`},
		{"a flag takes the place of its limit", `{maximum: 5, exclusiveMaximum: true, minimum: 1}`, `{"0":{"exclusiveMaximum":5,"minimum":1}}`},
		{"numbers keep their digits", `{const: 12345678901234567890.10}`, `{"0":{"const":12345678901234567890.10}}`},
		{"what looks like a reference in a value is a value", `{const: {$ref: "local://none"}, enum: [{$ref: 5}]}`, `{"0":{"const":{"$ref":"local://none"},"enum":[{"$ref":5}]}}`},
		{"a property with the name of a keyword", `{properties: {$ref: {type: string}, id: true}}`, `{"0":{"properties":{"$ref":{"type":"string"},"id":true}}}`},
		{"names of properties have a rule of their own", `{propertyNames: {maxLength: 2}}`, `{"0":{"blueprint-propertyNames":"#/definitions/1"},"1":{"maxLength":2}}`},
		{"a dependency is a schema or names", `{dependencies: {a: [b], c: {type: object}}}`, `{"0":{"dependencies":{"a":["b"],"c":{"type":"object"}}}}`},
		{"items are one schema or several", `{items: [true, {items: false}]}`, `{"0":{"items":[true,{"items":false}]}}`},
		{"a published schema is referred to as it is", `{$ref: "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}`, `{"0":{"$ref":"http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			// Go's maps have another order each time; the document must not.
			for range 5 {
				linked, err := link.Link(t.Context(), sources(), []byte(test.schema))
				if err != nil {
					t.Fatal(err)
				}
				if got := written(t, linked); got != test.want {
					t.Fatalf("got %s", got)
				}
			}
		})
	}
}

// TestLinkedTwice links the one document again: what was translated needs no translation.
func TestLinkedTwice(t *testing.T) {
	first, err := link.Link(t.Context(), sources(), []byte(`{properties: {a: {$ref: "local://a", maxProperties: 5}, p: {pattern: "^a", type: [string, "null"]}}, if: {required: [a]}, then: {$ref: "local://port"}}`))
	if err != nil {
		t.Fatal(err)
	}
	first.Document["$ref"] = "#/definitions/0"
	text, err := json.Marshal(first.Document)
	if err != nil {
		t.Fatal(err)
	}
	second, err := link.Link(t.Context(), link.Sources{}, text)
	if err != nil {
		t.Fatal(err)
	}
	// Its definitions are 1 and more behind it; 0 is the reference to the first.
	definitions := second.Document["definitions"].(map[string]any)
	if len(definitions) != len(first.Document["definitions"].(map[string]any))+1 {
		t.Errorf("got %s", written(t, second))
	}
}

// TestTheSameMistakeFirst has several mistakes; always the same one is reported, so that
// a status does not change from one reconciliation to the next.
func TestTheSameMistakeFirst(t *testing.T) {
	for _, test := range []struct{ reason, schema, want string }{
		{"references", `{properties: {b: {$ref: "local://x"}, a: {$ref: "local://y"}, c: {$ref: "ftp://z"}}}`, "properties.a.$ref"},
		{"keywords", `{pattern: "(", format: 5, items: 3}`, "format: a format is a string"},
		{"a mistake of its own before those of its references", `{$ref: "local://none", items: 3}`, "items: a schema is an object"},
		{"definitions", `{definitions: {b: 5, a: 6, c: 7}}`, "definitions.a: a schema is an object"},
		{"patterns", `{patternProperties: {"(b": true, "(a": true, "(c": true}}`, `the pattern "(a"`},
		{"dependencies", `{dependencies: {b: 5, a: 5, c: 5}}`, "dependencies.a: a schema is an object"},
		{"numbers that are too long", `{"const": {"b": 1e9999, "a": 1e9998, "c": {"a": 1e9999}}}`, "const.a: The number"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			for range 20 {
				_, err := link.Link(t.Context(), sources(), []byte(test.schema))
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("got %v, want %q", err, test.want)
				}
			}
		})
	}
}

func TestOriginal(t *testing.T) {
	linked, err := link.Link(t.Context(), sources(), []byte(`{properties: {p: {$ref: "local://slash#/definitions/a~1b"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason, path, want string
	}{
		{"the schema itself", "definitions/0", "(root)"},
		{"below a definition", "definitions/0/properties/p", "properties.p"},
		{"a place in another document", "definitions/1/type", "local://slash: definitions.a/b.type"},
		{"a definition that is not there", "definitions/2", "definitions.2"},
		{"no definition", "definitions", "definitions"},
		{"a definition with a name", "definitions/x", "definitions.x"},
		{"another place", "properties/x", "properties.x"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := linked.Original(strings.Split(test.path, "/")); got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := link.Link(ctx, sources(), []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestUnknownTypesAreListed names what there is, in its order and not without end.
func TestUnknownTypesAreListed(t *testing.T) {
	many := link.Sources{Local: map[string]v1alpha1.JSONSchemaDefinition{}}
	for i := range 500 {
		many.Local[fmt.Sprintf("t%03d", i)] = v1alpha1.JSONSchemaDefinition{RawMessage: []byte(`{}`)}
	}
	_, err := link.Link(t.Context(), many, []byte(`{$ref: "local://t"}`))
	if err == nil || !strings.Contains(err.Error(), "defined are t000, t001, ") || !strings.HasSuffix(err.Error(), ", t019, ...") {
		t.Errorf("got %v", err)
	}
}

func TestPatterns(t *testing.T) {
	linked, err := link.Link(t.Context(), link.Sources{}, []byte(`{pattern: '^\u00e4+$', patternProperties: {'^b': {pattern: c}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason, pattern, good, bad string
	}{
		{"a pattern of the schema, in the form of ECMA", `^\u00e4+$`, "ää", "a"},
		{"a pattern for names", `^b`, "bc", "cb"},
		{"a pattern that the library asks for later", `^d\/e$`, "d/e", "de"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			p, err := linked.Patterns.Engine(test.pattern)
			if err != nil {
				t.Fatal(err)
			}
			if p.String() != test.pattern || !p.MatchString(test.good) || p.MatchString(test.bad) {
				t.Errorf("%s", p)
			}
		})
	}
	for reason, pattern := range map[string]string{
		"a look-ahead": "(?=a)", "a long one": strings.Repeat("a", 20_000), "one of many steps": strings.Repeat("a{1000}", 100),
	} {
		t.Run(reason+" is refused later as well", func(t *testing.T) {
			if _, err := linked.Patterns.Engine(pattern); err == nil || len(err.Error()) > 20_000 {
				t.Errorf("got %v", err)
			}
		})
	}
}
