package lint

import (
	"strings"
	"testing"
	"testing/fstest"

	"go.landscaper.dev/internal/landscape/plan"
)

const header = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"

// check returns the findings, one per line, without the snippets of templates.
func check(t *testing.T, files map[string]string) []string {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	found := []string{}
	for _, finding := range (Checker{Functions: plan.Functions(nil, nil)}).Files(t.Context(), tree) {
		line, _, _ := strings.Cut(finding.String(), "\n")
		found = append(found, line)
	}
	return found
}

func TestBlueprint(t *testing.T) {
	for _, test := range []struct {
		reason, blueprint string
		want              []string
	}{
		{"nothing is wrong", "", nil},
		{"no YAML", "imports: [", []string{"blueprint.yaml: error: decode blueprint.yaml: line 3: did not find expected node content"}},
		{"all wrong fields at once", "imports:\n- {name: a, type: data}\n- name: a\n  type: target\n  schema: {}", []string{
			"blueprint.yaml:4: error: imports[0].schema: Required value: data needs a schema",
			"blueprint.yaml:5: error: imports[1].targetType: Required value: ",
			"blueprint.yaml:7: error: imports[1].schema: Forbidden: ",
		}},
		{"names that jobs tolerate", "imports:\n- {name: a, schema: {}}\n- name: a\n  type: data\n  schema: {}\nexports:\n- {name: '', schema: {}}", []string{
			"blueprint.yaml:5: error: imports[1].name: Duplicate value: \"a\"",
			"blueprint.yaml:9: error: exports[0].name: Required value: ",
		}},
		{"executions need no name", "deployExecutions:\n- {type: Spiff, template: {}}\n- {type: Spiff, template: {}}", nil},
		{"an unknown field below another one", "imports:\n- name: a\n  schema: {}\n  requird: false", []string{
			`blueprint.yaml:6: warning: imports[0].requird: unknown field, it is ignored, did you mean "required"?`,
		}},
		{"an invalid schema", "localTypes:\n  b: {type: nonsense}\n  a: {type: [1]}\nexports:\n- {name: x, schema: {type: 1}}", []string{
			"blueprint.yaml:5: error: localTypes[a]: error compiling jsonschema: ",
			"blueprint.yaml:4: error: localTypes[b]: error compiling jsonschema: ",
			"blueprint.yaml:7: error: exports[0].schema: error compiling jsonschema: ",
		}},
		{"a default that breaks its schema, at any depth", "imports:\n- name: a\n  required: false\n  schema: {}\n  imports:\n  - {name: b, required: false, schema: {minimum: 3}, default: {value: 2}}", []string{
			"blueprint.yaml:8: error: imports[0].imports[0].default.value: ",
		}},
		{"a default that is never used", "imports:\n- {name: a, schema: {}, default: {value: 2}}", []string{
			"blueprint.yaml:4: warning: imports[0].default: it has no effect, because the import is required: set required: false",
		}},
		{"a schema of a component", "imports:\n- {name: a, schema: {$ref: 'cd://resources/x'}}", []string{
			"blueprint.yaml:4: note: imports[0].schema: not checked, because it refers to a component",
		}},
		{"a template that is not there", "deployExecutions:\n- {name: a, type: GoTemplate, file: none.tpl}", []string{
			`blueprint.yaml:4: error: deployExecutions[0]: template execution "a" (file "none.tpl"): read template: open none.tpl: file does not exist`,
		}},
		{"the syntax of a Go template, with its line", "importExecutions:\n- name: a\n  type: GoTemplate\n  template: |\n    bindings:\n      x: {{ if }}", []string{
			`blueprint.yaml:4: error: importExecutions[0]: template execution "a": template: a:2: missing value for if`,
		}},
		{"an unknown function", "exportExecutions:\n- {name: a, type: GoTemplate, template: '{{ nonsense }}'}", []string{
			`blueprint.yaml:4: error: exportExecutions[0]: template execution "a": template: a:1: function "nonsense" not defined`,
		}},
		{"the syntax of spiff", "subinstallationExecutions:\n- {name: a, type: Spiff, template: {a: '(( 1 + ))'}}", []string{
			`blueprint.yaml:4: error: subinstallationExecutions[0]: template execution "a"`,
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := check(t, map[string]string{"blueprint.yaml": header + test.blueprint})
			if len(got) != len(test.want) {
				t.Fatalf("got %q", got)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

func TestSubinstallations(t *testing.T) {
	const template = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: InstallationTemplate\nname: sub\n"
	nested := template + "blueprint:\n  filesystem:\n    blueprint.yaml:\n      apiVersion: landscaper.gardener.cloud/v1alpha1\n      kind: Blueprint\n"
	for _, test := range []struct {
		reason, file string
		want         string
	}{
		{"nothing is wrong", nested, ""},
		{"no YAML", "[", "blueprint.yaml:4: error: subinstallations[0].file: Invalid value"},
		{"another kind", "kind: Installation", "blueprint.yaml:4: error: subinstallations[0].file: Invalid value"},
		{"an invalid name", "name: A B\nblueprint: {ref: 'cd://resources/x'}", "sub.yaml:1: error: name: Invalid value"},
		{"no blueprint", template, "sub.yaml:1: error: blueprint: "},
		{"an unknown field", nested + "import: {}", `sub.yaml:9: warning: import: unknown field, it is ignored, did you mean "imports"?`},
		{"an import that does not exist", nested + "imports:\n  data:\n  - {name: x, dataRef: none}", "sub.yaml:11: error: imports.data[0]"},
		{"a reference to a component", template + "blueprint:\n  ref: cd://resources/x", "sub.yaml:5: note: blueprint.ref: not checked"},
		{"an invalid reference", template + "blueprint:\n  ref: nonsense://x", "sub.yaml:5: error: blueprint.ref: "},
		{"an invalid file system", template + "blueprint:\n  filesystem: [1]", "sub.yaml:5: error: blueprint.filesystem: "},
		{"a nested blueprint, written as a map", nested + "      deployExecutions:\n      - {name: a, type: GoTemplate, file: x}", "sub.yaml:10: error: blueprint.filesystem[blueprint.yaml].deployExecutions[0]: "},
		{"a nested blueprint, written as a text", template + "blueprint:\n  filesystem:\n    blueprint.yaml: |\n      import: []", "sub.yaml:6: warning: blueprint.filesystem[blueprint.yaml].import: unknown field"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := check(t, map[string]string{"blueprint.yaml": header + "subinstallations:\n- file: /sub.yaml\n", "sub.yaml": test.file})
			if (test.want == "") != (len(got) == 0) || len(got) > 1 || (len(got) == 1 && !strings.HasPrefix(got[0], test.want)) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	got := check(t, map[string]string{"blueprint.yaml": header + "subinstallations:\n- file: none.yaml\n"})
	if len(got) != 1 || got[0] != `blueprint.yaml:4: error: subinstallations[0].file: Not found: "none.yaml"` {
		t.Errorf("a file that is not there: %q", got)
	}
}

// TestCircle has inline subinstallations that wait for each other.
func TestCycle(t *testing.T) {
	const sub = "- {name: %, blueprint: {ref: 'cd://resources/x'}, imports: {data: [{name: i, dataRef: &}]}, exports: {data: [{name: e, dataRef: %}]}}\n"
	text := header + "subinstallations:\n"
	for _, names := range [][]string{{"a", "b"}, {"b", "a"}} {
		text += strings.NewReplacer("%", names[0], "&", names[1]).Replace(sub)
	}
	got := check(t, map[string]string{"blueprint.yaml": text})
	if len(got) != 3 || !strings.HasPrefix(got[2], "blueprint.yaml:3: error: subinstallations: ") || !strings.Contains(got[2], "a -> b -> a") {
		t.Errorf("got %q", got)
	}
	if got := check(t, map[string]string{"blueprint.yaml": text + "subinstallationExecutions:\n- {name: e, type: GoTemplate, template: 'subinstallations: []'}\n"}); len(got) != 2 {
		t.Errorf("others may come from a template: %q", got)
	}
}
