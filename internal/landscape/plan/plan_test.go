package plan

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/template/mask"
	"go.landscaper.dev/internal/model/dataflow"
)

// load makes a blueprint of its description and further files.
func load(t testing.TB, description string, files ...string) *blueprint.Blueprint {
	t.Helper()
	builder := &memfs.Builder{}
	all := append([]string{v1alpha1.BlueprintFileName, description}, files...)
	for i := 0; i < len(all); i += 2 {
		if err := builder.AddFile(all[i], all[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := blueprint.Load(builder.Tree())
	if err != nil {
		t.Fatalf("%v\n%s", err, description)
	}
	return loaded
}

func target(name string) *v1alpha1.Target {
	return &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "space"},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig":"hunter2hunter2"}`))},
	}
}

// input imports a value, a Target, a list and a map of Targets.
func input(t testing.TB, description string, files ...string) Input {
	t.Helper()
	return Input{
		Installation: &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "inst", UID: "uid"}},
		Blueprint:    load(t, description, files...),
		Imports: dataflow.Imports{
			Data:        map[string]dataflow.DataImport{"size": {Value: v1alpha1.NewAnyJSON([]byte("3"))}, "password": {Value: v1alpha1.NewAnyJSON([]byte(`"hunter2hunter2"`))}},
			Targets:     map[string]*v1alpha1.Target{"cluster": target("host")},
			TargetLists: map[string][]*v1alpha1.Target{"list": {target("l0"), target("l1")}},
			TargetMaps:  map[string]map[string]*v1alpha1.Target{"map": {"blue": target("m-blue")}},
		},
	}
}

const imports = `
imports:
- {name: size, schema: {type: integer}}
- {name: password, schema: {type: string}}
- {name: cluster, targetType: kubernetes-cluster}
- {name: list, type: targetList, targetType: kubernetes-cluster}
- {name: map, type: targetMap, targetType: kubernetes-cluster}
`

func children(t testing.TB, in Input) (*Children, error) {
	t.Helper()
	made, err := New(t.Context(), in)
	if err != nil {
		return nil, err
	}
	return made.Children(t.Context())
}

