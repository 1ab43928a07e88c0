package schema

import (
	"testing"
)

func TestReferences(t *testing.T) {
	types := map[string]string{
		"mode":     `{"enum": ["on", "off"]}`,
		"quota":    `{"type": "object", "properties": {"cpu": {"type": "string"}}}`,
		"My_Type":  `{"type": "integer"}`,
		"tree":     `{"type": "object", "properties": {"children": {"items": {"$ref": "local://tree"}}}, "additionalProperties": false}`,
		"inner":    `{"properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": {"type": "integer"}}}`,
		"via":      `{"properties": {"mode": {"$ref": "local://mode"}, "file": {"$ref": "blueprint://schemas/network.json"}}}`,
		"old":      `{"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true, "const": 5}`,
		"list":     `{"allOf": [{"type": "string"}, {"maxLength": 3}], "properties": {"a/b~c": {"type": "null"}, "a b": {"type": "null"}}}`,
		"numbered": `{"$id": "https://example.org/numbered.json", "properties": {"a": {"$ref": "numbered.json#/definitions/a"}}, "definitions": {"a": {"type": "integer"}}}`,
		"anchor":   `{"definitions": {"a": {"$id": "#number", "type": "integer"}}}`,
		"ping":     `{"items": {"$ref": "local://pong"}}`,
		"pong":     `{"properties": {"ping": {"$ref": "local://ping"}}, "type": "object"}`,
	}
	files := map[string]string{
		"schemas/network.json": `{"type": "object", "properties": {"cidr": {"type": "string"}, "port": {"$ref": "port.yaml"}}}`,
		"schemas/port.yaml":    "type: integer\nmaximum: 65535\n",
		"top.json":             `{"type": "boolean"}`,
		"a b.json":             `{"type": "boolean"}`,
	}
	for _, test := range []struct{ reason, schema, value, want string }{
		{"a local type", `{$ref: "local://mode"}`, "maybe", `Must be one of: "on", "off"`},
		{"a local type below properties", `{properties: {m: {$ref: "local://mode"}}}`, `{m: maybe}`, `m: Must be one of: "on", "off"`},
		{"the limits of section 2: a quota that fits", `{$ref: "local://quota"}`, `{cpu: 250m}`, ""},
		{"the limits of section 2: one that does not", `{$ref: "local://quota"}`, `{cpu: 1}`, "cpu: Invalid type. Expected: string, given: integer"},
		{"a name that no host could have", `{$ref: "local://My_Type"}`, "a", "Expected: integer"},
		{"a part of a local type", `{$ref: "local://quota#/properties/cpu"}`, "1", "Expected: string"},
		{"an index in the fragment", `{$ref: "local://list#/allOf/1"}`, "abcd", "less than or equal to 3"},
		{"names with a slash and a tilde", `{$ref: "local://list#/properties/a~1b~0c"}`, "a", "Expected: null"},
		{"an escape of URIs in the fragment", `{$ref: "local://list#/properties/a%20b"}`, "a", "Expected: null"},
		{"an empty fragment is the whole", `{$ref: "local://mode#"}`, "maybe", "Must be one of"},
		{"references inside local types", `{$ref: "local://via"}`, `{mode: maybe, file: {cidr: 1}}`, `[file.cidr: Invalid type. Expected: string, given: integer, mode: Must be one of: "on", "off"]`},
		{"# inside a local type means that type", `{$ref: "local://inner", definitions: {a: {type: string}}}`, `{a: x}`, "a: Invalid type. Expected: integer"},
		{"each document has its own dialect", `{$ref: "local://old"}`, "1", "(root): Must be greater than 1"},
		{"a type that refers to itself", `{$ref: "local://tree"}`, `{children: [{children: []}, {x: 1}]}`, "children.1: Additional property x is not allowed"},
		{"types that refer to each other", `{$ref: "local://ping"}`, `[{ping: [1]}]`, "0.ping.0: Invalid type. Expected: object, given: integer"},
		{"a schema that refers to itself", `{additionalProperties: {$ref: "#"}, type: object}`, `{a: {b: 1}}`, "a.b: Invalid type. Expected: object"},
		{"an id with a scheme of its own, used only inside", `{$ref: "local://numbered"}`, `{a: x}`, "a: Invalid type. Expected: integer"},
		{"an id of the form #name", `{$ref: "local://anchor#number"}`, "x", "Expected: integer"},
		{"ids of the form of a path change nothing", `{$id: "#/a", properties: {a: {$id: "#/properties/a", $ref: "#/definitions/b"}}, definitions: {b: {type: integer}}}`, "{a: x}", "a: Invalid type"},
		{"an id below which # is meant", `{properties: {a: {$id: "https://example.org/a", definitions: {x: {type: integer}}, items: {$ref: "#/definitions/x"}}}}`, "{a: [x]}", "a.0: Invalid type. Expected: integer"},

		{"a file", `{$ref: "blueprint://schemas/network.json"}`, `{cidr: 1}`, "cidr: Invalid type. Expected: string"},
		{"a part of a file, as in section 5.4", `{$ref: "blueprint://schemas/network.json#/properties/cidr"}`, `1`, "Expected: string"},
		{"a YAML file", `{$ref: "blueprint://schemas/port.yaml"}`, `70000`, "less than or equal to 65535"},
		{"a file beside another one", `{$ref: "blueprint://schemas/network.json"}`, `{port: 70000}`, "port: Must be less than or equal to 65535"},
		{"a file at the root", `{$ref: "blueprint://top.json"}`, "1", "Expected: boolean"},
		{"three slashes", `{$ref: "blueprint:///schemas/port.yaml"}`, "a", "Expected: integer"},
		{"a file with a blank in its name", `{$ref: "blueprint://a%20b.json"}`, "1", "Expected: boolean"},
		{"a path cannot lead out", `{$ref: "blueprint://../../top.json"}`, "1", "Expected: boolean"},

		{"rules beside a reference count", `{$ref: "local://list#/allOf/0", maxLength: 1}`, "ab", "less than or equal to 1"},
		{"rules beside a reference count, and the reference too", `{$ref: "local://list#/allOf/0", maxLength: 1, allOf: [true]}`, "1", "Expected: string"},
		{"rules beside a reference count in draft 7, too", `{` + draft7 + `, properties: {a: {$ref: "#/definitions/s", maxLength: 1}}, definitions: {s: {type: string}}}`, "{a: ab}", "a: String length"},
		{"an id beside a reference is ignored", `{$id: "https://example.org/x.json", $ref: "#/definitions/s", definitions: {s: {type: string}}}`, "1", "Expected: string"},
		{"the published schema of schemas needs no network", `{$ref: "http://json-schema.org/draft-07/schema#"}`, `{type: text}`, "type: Must validate at least one schema"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			expect(t, test.reason, check(t, blueprint(types, files), test.schema, test.value), test.want)
		})
	}
}

