package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/plan/remote"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

// TestMain makes this program a process of the pool, as the server's program is one.
func TestMain(m *testing.M) { sandboxtest.Main(m, remote.Handlers()) }

func maker(t testing.TB) remote.Maker { return remote.Maker{Pool: sandboxtest.Pool(t, nil)} }

func load(t testing.TB, files ...string) *blueprint.Blueprint {
	t.Helper()
	var builder memfs.Builder
	for i := 0; i < len(files); i += 2 {
		if err := builder.AddFile(files[i], files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := blueprint.Load(builder.Tree())
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func target(name string) *v1alpha1.Target {
	return &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: name, Generation: 3}, Spec: v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType}}
}

const shop = `
meta: {schemaVersion: v2}
component:
  name: example.org/shop
  version: 1.0.0
  provider: test
  repositoryContexts: [{type: local, filePath: .}]
  componentReferences: [{name: db, componentName: example.org/db, version: 2.0.0}]
  resources:
  - {name: notes, type: text, relation: local, access: {type: localFilesystemBlob, filename: notes, mediaType: text/plain}}
  - {name: schema, type: landscaper.gardener.cloud/jsonschema, relation: local, access: {type: localFilesystemBlob, filename: schema, mediaType: application/vnd.gardener.landscaper.jsonschema.v1+json}}
`

const db = `
meta: {schemaVersion: v2}
component:
  name: example.org/db
  version: 2.0.0
  provider: test
  repositoryContexts: [{type: local, filePath: .}]
  resources:
  - {name: blueprint, type: landscaper.gardener.cloud/blueprint, relation: local, access: {type: localFilesystemBlob, filename: db, mediaType: text/plain}}
`

// everything has one of each thing that goes over the pipe.
const everything = `
imports:
- {name: size, schema: {$ref: "cd://resources/schema"}}
- {name: password, schema: {type: string}}
- {name: ratio, schema: {type: number}}
- {name: large, schema: {type: integer}}
- {name: cluster, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: list, type: targetList, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: map, type: targetMap, targetType: landscaper.gardener.cloud/kubernetes-cluster}
exports:
- {name: out, schema: {type: object}}
importExecutions: [{name: i, type: GoTemplate, template: "bindings: {double: {{ mul .imports.size 2 }}}"}]
subinstallations: [{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: InstallationTemplate, name: db, blueprint: {ref: "cd://componentReferences/db/resources/blueprint"}}]
deployExecutions:
- name: d
  type: GoTemplate
  template: |
    deployItems:
    - name: one
      type: landscaper.gardener.cloud/mock
      target: {import: list, index: 1}
      config:
        double: {{ .imports.double }}
        ratio: {{ .imports.ratio }}
        large: {{ .imports.large }}
        notes: {{ getResourceContent "cd://resources/notes" }}
        components: {{ len .components.components }}
        referenced: {{ (getComponent .cd "name" "db").component.version }}
        cluster: {{ getToken "x" 3 | quote }}
    state: {seen: {{ .state | toJson }}}
- name: spiff
  type: Spiff
  template: {deployItems: [{name: two, type: landscaper.gardener.cloud/mock, target: {import: map, key: blue}, configuration: {}, config: {double: (( imports.double ))}}]}
exportExecutions:
- {name: e, type: GoTemplate, template: "exports: {out: {double: {{ .imports.double }}, from: {{ .deployitems | toJson }}, version: {{ .cd.component.version }}}}"}
`

type states map[plan.StateKey][]byte

func (s states) Read(_ context.Context, key plan.StateKey) ([]byte, error) { return s[key], nil }

func data(text string) dataflow.DataImport {
	return dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(text)), Salt: "salt"}
}

