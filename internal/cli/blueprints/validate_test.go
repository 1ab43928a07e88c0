package blueprints

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

func TestValidate(t *testing.T) {
	files := map[string]string{
		"good/blueprint.yaml":  header,
		"evil/blueprint.yaml":  header + `"de\e[2J\u009bploy": []` + "\n",
		"typo/blueprint.yaml":  header + "deployExecution: []\n",
		"wrong/blueprint.yaml": header + "imports:\n- {name: a, schema: {type: integer}, required: false, default: {value: x}}\n",
		"needs/blueprint.yaml": header + "imports:\n- {name: a, schema: {$ref: 'cd://resources/schema'}}\n",
	}
	const valid, note = "Blueprint validated without errors\n", "note: imports[0].schema: not checked, because it refers to a component: give the component to check it, too\n"
	const unknown = "blueprint.yaml:3: warning: deployExecution: unknown field, it is ignored, did you mean \"deployExecutions\"?\n"
	const wrong = "blueprint.yaml:4: error: imports[0].default.value: (root): Invalid type. Expected: integer, given: string\n"
	for _, test := range []struct {
		reason, args string
		want         outcome
	}{
		{"a valid blueprint", "good", outcome{0, valid, ""}},
		{"a blueprint with a warning is valid", "typo", outcome{0, unknown + valid, ""}},
		{"a blueprint with a warning is not valid with --strict", "typo --strict", outcome{1, unknown, "Error: not valid: 1 of 1 blueprints\n"}},
		{"an error", "wrong", outcome{1, wrong, "Error: not valid: 1 of 1 blueprints\n"}},
		{"a note is no warning", "needs --strict", outcome{0, "blueprint.yaml:4: " + note + valid, ""}},
		{"what others have written acts on no terminal", "evil", outcome{0, "blueprint.yaml:1: warning: de?.2J?ploy: unknown field, it is ignored\n" + valid, ""}},
		{"several", "good wrong", outcome{1, "good: " + valid + "wrong: " + wrong, "Error: not valid: 1 of 2 blueprints\n"}},
		{"a blueprint that does not exist, beside another", "good none", outcome{3, "good: " + valid + "none: error: there is no blueprint none: give the directory or the archive of one, REPOSITORY//COMPONENT:VERSION, or oci://REGISTRY/NAME:TAG\n", "Error: not valid: 1 of 2 blueprints\n"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, files)
			if got := execute(t, append([]string{"validate"}, strings.Fields(test.args)...)...); got != test.want {
				t.Errorf("%s: %+v", test.reason, got)
			}
		})
	}
	terminaltest.WriteFiles(t, files)
	if got := execute(t, "validate", "none", "wrong"); got.code != 1 {
		t.Errorf("different failures: %+v", got)
	}
}

// TestValidateAsJSONOnATerminal escapes what a terminal would act on.
func TestValidateAsJSONOnATerminal(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{"evil/blueprint.yaml": header + `"de\u202e\u009bploy": []` + "\n"})
	got := execute(t, "validate", "evil", "-o", "json")
	if strings.ContainsFunc(strings.ReplaceAll(got.out, "\n", ""), terminal.Controls) || !strings.Contains(got.out, `"de\u202e\u009bploy"`) {
		t.Errorf("%q", got.out)
	}
}

// TestValidateAsJSON has every field of the documented form.
func TestValidateAsJSON(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{"typo/blueprint.yaml": header + "deployExecution: []\n", "good/blueprint.yaml": header})
	got := execute(t, "validate", "typo", "good", "-o", "json")
	const want = `[
  {
    "source": "typo",
    "valid": true,
    "findings": [
      {
        "severity": "warning",
        "file": "blueprint.yaml",
        "line": 3,
        "field": "deployExecution",
        "message": "unknown field, it is ignored, did you mean \"deployExecutions\"?"
      }
    ]
  },
  {
    "source": "good",
    "valid": true,
    "findings": []
  }
]
`
	if got != (outcome{0, want, ""}) {
		t.Errorf("%+v", got)
	}
}