func TestReferenceErrors(t *testing.T) {
	types := map[string]string{
		"a": `{"type": "object", "properties": {"x": {"type": "string"}}}`, "b": `{}`,
		"broken":  `{"properties": {"x": {"$ref": "local://none"}}}`,
		"outside": `{"$id": "https://example.org/schemas/a.json", "properties": {"x": {"$ref": "b.json#/definitions/y"}}}`,
		"etc":     `{"id": "file:///etc/", "properties": {"x": {"$ref": "passwd"}}}`,
		"twice":   `{"properties": {"x": {"$id": "https://example.org/x"}, "y": {"$id": "https://example.org/x"}, "z": {"$ref": "https://example.org/x"}}}`,
	}
	files := map[string]string{"bad.json": `{"type": `, "dir/x.json": `{}`, "list.json": `[]`}
	for _, test := range []struct{ reason, schema, want string }{
		{"a reference that is not a string", `{properties: {a: {$ref: 5}}}`, "properties.a.$ref: a reference must be a string, not an integer"},
		{"a reference that is an object", `{$ref: {type: string}}`, "$ref: a reference must be a string, not an object"},
		{"http", `{properties: {a: {$ref: "http://169.254.169.254/latest"}}}`, `error resolving reference at properties.a.$ref: "http://169.254.169.254/latest": http://169.254.169.254/latest is refused, because schemas are not fetched from other places: local://`},
		{"https", `{$ref: "https://example.org/a.json#/b"}`, "https://example.org/a.json is refused"},
		{"file", `{$ref: "file:///etc/passwd"}`, "file:///etc/passwd is refused"},
		{"another scheme", `{$ref: "ftp://example.org"}`, "ftp://example.org is refused"},
		{"a scheme without slashes", `{$ref: "urn:example:a"}`, "urn:example:a is refused"},
		{"a scheme in capitals", `{$ref: "HTTP://example.org"}`, "HTTP://example.org is refused"},
		{"no scheme at the other end", `{$ref: "//example.org/a"}`, "//example.org/a is refused"},
		{"a relative one without a place to start", `{$ref: "other.json"}`, "other.json is refused"},
		{"a relative one below an id", `{$ref: "local://outside"}`, `error resolving reference at local://outside: properties.x.$ref: "b.json#/definitions/y": https://example.org/schemas/b.json is refused`},
		{"a relative one below an id of a file", `{$ref: "local://etc"}`, "file:///etc/passwd is refused"},
		{"a later draft's schema would be fetched", `{$ref: "https://json-schema.org/draft/2020-12/schema"}`, "is refused"},
		{"no URI", `{$ref: "%zz"}`, "it is no URI"},

		{"an unknown type", `{$ref: "local://c"}`, "type c is not defined in local types: defined are a, b, broken, etc, outside, twice"},
		{"a path in a type", `{$ref: "local://a/b"}`, "a path is not supported for local resources"},
		{"an unknown type inside a type", `{$ref: "local://broken"}`, `error resolving reference at local://broken: properties.x.$ref: "local://none": type none is not defined in local types`},
		{"a fragment that leads nowhere", `{$ref: "local://a#/properties/y"}`, `error resolving fragment /properties/y: element at "/properties" doesn't have a field "y"`},
		{"a fragment below a text", `{$ref: "local://a#/properties/x/type/y"}`, `unable to resolve fragment /properties/x/type/y: element at "/properties/x/type" is not an object`},
		{"a fragment that is not a schema", `{$ref: "local://a#/properties/x/type"}`, "local://a: properties.x.type: a schema is an object, true or false, not a string"},
		{"a fragment of the schema itself", `{$ref: "#/definitions/y"}`, `doesn't have a field "definitions"`},
		{"a fragment that is a name", `{$ref: "local://a#y"}`, `no schema has the id "local://a#y"`},
		{"a fragment with a wrong escape", `{$ref: "local://a#/~2"}`, "write ~0 for ~"},
		{"an index behind the end", `{allOf: [true], $ref: "#/allOf/1"}`, `doesn't have a field "1"`},
		{"an index with a leading zero", `{allOf: [true], $ref: "#/allOf/00"}`, `doesn't have a field "00"`},
		{"an id that two schemas have", `{$ref: "local://twice"}`, `the id "https://example.org/x" is used at local://twice: properties.x and at local://twice: properties.y`},

		{"a file that is not there", `{$ref: "blueprint://none.json"}`, "unable to read local schema from none.json: the path starts at the root of the blueprint"},
		{"a directory", `{$ref: "blueprint://dir"}`, "unable to read local schema from dir"},
		{"no file at all", `{$ref: "blueprint://"}`, "the name of a file is missing"},
		{"a file that is broken", `{$ref: "blueprint://bad.json"}`, "unable to read local schema from bad.json: it is neither JSON nor YAML"},
		{"a file without a schema", `{$ref: "blueprint://list.json"}`, "blueprint://list.json: (root): a schema is an object, true or false, not an array"},
		{"a component in a schema without one", `{$ref: "cd://resources/a"}`, "no component descriptor defined to resolve the ref: set spec.componentDescriptor"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := blueprint(types, files).Compile(t.Context(), []byte(test.schema))
			expect(t, test.reason, err, test.want)
		})
	}
	_, err := (&Compiler{}).Compile(t.Context(), []byte(`{$ref: "blueprint://a.json"}`))
	expect(t, "without files", err, "no filesystem defined to read a local schema")
	_, err = (&Compiler{}).Compile(t.Context(), []byte(`{$ref: "local://a"}`))
	expect(t, "without types", err, "type a is not defined in local types: none is defined")
}