func input(t testing.TB, files ...string) plan.Input {
	t.Helper()
	session := component.NewSession(component.NewShared(), component.Options{Default: descriptor.Typed(`{"type":"local","filePath":"."}`), Local: fstest.MapFS{
		"shop.yaml": {Data: []byte(shop)}, "db.yaml": {Data: []byte(db)},
		"blobs/notes": {Data: []byte("read this")}, "blobs/schema": {Data: []byte(`{"type": "integer"}`)},
	}})
	t.Cleanup(func() { _ = session.Close() })
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "inst", UID: "uid"}}
	inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: "1.0.0"}}
	inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "out", DataRef: "out"}}
	inst.Status.JobID = "job"
	opened, err := plan.OpenComponent(t.Context(), session, inst.Spec.ComponentDescriptor)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Input{
		Installation: inst, Component: opened, Blueprint: load(t, files...), States: states{{Prefix: "deploy", Executor: "d"}: []byte("a: 1")},
		Imports: dataflow.Imports{
			Data:    map[string]dataflow.DataImport{"size": data("3"), "password": data(`"hunter2"`), "ratio": data("3.0e0"), "large": data("123456789012345678901234567890")},
			Targets: map[string]*v1alpha1.Target{"cluster": target("host")}, TargetLists: map[string][]*v1alpha1.Target{"list": {target("l0"), target("l1")}},
			TargetMaps: map[string]map[string]*v1alpha1.Target{"map": {"blue": target("m-blue")}},
		},
		Functions: map[string]template.Function{"getToken": func(_ context.Context, args []any) (any, error) {
			if args[0] == "refused" {
				return nil, errRefused
			}
			return map[string]any{"of": args[0], "number": args[1], "ratio": 1.5}, nil
		}},
	}
}

var errRefused = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