// TestRenderAsJSON decodes the documented form.
func TestRenderAsJSON(t *testing.T) {
	terminaltest.WriteFiles(t, team)
	got := execute(t, "render", "team", "di", "-f", "imports.yaml", "-o", "json")
	var units []struct {
		Path    string         `json:"path"`
		Content map[string]any `json:"content"`
	}
	if err := json.Unmarshal([]byte(got.out), &units); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	var paths []string
	for _, u := range units {
		paths = append(paths, u.Path)
	}
	if want := "deployitems/own deployitems/other deployitems/state subinstallations/provider/deployitems/server"; strings.Join(paths, " ") != want || units[0].Content["kind"] != "DeployItem" {
		t.Errorf("got %v: %+v", paths, got)
	}
	terminaltest.WriteFiles(t, map[string]string{"bp/blueprint.yaml": header})
	if got := execute(t, "render", "bp", "-o", "json"); got != (outcome{0, "[]\n", ""}) {
		t.Errorf("nothing: %+v", got)
	}
	if got := execute(t, "render", "bp"); got != (outcome{0, "No deploy items defined\nNo subinstallations defined\n", ""}) {
		t.Errorf("nothing: %+v", got)
	}
}

const (
	componentA = `meta: {schemaVersion: v2}
component:
  name: example.org/a
  version: 1.0.0
  provider: p
  repositoryContexts: []
  sources: []
  resources: []
  componentReferences: [{name: b, componentName: example.org/b, version: 2.0.0}]
`
	componentB = `meta: {schemaVersion: v2}
component: {name: example.org/b, version: 2.0.0, provider: p, repositoryContexts: [], sources: [], componentReferences: [], resources: [{name: image, type: ociImage, version: 1.0.0, relation: external, access: {type: ociRegistry, imageReference: "r.example.org/b:1"}}]}
`
	more = `- {name: more, type: ociImage, version: 1.0.0, relation: external, access: {type: ociRegistry, imageReference: "r.example.org/more:1"}}`
)

// TestLocalDescriptors gives the component by files.
func TestLocalDescriptors(t *testing.T) {
	files := map[string]string{
		"a.yaml": componentA, "b.yaml": componentB, "more.yaml": more, "map.yaml": "resources:\n" + more, "none.yaml": "{}",
		"bp/blueprint.yaml": header + `
deployExecutions:
- {name: d, type: GoTemplate, template: "deployItems: [{name: own, type: 'x{{ range .cd.component.resources }}{{ .access.imageReference }}{{ end }}'}, {name: all, type: '{{ range .components.components }}{{ .component.name }} {{ end }}'}]"}
`,
		"e.yaml": `deployItems: [{name: e, selector: ., template: "exports: {v: '{{ (getComponent .cd \"name\" \"b\").component.version }}', count: {{ len .components.components }}}"}]`,
		"ex/blueprint.yaml": header + `
exports: [{name: v, schema: {type: string}}]
deployExecutions: [{name: d, type: GoTemplate, template: "deployItems: [{name: i, type: t}]"}]
exportExecutions: [{name: e, type: GoTemplate, template: "exports: {v: '{{ .deployitems.i.v }} of {{ .deployitems.i.count }}'}"}]
`,
	}
	for _, test := range []struct {
		reason, args string
		code         int
		out, err     string
	}{
		{"all that belongs together", "bp -c a.yaml -a b.yaml", 0, "type: 'example.org/a example.org/b '", ""},
		{"further resources", "bp -c a.yaml -a b.yaml -r more.yaml", 0, "type: xr.example.org/more:1", ""},
		{"further resources as a map", "bp -c a.yaml -a b.yaml -r map.yaml", 0, "type: xr.example.org/more:1", ""},
		{"a resources file without any", "bp -c a.yaml -r none.yaml", 64, "", "resources none.yaml: there are no resources"},
		{"a descriptor that is not valid", "bp -c more.yaml", 64, "", "component descriptor more.yaml: "},
		{"a descriptor that is missing", "bp -c a.yaml", 1, "", "(here components are given with -c REPOSITORY//COMPONENT:VERSION, or their descriptors with -c and -a)"},
		{"components in export templates", "ex exports -c a.yaml -a b.yaml -e e.yaml -q", 0, "v: 2.0.0 of 2", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, files)
			got := execute(t, append([]string{"render"}, strings.Fields(test.args)...)...)
			if got.code != test.code || !strings.Contains(got.out, test.out) || !strings.Contains(got.err, test.err) {
				t.Errorf("%s: %+v", test.reason, got)
			}
		})
	}
}