func TestDeployItems(t *testing.T) {
	in := input(t, imports+`
deployExecutions:
- {name: a, type: GoTemplate, file: /templates/deploy.yaml}
- name: b
  type: GoTemplate
  template: |
    deployitems:
    - name: one
      type: t
      target: {import: cluster}
      dependsOn: [from-file]
      timeout: 5m
      OnDelete: {skipUninstallIfClusterRemoved: true}
      config: {apiVersion: v1, kind: Any, host: {{ .imports.cluster.metadata.name }}, size: {{ .imports.size }}}
    - {name: two, type: t, target: {name: other}}
- name: c
  type: Spiff
  template:
    deployItems:
    - {name: three, type: t, target: {import: list, index: 1}, config: {size: (( imports.size + 1 ))}}
    - {name: four, type: t, target: {import: map, key: blue}}
`, "templates/deploy.yaml", "deployItems: [{name: from-file, type: t}]")
	in.NamedTargets = true
	made, err := children(t, in)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, item := range made.DeployItems {
		line := item.Name
		if item.Target != nil {
			line += " on " + item.Target.Namespace + "/" + item.Target.Name
		}
		if item.Configuration != nil {
			line += " " + string(item.Configuration.Raw)
		}
		lines = append(lines, line)
	}
	want := []string{
		"from-file", `one on space/host {"apiVersion":"v1","host":"host","kind":"Any","size":3}`, "two on space/other",
		`three on space/l1 {"size":4}`, "four on space/m-blue",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if one := made.DeployItems[1]; one.DependsOn[0] != "from-file" || one.Timeout.String() != "5m0s" || !one.OnDelete.SkipUninstallIfClusterRemoved {
		t.Errorf("%+v", one)
	}
}

// TestUnknownFields: a field of a rendered item that does not exist has no effect, which a warning
// reports without a value of an import.
func TestUnknownFields(t *testing.T) {
	const head, tail = `deploy execution "a": deployItems[0]`, `, which has no effect`
	for _, test := range []struct {
		reason, fields string
		want           []string
	}{
		{"another word, and a field in another case", "configuration: {}, CONFIG: {}", []string{head + ` has an unknown field "configuration"` + tail}},
		{"a misspelt order", "dependOn: [y]", []string{head + ` has an unknown field "dependOn"` + tail + ": did you mean dependsOn?"}},
		{"a misspelt field of the Target", "target: {name: z, indx: 1}", []string{head + `.target has an unknown field "indx"` + tail + ": did you mean index?"}},
		{"a misspelt field of the deletion", "onDelete: {skipUninstalIfClusterRemoved: true}", []string{head + `.onDelete has an unknown field "skipUninstalIfClusterRemoved"` + tail + ": did you mean skipUninstallIfClusterRemoved?"}},
		{"fields of parts in another case", "Target: {NAME: z}, ondelete: {SkipUninstallIfClusterRemoved: true}", nil},
		{"configurations are those of deployers", "config: {anything: goes}", nil},
		{"a name that was rendered from a value", `{{ printf "%s%s" "se" "cret" }}: 1`, []string{head + ` has an unknown field "` + mask.Hidden + `"` + tail}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			template := strconv.Quote("deployItems: [{name: x, type: t, " + test.fields + "}]")
			in := input(t, `deployExecutions: [{name: a, type: GoTemplate, template: `+template+`}]`)
			in.NamedTargets = true
			made, err := New(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := made.Children(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(made.Warnings, test.want) {
				t.Errorf("warnings %q, want %q", made.Warnings, test.want)
			}
		})
	}
}

func TestDeployItemErrors(t *testing.T) {
	template := func(items string) string {
		return "- {name: a, type: GoTemplate, template: '" + items + "'}"
	}
	tests := []struct{ reason, executions, want string }{
		{"an import that does not exist", template(`deployItems: [{name: x, type: t, target: {import: ghost}}]`), `invalid deployitem specification "x": target import "ghost" not found: the Installation imports the Targets ["cluster"]`},
		{"an element of something that is not a list", template(`deployItems: [{name: x, type: t, target: {import: cluster, index: 0}}]`), `targetlist import "cluster" not found`},
		{"an element that a list does not have", template(`deployItems: [{name: x, type: t, target: {import: list, index: 2}}]`), `index out of bounds: targetlist import "list" has 2 elements`},
		{"a negative index", template(`deployItems: [{name: x, type: t, target: {import: list, index: -1}}]`), `index out of bounds`},
		{"an element of something that is not a map", template(`deployItems: [{name: x, type: t, target: {import: cluster, key: a}}]`), `targetmap import "cluster" not found`},
		{"a key that a map does not have", template(`deployItems: [{name: x, type: t, target: {import: map, key: red}}]`), `key "red" not found in targetmap import "map": it has 1 other keys`},
		{"a reference to nothing", template(`deployItems: [{name: x, type: t, target: {}}]`), "empty target reference"},
		{"two items of one name", template(`deployItems: [{name: x, type: t}, {name: x, type: t}]`), `deployItems[1].name: Duplicate value: "x"`},
		{"items that wait for each other", template(`deployItems: [{name: x, type: t, dependsOn: [z]}, {name: z, type: t, dependsOn: [x]}]`), "x -> z -> x"},
		{"no template", "- {name: a, type: GoTemplate}", "no template found"},
		{"a file that does not exist", "- {name: a, type: GoTemplate, file: ghost.yaml}", "ghost.yaml"},
		{"a value is not shown", template(`deployItems: {{ .imports.password }}`), "error while decoding templated execution"},
		{"a misspelt name of a value", template(`deployItems: [{name: x, type: t, config: {a: {{ .imports.ghost }}}}]`), `"no value"`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := children(t, input(t, imports+"deployExecutions:\n"+test.executions))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the message shows a value: %v", err)
			}
		})
	}
}

func TestImports(t *testing.T) {
	in := input(t, `
imports:
- {name: size, schema: {type: integer}}
- {name: color, required: false, default: {value: blue}, schema: {type: string}}
- {name: host, schema: {type: string}}
importExecutions:
- name: first
  type: GoTemplate
  template: "bindings: {url: 'https://{{ .imports.host }}', double: {{ mul .imports.size 2 }}}"
- name: second
  type: Spiff
  template: {bindings: {more: (( imports.double + 1 )), color: (( "dark-" imports.color ))}}
`)
	in.Installation.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{"host": v1alpha1.NewAnyJSON([]byte(`"(( \"h\" size ))"`))}
	made, err := New(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(made.Imports.Map())
	if err != nil {
		t.Fatal(err)
	}
	if want := "color: dark-blue\ndouble: 6\nhost: h3\nmore: 7\nsize: 3\nurl: https://h3\n"; string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	copies, err := made.Copies()
	if err != nil || len(copies.DataObjects) != 3 {
		t.Fatalf("%d copies of data, %v", len(copies.DataObjects), err)
	}
	if color := copies.DataObjects[0]; color.Labels[v1alpha1.DataObjectKeyLabel] != "color" || string(color.Data.RawMessage) != `"dark-blue"` {
		t.Errorf("subinstallations get what an import execution has put over an import: %s %s", color.Labels, color.Data.RawMessage)
	}
}

func TestImportErrors(t *testing.T) {
	tests := []struct{ reason, blueprint, want string }{
		{"a required import is missing", "imports: [{name: ghost, schema: {type: string}}]", `inst.ghost: blueprint defines import "ghost" of type data, which is not satisfied`},
		{"all problems at once", "imports: [{name: ghost, schema: {type: string}}, {name: password, schema: {type: integer}}]", "inst.password: imported datatype does not have the expected schema"},
		{"the author finds something wrong", `
importExecutions:
- {name: a, type: GoTemplate, template: "errors: [too small, too slow]"}
- {name: b, type: GoTemplate, template: "{{ fail \"is not executed\" }}"}`, "import validation failed: too small, too slow"},
		{"a template fails", `importExecutions: [{name: a, type: GoTemplate, template: "{{ fail \"no luck\" }}"}]`, "unable to template executions"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := New(t.Context(), input(t, test.blueprint))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the message shows a value: %v", err)
			}
		})
	}
}