func text(t testing.TB, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var plain any // objects written by others have their keys in any order
	if err := json.Unmarshal(raw, &plain); err != nil {
		t.Fatal(err)
	}
	if raw, err = json.MarshalIndent(plain, "", " "); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestSameResult: a plan of another process is the same.
func TestSameResult(t *testing.T) {
	there := maker(t)
	in := input(t, "blueprint.yaml", everything)
	want, err := plan.Here{}.Make(t.Context(), in, plan.Want{Alone: true, Shown: true})
	if err != nil {
		t.Fatal(err)
	}
	made, err := there.Make(t.Context(), in, plan.Want{Alone: true, Shown: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Children.Subinstallations) != 1 || len(want.Children.DeployItems) != 2 || len(want.Children.States) != 1 || len(want.Later) == 0 {
		t.Fatalf("the test has not what it is for: %s", text(t, want))
	}
	if want, made := text(t, want), text(t, made); want != made {
		t.Errorf("here:\n%s\nthere:\n%s", want, made)
	}
	opened := 0
	with := plan.Surroundings{Shown: true, Functions: in.Functions, States: in.States, Open: func(context.Context, *v1alpha1.ComponentDescriptorDefinition) (*plan.Component, error) {
		opened++
		return in.Component, nil
	}}
	results := func() (plan.Results, error) {
		return plan.Results{DeployItems: map[string]any{"one": map[string]any{"a": int64(1), "b": 2.5}}}, nil
	}
	expected, err := plan.Here{}.Exports(t.Context(), in.Installation, want.Stored, with, results)
	if err != nil {
		t.Fatal(err)
	}
	exports, err := there.Exports(t.Context(), in.Installation, want.Stored, with, results)
	if err != nil {
		t.Fatal(err)
	}
	if want, made := text(t, expected), text(t, exports); want != made {
		t.Errorf("exports here:\n%s\nthere:\n%s", want, made)
	}
}

// TestForControllers: what only people are shown does not go over the pipe.
func TestForControllers(t *testing.T) {
	made, err := maker(t).Make(t.Context(), input(t, "blueprint.yaml", everything), plan.Want{})
	if err != nil {
		t.Fatal(err)
	}
	if made.Imports != nil || made.Bindings != nil || made.Children.Subinstallations[0].Template != nil || made.Children.Subinstallations[0].Installation == nil {
		t.Error(text(t, made))
	}
}

// TestSameError: an error of another process says the same, and is judged in the same way.
func TestSameError(t *testing.T) {
	there := maker(t)
	item := func(expression string) string {
		return `deployExecutions: [{name: d, type: GoTemplate, template: "deployItems: [{name: {{ ` + expression + ` }}, type: t}]"}]`
	}
	tests := []struct{ reason, blueprint string }{
		{"an import that the schema refuses", `imports: [{name: size, schema: {type: string}}]`},
		{"an import that nothing is bound to", `imports: [{name: absent, schema: {type: string}}]`},
		{withoutComponent, `subinstallations: [{name: db, blueprint: {ref: "cd://resources/blueprint"}}]`},
		{"an import execution that cannot be rendered", `importExecutions: [{name: i, type: GoTemplate, template: "{{ fail .imports.password }}"}]`},
		{"an import execution with errors", `importExecutions: [{name: i, type: GoTemplate, template: "errors: [a, b]"}]`},
		{"a subinstallation that does not exist", `subinstallations: [{name: db, blueprint: {ref: "cd://componentReferences/other/resources/blueprint"}}]`},
		{"a deploy item without a type", `deployExecutions: [{name: d, type: GoTemplate, template: "deployItems: [{name: a}]"}]`},
		{"a resource that does not exist", item("getResourceContent `cd://resources/other`")},
		{"a content that does not exist", item("getResourceContent `cd://componentReferences/db/resources/blueprint`")},
		{"a component that does not exist", item("(getComponent (dict `component` (dict `name` `x` `version` `1` `componentReferences` (list (dict `name` `y` `componentName` `example.org/y` `version` `1`)))) `name` `y`).component.version")},
		{"a cluster that does not answer", item("getToken `refused`")},
		{"a function that does not exist", item("env `HOME`")},
	}
	for _, test := range tests {
		in := input(t, "blueprint.yaml", test.blueprint)
		in.Installation.Spec.Exports.Data = nil
		if test.reason == withoutComponent {
			in.Component = nil
		}
		_, want := plan.Here{}.Make(t.Context(), in, plan.Want{})
		_, err := there.Make(t.Context(), in, plan.Want{})
		if want == nil || err == nil || want.Error() != err.Error() {
			t.Errorf("%s: here %v, there %v", test.reason, want, err)
			continue
		}
		if judged, want := judge(err), judge(want); judged != want {
			t.Errorf("%s: judged %+v, here %+v", test.reason, judged, want)
		}
	}
}

const withoutComponent = "a blueprint of the component of an Installation without one"

type judgement struct {
	step                                           plan.Step
	reason                                         dataflow.Reason
	temporary, subs, invalid, refused, noComponent bool
	text                                           string
}

func judge(err error) judgement {
	j := judgement{temporary: component.IsTemporary(err), refused: errors.Is(err, errRefused), noComponent: errors.Is(err, plan.ErrNoComponent)}
	if wrong, ok := errors.AsType[*dataflow.Error](err); ok {
		j.reason = wrong.Reason
	}
	var step *plan.StepError
	if errors.As(err, &step) {
		j.step = step.Step
	}
	var subs *plan.SubinstallationError
	j.subs = errors.As(err, &subs)
	var invalid *plan.ImportError
	if j.invalid = errors.As(err, &invalid); j.invalid {
		j.text = invalid.Text()
	}
	return j
}

// TestHostileBlueprints: what takes too much ends with the work, and the next one works.
func TestHostileBlueprints(t *testing.T) {
	there := remote.Maker{Pool: sandboxtest.Pool(t, func(o *sandbox.Options) { o.Timeout = 5 * time.Second })}
	const loop = `{{ $l := repeat 15000 \"2006 \" }}{{ range until 100000 }}{{ $x := (now).Format $l }}{{ end }}`
	tests := []struct{ reason, blueprint string }{
		{"a method of a value in a loop", `deployExecutions: [{name: d, type: GoTemplate, template: "` + loop + `"}]`},
		{"a long text", `deployExecutions: [{name: other, type: GoTemplate, template: "deployItems: []"}, {name: d, type: GoTemplate, template: "{{ repeat 1000000000 \"x\" }}"}]`},
		{"a text that grows", `deployExecutions: [{name: d, type: Spiff, template: {x: "(( sum[[1..60]|\"0123456789\"|s,i|->s s] ))"}}]`},
	}
	for _, test := range tests {
		in := input(t, "blueprint.yaml", test.blueprint)
		in.Installation.Spec.Exports.Data = nil
		_, err := there.Make(t.Context(), in, plan.Want{})
		var exceeded *sandbox.ExceededError
		if !errors.As(err, &exceeded) || !strings.HasPrefix(err.Error(), `rendering the blueprint: template execution "d" took more than `) {
			t.Errorf("%s: %v", test.reason, err)
		}
	}
	in := input(t, "blueprint.yaml", everything)
	if _, err := there.Make(t.Context(), in, plan.Want{}); err != nil {
		t.Error(err)
	}
}

// typed is a template that lists the types of all that it gets.
const typed = `{{ define \"types\" }};{{ typeOf . | trimAll \"<>\" }}{{ if kindIs \"map\" . }}{{ range $k, $v := . }}{{ template \"types\" $v }}{{ end }}{{ else if kindIs \"slice\" . }}{{ range . }}{{ template \"types\" . }}{{ end }}{{ end }}{{ end }}`

// listed is such a list.
var listed = regexp.MustCompile(`\(;([^)]*)\)`)

// TestTypesOfBindings: templates of all phases get plain values, which have no methods.
func TestTypesOfBindings(t *testing.T) {
	in := input(t, "blueprint.yaml", `
imports:
- {name: size, schema: {type: integer}}
- {name: password, schema: {type: string}}
- {name: ratio, schema: {type: number}}
- {name: large, schema: {type: integer}}
- {name: cluster, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: list, type: targetList, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: map, type: targetMap, targetType: landscaper.gardener.cloud/kubernetes-cluster}
exports:
- {name: out, schema: {type: string}}
importExecutions: [{name: i, type: GoTemplate, template: "`+typed+`bindings: {seen: '({{ template \"types\" . }})'}"}]
subinstallationExecutions: [{name: s, type: GoTemplate, template: "`+typed+`subinstallations: [{name: sub, blueprint: {filesystem: {blueprint.yaml: '({{ template \"types\" . }})'}}}]"}]
deployExecutions: [{name: d, type: GoTemplate, template: "`+typed+`deployItems: [{name: one, type: landscaper.gardener.cloud/mock, config: {first: '{{ .imports.seen }}', seen: '({{ template \"types\" . }})'}}]"}]
exportExecutions: [{name: e, type: GoTemplate, template: "`+typed+`exports: {out: '({{ template \"types\" . }})'}"}]
`)
	given, err := plan.Here{}.Make(t.Context(), in, plan.Want{})
	if err != nil {
		t.Fatal(err)
	}
	with := plan.Surroundings{Functions: in.Functions, States: in.States, Open: func(context.Context, *v1alpha1.ComponentDescriptorDefinition) (*plan.Component, error) {
		return in.Component, nil
	}}
	exports, err := plan.Here{}.Exports(t.Context(), in.Installation, given.Stored, with, func() (plan.Results, error) {
		return plan.Results{DeployItems: map[string]any{"one": map[string]any{"a": int64(1), "b": []any{2.5, json.Number("123456789012345678901234567890")}}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	plain := map[string]bool{"map[string]interface {}": true, "[]interface {}": true, "string": true, "float64": true, "bool": true, "nil": true}
	for phase, made := range map[string]string{"import, deploy and subinstallation executions": text(t, given), "export executions": text(t, exports)} {
		lists := listed.FindAllStringSubmatch(made, -1)
		if len(lists) == 0 {
			t.Errorf("%s: no types in %s", phase, made)
		}
		for _, list := range lists {
			for name := range strings.SplitSeq(list[1], ";") {
				if !plain[name] {
					t.Errorf("%s: a value of type %q", phase, name)
				}
			}
		}
	}
}

// BenchmarkPlan compares a small plan of this process with one of another.
func BenchmarkPlan(b *testing.B) {
	for _, row := range []struct {
		name  string
		maker plan.Maker
	}{{"here", plan.Here{}}, {"there", maker(b)}} {
		in := input(b, "blueprint.yaml", everything)
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := row.maker.Make(b.Context(), in, plan.Want{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestSharedValues: a list that is shared in the process is not shared in the server.
func TestSharedValues(t *testing.T) {
	there := remote.Maker{Pool: sandboxtest.Pool(t, func(o *sandbox.Options) { o.Memory = 128 << 20 })}
	asked := 0
	in := input(t, "blueprint.yaml", `deployExecutions: [{name: d, type: GoTemplate, template: "{{ $l := list }}{{ range until 20 }}{{ $l = list $l $l }}{{ end }}{{ getToken $l 3 }}"}]`)
	in.Installation.Spec.Exports.Data = nil
	in.Functions = map[string]template.Function{"getToken": func(context.Context, []any) (any, error) {
		asked++
		return "", nil
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := there.Make(t.Context(), in, plan.Want{})
	runtime.ReadMemStats(&after)
	var exceeded *sandbox.ExceededError
	if !errors.As(err, &exceeded) || asked != 0 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 30 {
		t.Errorf("the server has taken %d MiB", taken)
	}
}
