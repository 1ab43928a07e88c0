package blueprint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
)

// load loads a blueprint that has only a description.
func load(t testing.TB, description string) (*Blueprint, error) {
	t.Helper()
	var files memfs.Builder
	if err := files.AddFile(v1alpha1.BlueprintFileName, description); err != nil {
		t.Fatal(err)
	}
	return Load(files.Tree())
}

func TestLoad(t *testing.T) {
	for _, test := range []struct {
		reason, description string
		want                func(*v1alpha1.Blueprint) bool
	}{
		{"the header may be missing", `imports: [{name: a, targetType: kubernetes-cluster}]`,
			func(b *v1alpha1.Blueprint) bool { return b.Imports[0].Type == v1alpha1.ImportTypeTarget }},
		{"the target type of a map gets its prefix, too", `imports: [{name: a, type: targetMap, targetType: kubernetes-cluster}]`,
			func(b *v1alpha1.Blueprint) bool {
				return b.Imports[0].TargetType == "landscaper.gardener.cloud/kubernetes-cluster"
			}},
		{"JSON", `{"apiVersion": "landscaper.gardener.cloud/v1alpha1", "kind": "Blueprint", "annotations": {"a": "b"}}`,
			func(b *v1alpha1.Blueprint) bool { return b.Annotations["a"] == "b" }},
		{"anchors and merged maps", "localTypes:\n  a: &a {type: string, minLength: 1}\n  b: {<<: *a, minLength: 2}\n  c: *a\n",
			func(b *v1alpha1.Blueprint) bool {
				return string(b.LocalTypes["b"].RawMessage) == `{"minLength":2,"type":"string"}` && string(b.LocalTypes["c"].RawMessage) == `{"minLength":1,"type":"string"}`
			}},
		{"words for truth of older YAML", `imports: [{name: a, schema: {}, required: no}]`,
			func(b *v1alpha1.Blueprint) bool { return !*b.Imports[0].Required }},
		{"numbers keep their digits", `imports: [{name: a, required: false, schema: {}, default: {value: [123456789012345678901234567890, 1.10, 0x1f, 08, +5]}}]`,
			func(b *v1alpha1.Blueprint) bool {
				return string(b.Imports[0].Default.Value.RawMessage) == `[123456789012345678901234567890,1.10,31,8,5]`
			}},
		{"the name of the schema dialect that most authors use", `jsonSchema: "https://json-schema.org/draft-07/schema"`,
			func(b *v1alpha1.Blueprint) bool {
				return b.JSONSchemaVersion == "https://json-schema.org/draft-07/schema"
			}},
		{"the default dialect", `{}`, func(b *v1alpha1.Blueprint) bool { return b.JSONSchemaVersion == v1alpha1.DefaultJSONSchemaVersion }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			loaded, err := load(t, test.description)
			if err != nil {
				t.Error(err)
			} else if !test.want(loaded.Info) || len(loaded.Warnings) > 0 {
				t.Errorf("got %+v, warnings %q", loaded.Info, loaded.Warnings)
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	for _, test := range []struct{ reason, description, want string }{
		{"another kind", `kind: Installation`, `decode blueprint.yaml: kind is "Installation": write Blueprint`},
		{"another version", `apiVersion: landscaper.gardener.cloud/v2`, `decode blueprint.yaml: apiVersion is "landscaper.gardener.cloud/v2": write landscaper.gardener.cloud/v1alpha1`},
		{"a kind that is not a string", `kind: {}`, "kind is "},
		{"nothing", ``, "is not a map with fields"},
		{"a list", `[imports]`, "is not a map with fields"},
		{"no YAML", `imports: [`, "decode blueprint.yaml: line 1"},
		{"a field that is there twice", "imports: []\nexports: []\nimports: []\n", "line 3, column 1: the key is there twice, first in line 1"},
		{"a field that is there twice inside", "localTypes:\n  a:\n    type: string\n    type: string\n", "line 4, column 5: the key is there twice, first in line 3"},
		{"a number in the place of a list", `imports: 7`, "field imports must be a list, not number"},
		{"a list in the place of a map", `localTypes: []`, "field localTypes must be a map, not array"},
		{"a number in the place of a text, inside", `imports: [{name: 7}]`, "field imports.name must be a text, not number"},
		{"a text in the place of a truth", `imports: [{name: a, required: maybe}]`, "required must be true or false, not string"},
		{"an import without a type", `imports: [{name: a}]`, "imports[0]: Required value"},
		{"an import type of old times", `imports: [{name: a, type: componentDescriptor}]`, `imports[0].type: Unsupported value: "componentDescriptor"`},
		{"an import execution without a type", `importExecutions: [{name: a}]`, "importExecutions[0].type: Required value"},
		{"a description that is too large", "# " + strings.Repeat("x", maxDescription), "read blueprint.yaml: the number of bytes is more than the limit of 4194304"},
		{"a short text that stands for many bytes", "annotations: {a: &a " + strings.Repeat("x", 1<<20) + "}\nlocalTypes: {y: [" + strings.Repeat("*a, ", 100) + "]}", "with its aliases the text is longer"},
		{"a text to be merged as a map", `{<<: x}`, "only maps can be merged"},
		{"a key that is a list", `{[a]: b}`, "a map or a list is used as a key"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := load(t, test.description); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %.300v, want %q", err, test.want)
			}
		})
	}
}

func TestMissingDescriptionNamesWhatIsThere(t *testing.T) {
	for _, test := range []struct{ reason, filesystem, want string }{
		{"a directory too much", `{my-blueprint: {blueprint.yaml: ""}, README.md: ""}`, `there is no blueprint.yaml at the root of the blueprint's files, found: "README.md", directory "my-blueprint" (which has one: its content must be at the root)`},
		{"nothing at all", `{}`, "found: nothing"},
		{"a lot", `{a: "", b: "", c: "", d: "", e: "", f: "", g: "", h: "", i: "", j: "", k: "", l: ""}`, `"j", 2 more`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			files, err := inline(t, test.filesystem)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Load(files); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	files, err := inline(t, `{blueprint.yaml: {a: b}}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(files); err == nil || !strings.Contains(err.Error(), "blueprint.yaml is a directory: write its content as a text") {
		t.Errorf("a directory in the place of the description: %v", err)
	}
}

func TestWarnings(t *testing.T) {
	const maxWarnings = 50
	for _, test := range []struct {
		reason, description string
		want                []string
	}{
		{"a field with a wrong letter", `deployExecution: []`, []string{`deployExecution: unknown field, it is ignored, did you mean "deployExecutions"?`}},
		{"a field with a wrong case", `Imports: []`, []string{`Imports: unknown field, it is ignored, did you mean "imports"?`}},
		{"a field that is like no other", `metadata: {name: x}`, []string{`metadata: unknown field, it is ignored`}},
		{"fields inside, at any depth", `imports: [{name: a, schema: {}, requierd: false, required: false, imports: [{name: b, schema: {}, x-note: ""}]}]`,
			[]string{`imports[0].imports[0].x-note: unknown field, it is ignored`, `imports[0].requierd: unknown field, it is ignored, did you mean "required"?`}},
		{"subinstallations", `subinstallations: [{name: a, blueprint: {ref: "cd://resources/b", files: {}}, imports: {targets: [{name: t, targets: [t], targetRef: t}]}}]`,
			[]string{`subinstallations[0].blueprint.files: unknown field, it is ignored`, `subinstallations[0].imports.targets[0].targetRef: unknown field, it is ignored, did you mean "target"?`}},
		{"schemas, defaults, templates, mappings and file systems are free", `
localTypes: {a: {anything: 1}}
imports: [{name: a, required: false, schema: {x: 1}, default: {value: {y: 1}}}]
deployExecutions: [{name: a, type: GoTemplate, template: {deployItems: []}}]
subinstallations: [{name: a, blueprint: {filesystem: {z: {q: ""}}}, importDataMappings: {m: {n: 1}}}]`, nil},
		{"annotations are free", `annotations: {anything: x}`, nil},
		{"an invalid dialect", `jsonSchema: {}`, []string{"jsonSchema is not the name of a dialect, it is ignored: write for example jsonSchemaVersion: " + v1alpha1.DefaultJSONSchemaVersion}},
		{"two dialects", `{jsonSchema: a, jsonSchemaVersion: b}`, []string{"jsonSchema is ignored, since jsonSchemaVersion is given, too"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			loaded, err := load(t, test.description)
			if err != nil {
				t.Error(err)
			} else if !slices.Equal(loaded.Warnings, test.want) {
				t.Errorf("got %q, want %q", loaded.Warnings, test.want)
			}
		})
	}
	many := "{"
	for i := range 2 * maxWarnings {
		many += fmt.Sprintf("unknown%d: 1, ", i)
	}
	if loaded, err := load(t, many+"}"); err != nil || len(loaded.Warnings) != maxWarnings+1 || loaded.Warnings[maxWarnings] != "50 more fields are unknown" {
		t.Errorf("very many unknown fields: %d warnings, %v", len(loaded.Warnings), err)
	}
}
