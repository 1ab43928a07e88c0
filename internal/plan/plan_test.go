package plan

import (
	"strings"
	"testing"
	"testing/fstest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/blueprint"
	"go.landscaper.dev/internal/dataflow"
)

func makePlan(t *testing.T, executions string) (*Plan, error) {
	t.Helper()
	info := &v1alpha1.Blueprint{}
	text := "imports: [{name: cluster, targetType: kubernetes-cluster}]\ndeployExecutions:\n" + executions
	if err := yaml.Unmarshal([]byte(text), info); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	info.SetDefaults()
	files := fstest.MapFS{"deploy.yaml": &fstest.MapFile{Data: []byte("deployItems: [{name: from-file, type: t, config: {apiVersion: v1, kind: Any}}]")}}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "inst"}}
	host := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Name: "host"}, Spec: v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig":"hunter2hunter2"}`))}}
	return Make(t.Context(), inst, &blueprint.Blueprint{Files: files, Info: info}, dataflow.Imports{Targets: map[string]*v1alpha1.Target{"cluster": host}})
}

func TestMake(t *testing.T) {
	made, err := makePlan(t, `
- {name: a, type: GoTemplate, file: deploy.yaml}
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
      config: {apiVersion: v1, kind: Any, host: {{ .imports.cluster.metadata.name }}}
    - name: two
      type: t
      target: {name: other}
      config: {apiVersion: v1, kind: Any}
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.DeployItems) != 3 || len(made.TargetCopies) != 1 {
		t.Fatalf("%d items, %d copies", len(made.DeployItems), len(made.TargetCopies))
	}
	one := made.DeployItems[1]
	if one.Name != "one" || *one.Target != (v1alpha1.ObjectReference{Name: "host", Namespace: "space"}) || one.DependsOn[0] != "from-file" || one.Timeout.String() != "5m0s" ||
		!one.OnDelete.SkipUninstallIfClusterRemoved || !strings.Contains(string(one.Configuration.Raw), `"host":"host"`) {
		t.Errorf("item %+v", one)
	}
	if two := made.DeployItems[2]; *two.Target != (v1alpha1.ObjectReference{Name: "other", Namespace: "space"}) {
		t.Errorf("a Target by its own name: %+v", two.Target)
	}
}

func TestMakeErrors(t *testing.T) {
	template := func(items string) string {
		return "- {name: a, type: GoTemplate, template: '" + items + "'}"
	}
	tests := []struct{ reason, executions, want string }{
		{"an import that does not exist", template(`deployItems: [{name: x, type: t, target: {import: ghost}}]`), `invalid deployitem specification "x": target import "ghost" not found`},
		{"an element of something that is no list", template(`deployItems: [{name: x, type: t, target: {import: cluster, index: 0}}]`), `targetlist import "cluster" not found`},
		{"an element of something that is no map", template(`deployItems: [{name: x, type: t, target: {import: cluster, key: a}}]`), `targetmap import "cluster" not found`},
		{"a reference to nothing", template(`deployItems: [{name: x, type: t, target: {}}]`), "empty target reference"},
		{"two items of one name", template(`deployItems: [{name: x, type: t}, {name: x, type: t}]`), `deployItems[1].name: Duplicate value: "x"`},
		{"items that wait for each other", template(`deployItems: [{name: x, type: t, dependsOn: [z]}, {name: z, type: t, dependsOn: [x]}]`), "x -> z -> x"},
		{"no template", "- {name: a, type: GoTemplate}", "no template found"},
		{"a file that does not exist", "- {name: a, type: GoTemplate, file: ghost.yaml}", "ghost.yaml"},
		{"a template that is no text", "- {name: a, type: GoTemplate, template: {deployItems: []}}", "the template is not a text"},
		{"another engine", "- {name: a, type: Helm, template: x}", "unknown template type Helm"},
		{"a value is not shown", template(`deployItems: {{ .imports.cluster.spec.config.kubeconfig }}`), "error while decoding templated execution"},
	}
	for _, test := range tests {
		_, err := makePlan(t, test.executions)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the message shows a value: %v", test.reason, err)
		}
	}
}