// FuzzInputs looks for files with imports or export templates that end the program.
func FuzzInputs(f *testing.F) {
	f.Add(team["imports.yaml"], team["exports.yaml"])
	f.Add("imports: {list: [null], map: {a: null}, cluster: null}", "deployItems: [null]\ninstallations: [{}]")
	f.Add("imports: {cluster: {metadata: {name: [1]}}}", "installations: [{selector: ., template: '{{ .imports.cluster.spec }}'}]")
	f.Add("imports: []", "deployItems: {}")
	f.Fuzz(func(t *testing.T, imports, exports string) {
		terminaltest.WriteFiles(t, team)
		if os.WriteFile("i.yaml", []byte(imports), 0o644) != nil || os.WriteFile("e.yaml", []byte(exports), 0o644) != nil {
			t.Fatal("write")
		}
		if got := execute(t, "render", "team", "-f", "imports.yaml", "-f", "i.yaml", "-e", "e.yaml"); got.code != 0 && !strings.Contains(got.err, "Error: ") {
			t.Errorf("%+v", got)
		}
	})
}

// TestValidateReferences checks references to blueprints of components, of which
// the component is known.
func TestValidateReferences(t *testing.T) {
	for _, test := range []struct{ reason, reference, err string }{
		{"a blueprint", "cd://componentReferences/b/resources/bp", ""},
		{"something else", "cd://componentReferences/b/resources/image", "blueprint.yaml:5: error: subinstallations[0].blueprint.ref: the resource has the type ociImage: a blueprint has the type landscaper.gardener.cloud/blueprint\n"},
		{"no such resource", "cd://resources/none", "blueprint.yaml:5: error: subinstallations[0].blueprint.ref: unable to find resource"},
		{"no such component", "cd://componentReferences/none/resources/bp", "blueprint.yaml:5: error: subinstallations[0].blueprint.ref: unable to find resource"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, map[string]string{
				"a.yaml": componentA, "bp/blueprint.yaml": header + "subinstallations:\n- name: sub\n  blueprint: {ref: '" + test.reference + "'}\n",
				"b.yaml": strings.Replace(componentB, "resources: [", "resources: [{name: bp, type: blueprint, version: 1.0.0, relation: local, access: {type: none}}, ", 1),
			})
			got := execute(t, "validate", "bp", "-c", "a.yaml", "-a", "b.yaml")
			if (test.err == "") != (got.code == 0) || !strings.Contains(got.out, test.err) {
				t.Errorf("%s: %+v", test.reason, got)
			}
		})
	}
}

// TestWhatIsThere: a name that does not exist comes with those that do, once.
func TestWhatIsThere(t *testing.T) {
	const archive = `{meta: {schemaVersion: v2}, component: {name: example.org/shop, version: 1.0.0, provider: p, repositoryContexts: [], sources: [], componentReferences: [], resources: [
{name: web, version: 1.0.0, type: blueprint, relation: local, access: {type: localFilesystemBlob, fileName: web}}, {name: schema, version: 1.0.0, type: json, relation: local, access: {type: none}}]}}`
	terminaltest.WriteFiles(t, map[string]string{"here/shop": archive, "own/blueprint.yaml": header})
	for _, test := range []struct{ reason, args, err string }{
		{"a version", "render here//example.org/shop:2.0.0", `component version "example.org/shop:2.0.0" not found in the local repository: there are example.org/shop:1.0.0` + "\n"},
		{"that of -c", "render own -c here//example.org/none:1.0.0", "there are example.org/shop:1.0.0\n"},
		{"a resource", "render here//example.org/shop:1.0.0 --resource nope", `ref: failed to get resource with name nope: component version example.org/shop:1.0.0 has none with the identity {"name":"nope"}: its blueprints are web` + "\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := execute(t, strings.Fields(test.args)...); got.code != 3 || !strings.HasSuffix(got.err, test.err) {
				t.Errorf("%s: %+v", test.reason, got)
			}
		})
	}
}