// memory keeps states like the Secrets of a cluster.
type memory map[string]string

func (m memory) Read(_ context.Context, key StateKey) ([]byte, error) {
	if content, ok := m[key.Prefix+key.Executor]; ok {
		return []byte(content), nil
	}
	return nil, nil
}

func (m memory) write(states []State) {
	for _, state := range states {
		m[state.Key.Prefix+state.Key.Executor] = string(state.Content)
	}
}

func TestState(t *testing.T) {
	in := input(t, `
deployExecutions:
- name: go
  type: GoTemplate
  template: |
    {{- $count := add 1 (dig "count" 0 .state) }}
    state: {count: {{ $count }}}
    deployItems: [{name: go, type: t, config: {count: {{ $count }}}}]
- name: other
  type: GoTemplate
  template: "deployItems: [{name: other, type: t, config: {sees: {{ len .state }}}}]"
- name: spiff
  type: Spiff
  template:
    token: (( &state ( rand("[:alnum:]", 32) ) ))
    deployItems: [{name: spiff, type: t, config: {token: (( .token ))}}]
subinstallationExecutions:
- name: sub
  type: GoTemplate
  template: |
    state: {was: {{ dig "was" 0 .state | add 1 }}}
    subinstallations: []
`)
	stored := memory{DeployPrefix + "sub": "was: 6"}
	in.States = stored
	var configs []string
	for range 2 {
		made, err := children(t, in)
		if err != nil {
			t.Fatal(err)
		}
		stored.write(made.States)
		text := ""
		for _, item := range made.DeployItems {
			text += string(item.Configuration.Raw)
		}
		configs = append(configs, text)
	}
	if !strings.Contains(configs[0], `{"count":1}{"sees":0}{"token":"`) || !strings.Contains(configs[1], `{"count":2}{"sees":0}{"token":"`) {
		t.Errorf("state of Go templates is not given back, or given to others: %q", configs)
	}
	if configs[0][len(`{"count":1}`):] != configs[1][len(`{"count":2}`):] {
		t.Errorf("the state of spiff is not given back: %q", configs)
	}
	if got := stored[SubinstallationPrefix+"sub"]; !strings.Contains(got, "8") {
		t.Errorf("the state of a subinstallation executor continues that of upstream: %q", got)
	}
	if _, written := stored[DeployPrefix+"other"]; written {
		t.Error("an executor without a state writes none")
	}
}

func TestSecretName(t *testing.T) {
	// Lower-case base32 of the SHA-1 of shop/deploydefault.
	if got := (StateKey{DeployPrefix, "default"}).SecretName("shop"); got != "3khtaqollckfx7vikdeaiytmltiekqvm" {
		t.Error(got)
	}
}

// unreadable states cannot be read.
type unreadable struct{}

func (unreadable) Read(context.Context, StateKey) ([]byte, error) {
	return nil, errors.New("the API server does not answer")
}

func TestStateIsReadIfNeeded(t *testing.T) {
	in := input(t, `deployExecutions: [{name: a, type: GoTemplate, template: "deployItems: []"}]`)
	in.States = unreadable{}
	if _, err := children(t, in); err != nil {
		t.Errorf("a blueprint that does not mention its state needs no request for it: %v", err)
	}
	in.Blueprint = load(t, `deployExecutions: [{name: a, type: GoTemplate, template: "deployItems: []\n{{ .state }}"}]`)
	if _, err := children(t, in); err == nil || !strings.Contains(err.Error(), `read the state of execution "a"`) {
		t.Errorf("a state that cannot be read is not taken for an empty one: %v", err)
	}
}
