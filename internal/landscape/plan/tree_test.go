package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
)

// sites is a blueprint with subinstallations that pass data to each other, out of order, and one
// below another.
const sites = `
imports:
- {name: size, schema: {type: integer}}
- {name: cluster, targetType: kubernetes-cluster}
- {name: list, type: targetList, targetType: kubernetes-cluster}
- {name: extra, required: false, schema: {type: string}}
exports:
- {name: report, schema: {type: string}}
subinstallations:
- name: consumer
  blueprint:
    filesystem:
      blueprint.yaml: |
        imports:
        - {name: url, schema: {type: string}}
        - {name: where, targetType: kubernetes-cluster}
        exports:
        - {name: seen, schema: {type: string}}
        exportExecutions:
        - {name: e, type: Spiff, template: {exports: {seen: (( imports.url " on " imports.where.spec.type ))}}}
  imports:
    data: [{name: url, dataRef: service-url}, {name: more, dataRef: extra}]
    targets: [{name: where, target: made}]
  exports:
    data: [{name: seen, dataRef: seen}]
- file: /provider.yaml
exportExecutions:
- name: e
  type: GoTemplate
  template: |
    exports:
      report: {{ index .dataobjects "seen" }} / {{ .values.deployitems.own.answer }}
deployExecutions:
- {name: d, type: GoTemplate, template: "deployItems: [{name: own, type: t}]"}
`

const provider = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: InstallationTemplate
name: provider
blueprint:
  filesystem:
    blueprint.yaml: |
      imports:
      - {name: size, schema: {type: integer}}
      - {name: second, targetType: kubernetes-cluster}
      - {name: all, type: targetList, targetType: kubernetes-cluster}
      exports:
      - {name: url, schema: {type: string}}
      - {name: made, targetType: kubernetes-cluster}
      deployExecutions:
      - name: d
        type: GoTemplate
        template: |
          deployItems:
          {{- range $i, $t := .imports.all }}
          - {name: item-{{ $i }}, type: t, target: {import: all, index: {{ $i }}}}
          {{- end }}
      exportExecutions:
      - name: e
        type: GoTemplate
        template: |
          exports:
            url: https://{{ index .deployitems "item-0" "host" }}:{{ .imports.size }}
            made: {type: landscaper.gardener.cloud/kubernetes-cluster, config: {kubeconfig: x}}
imports:
  data: [{name: size, dataRef: size}]
  targets: [{name: second, target: "list[1]"}, {name: all, targetListRef: list}]
exports:
  data: [{name: url, dataRef: service-url}]
  targets: [{name: made, target: made}]
`

// known are exports of deploy items by their paths, and of whole Installations.
type known struct {
	items         map[string]map[string]any
	installations map[string]*SimulatedExports
}

func (k known) Item(_ context.Context, node *Node, item *v1alpha1.DeployItemTemplate) (any, error) {
	exports, ok := k.items[node.Path+"/"+item.Name]
	if !ok {
		return nil, nil
	}
	return exports, nil
}

func (k known) Replaces(path string) bool { return k.installations[path] != nil }

func (k known) Installation(_ context.Context, node *Node) (*SimulatedExports, error) {
	return k.installations[node.Path], nil
}

// openInlineOnly opens subinstallations with inline blueprints.
func openInlineOnly(ctx context.Context, parent Input, inst *v1alpha1.Installation) (Input, error) {
	opened, err := OpenBlueprint(ctx, nil, nil, &inst.Spec.Blueprint)
	return Input{Blueprint: opened, Functions: parent.Functions}, err
}

func TestTree(t *testing.T) {
	simulation := known{items: map[string]map[string]any{"inst/own": {"answer": 42}, "inst/provider/item-0": {"host": "h"}}}
	in := input(t, sites, "provider.yaml", provider)
	in.Installation.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "report", DataRef: "report"}}
	node, err := (&Tree{Open: openInlineOnly, Simulation: simulation}).Grow(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(paths(node)); got != "[inst inst/consumer inst/provider]" {
		t.Errorf("the order of the blueprint is kept: %s", got)
	}
	if got := node.Exports.Values["report"]; got != "https://h:3 on landscaper.gardener.cloud/kubernetes-cluster / 42" {
		t.Errorf("data does not flow through the tree: %v", got)
	}
	if objects := node.Exports.DataObjects; len(objects) != 1 || objects[0].Name != "report" {
		t.Errorf("the root publishes %v", objects)
	}
	items := node.Nodes[1].DeployItems
	if len(items) != 2 || items[1].Target == nil || items[1].Target.Name == items[0].Target.Name || items[1].Target.Name == "l1" {
		t.Errorf("a subinstallation works with the copies in the scope of its parent: %+v", items)
	}
	consumer := node.Subinstallations[0].Installation
	if len(consumer.Spec.Imports.Data) != 1 || consumer.Labels[v1alpha1.EncompassedByLabel] != "inst" || consumer.Annotations[v1alpha1.SubinstallationNameAnnotation] != "consumer" {
		t.Errorf("an import is dropped if it refers to one of the parent that is not given: %+v", consumer.Spec.Imports.Data)
	}
}

func paths(node *Node) []string {
	all := []string{node.Path}
	for _, child := range node.Nodes {
		all = append(all, paths(child)...)
	}
	return all
}

func TestTreeWithoutSimulation(t *testing.T) {
	node, err := (&Tree{Open: openInlineOnly}).Grow(t.Context(), input(t, sites, "provider.yaml", provider))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(paths(node)); got != "[inst inst/provider]" || node.Exports != nil {
		t.Errorf("what can be worked out without exports: %s", got)
	}
	if len(node.Waiting) != 1 || node.Waiting[0].Path != "inst/consumer" || !strings.Contains(node.Waiting[0].Reason.Error(), `"service-url"`) || !strings.Contains(node.Waiting[0].Reason.Error(), `"made"`) {
		t.Errorf("waiting %+v", node.Waiting)
	}
}

func TestTreeSimulatedInstallation(t *testing.T) {
	simulation := known{installations: map[string]*SimulatedExports{"inst/provider": {
		Data:    map[string]any{"url": "given"},
		Targets: map[string]any{"made": map[string]any{"type": "landscaper.gardener.cloud/kubernetes-cluster"}},
	}}, items: map[string]map[string]any{"inst/own": {"answer": 1}}}
	node, err := (&Tree{Open: openInlineOnly, Simulation: simulation}).Grow(t.Context(), input(t, sites, "provider.yaml", provider))
	if err != nil {
		t.Fatal(err)
	}
	if len(node.Nodes[1].DeployItems) != 0 || node.Exports.Values["report"] != "given on landscaper.gardener.cloud/kubernetes-cluster / 1" {
		t.Errorf("%v", node.Exports.Values)
	}
}

func TestTreeErrors(t *testing.T) {
	const itself = `subinstallations: [{name: again, blueprint: {filesystem: {blueprint.yaml: "x"}}}]`
	tests := []struct{ reason, blueprint, want string }{
		{"a blueprint that contains itself", itself, "nested more than 32 levels deep: a blueprint seems to contain itself"},
		{"an import without a source", `subinstallations: [{name: a, blueprint: {filesystem: {}}, imports: {data: [{name: x, dataRef: ghost}]}}]`, `subinstallations[0].imports.data[0].dataRef: Not found: "ghost"`},
		{"two of one name", `subinstallations: [{name: a, blueprint: {filesystem: {a: x}}}, {name: a, blueprint: {filesystem: {a: x}}}]`, "Duplicate value"},
		{"a file that does not exist", "subinstallations: [{file: ghost.yaml}]", `subinstallations[0].file: Not found: "ghost.yaml"`},
		{"a file with something else", "subinstallations: [{file: pod.yaml}]", `kind is not InstallationTemplate`},
		{"a rendered template of another kind", `subinstallationExecutions: [{name: e, type: GoTemplate, template: "subinstallations: [{kind: Pod, name: a}]"}]`, `installation template 0 of execution "e": kind is not InstallationTemplate`},
		{"a reference without a component", `subinstallations: [{name: a, blueprint: {ref: "cd://resources/b"}}]`, "no component descriptor defined to resolve the blueprint ref"},
		{"a cycle", `
subinstallations:
- {name: a, blueprint: {filesystem: {a: x}}, imports: {data: [{name: x, dataRef: b}]}, exports: {data: [{name: x, dataRef: a}]}}
- {name: b, blueprint: {filesystem: {a: x}}, imports: {data: [{name: x, dataRef: a}]}, exports: {data: [{name: x, dataRef: b}]}}`, "a -> b -> a"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			open := func(context.Context, Input, *v1alpha1.Installation) (Input, error) {
				return Input{Blueprint: load(t, itself)}, nil
			}
			_, err := (&Tree{Open: open}).Grow(t.Context(), input(t, test.blueprint, "pod.yaml", "kind: Pod\nname: a\n"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTreeOpenError(t *testing.T) {
	failing := errors.New("the registry does not answer")
	open := func(context.Context, Input, *v1alpha1.Installation) (Input, error) { return Input{}, failing }
	_, err := (&Tree{Open: open}).Grow(t.Context(), input(t, `subinstallations: [{name: a, blueprint: {filesystem: {a: x}}}]`))
	if !errors.Is(err, failing) || !strings.HasPrefix(err.Error(), "inst/a: ") {
		t.Errorf("%v", err)
	}
}

// TestSharedBlueprint shows that a blueprint that several jobs use is not changed.
func TestSharedBlueprint(t *testing.T) {
	in := input(t, sites, "provider.yaml", provider)
	before := text(t, in.Blueprint)
	if _, err := (&Tree{Open: openInlineOnly}).Grow(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if after := text(t, in.Blueprint); after != before {
		t.Errorf("the blueprint was changed:\n%s\n%s", before, after)
	}
}

func text(t *testing.T, b *blueprint.Blueprint) string {
	t.Helper()
	raw, err := yaml.Marshal(b.Info)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestHeldSubinstallations: what cannot run is told, and the others are there, so that
// they can.
func TestHeldSubinstallations(t *testing.T) {
	const plain = `blueprint: {filesystem: {a: x}}`
	for _, test := range []struct{ reason, templates, want string }{
		{"all can run", `[{name: a, ` + plain + `}]`, ""},
		{"a cycle", `[{name: a, ` + plain + `, imports: {data: [{name: x, dataRef: b}]}, exports: {data: [{name: x, dataRef: a}]}}, {name: b, ` + plain + `, imports: {data: [{name: x, dataRef: a}]}, exports: {data: [{name: x, dataRef: b}]}}, {name: c, ` + plain + `}]`, "a -> b -> a"},
		{"two that export the same", `[{name: a, ` + plain + `, exports: {data: [{name: x, dataRef: x}]}}, {name: b, ` + plain + `, exports: {data: [{name: x, dataRef: x}]}}]`, "already exported by subinstallation a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			made, err := children(t, input(t, "subinstallations: "+test.templates))
			if err != nil || len(made.Subinstallations) != strings.Count(test.templates, "name: ")-strings.Count(test.templates, "{name: x") {
				t.Fatalf("%+v, %v", made, err)
			}
			if (made.Held == nil) != (test.want == "") || made.Held != nil && !strings.Contains(made.Held.Error(), test.want) {
				t.Errorf("%v", made.Held)
			}
		})
	}
}
