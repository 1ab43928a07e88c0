package e2e

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// wantNotes compares the texts of all notes on the target cluster, as name=text.
func wantNotes(t *testing.T, space string, want ...string) {
	t.Helper()
	list := &corev1.ConfigMapList{}
	if err := env.Workload.List(t.Context(), list, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	var found []string
	for i := range list.Items {
		if object := &list.Items[i]; object.Name != "kube-root-ca.crt" {
			found = append(found, object.Name+"="+object.Data["text"])
		}
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("deployed are\n%v, want\n%v", found, want)
	}
}

// elements returns index or key and the label who of all Targets in the scope of an
// Installation that belong to one import, in the order of their places.
func elements(t *testing.T, inst *v1alpha1.Installation, key string) string {
	t.Helper()
	list := &v1alpha1.TargetList{}
	own := client.MatchingLabels{v1alpha1.DataObjectContextLabel: v1alpha1.InstallationScope(inst.Name), v1alpha1.DataObjectKeyLabel: key}
	if err := env.Admin.List(t.Context(), list, client.InNamespace(inst.Namespace), own); err != nil {
		t.Fatal(err)
	}
	var found []string
	for i := range list.Items {
		labels := list.Items[i].Labels
		if labels[v1alpha1.DataObjectSourceLabel] != v1alpha1.InstallationScope(inst.Name) || labels[v1alpha1.DataObjectSourceTypeLabel] != "import" || labels[v1alpha1.DataObjectJobIDLabel] != inst.Status.JobID {
			t.Errorf("%s has labels %v", list.Items[i].Name, labels)
		}
		found = append(found, labels[v1alpha1.DataObjectIndexLabel]+labels[v1alpha1.DataObjectTargetMapKeyLabel]+":"+labels["who"])
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

const (
	mapImport = `imports: [{name: clusters, type: targetMap, targetType: landscaper.gardener.cloud/kubernetes-cluster}]`
	whoIsIt   = `{{ index $t.metadata.labels "who" }}`
)

// fleetBlueprint imports lists and a map and passes them one and two levels down, as a whole and
// element by element; the exports of the elements are collected again.
func fleetBlueprint(t *testing.T) map[string]any {
	t.Helper()
	ofList := func(prefix string) map[string]any {
		return blueprintOf(t, listImport, "{{ range $i, $t := .imports.clusters }}\n"+note(prefix+"-{{ $i }}", "import: clusters, index: {{ $i }}", whoIsIt)+"{{ end }}")
	}
	ofMap := func(prefix string) map[string]any {
		return blueprintOf(t, mapImport, "{{ range $k, $t := .imports.clusters }}\n"+note(prefix+"-{{ $k }}", "import: clusters, key: {{ $k }}", whoIsIt)+"{{ end }}")
	}
	const refersTo = `imports: {targets: [{name: clusters, `
	single := blueprintOf(t, singleImport, `{{ $t := .imports.cluster }}`+"\n"+note("single", "import: cluster", whoIsIt))
	fan := blueprintOf(t, singleImport+"\n"+`exports: [{name: made, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}]
exportExecutions:
- name: main
  type: GoTemplate
  template: |
    exports: {made: {type: landscaper.gardener.cloud/kubernetes-cluster, labels: {who: 'of-{{ index .imports.cluster.metadata.labels "who" }}'}, config: {{ toJson .imports.cluster.spec.config }}}}
`, "")
	fanned := "subinstallations:\n{{ range $k, $t := .imports.colors }}- name: fan-{{ $k }}\n" +
		"  blueprint: {filesystem: {blueprint.yaml: {{ `" + strings.ReplaceAll(textOf(t, fan), "`", "") + "` | toJson }}}}\n" +
		`  imports: {targets: [{name: cluster, target: "colors[{{ $k }}]"}]}` + "\n" +
		"  exports: {targets: [{name: made, target: 'out-{{ $k }}'}]}\n{{ end }}\n"
	// The importer of the collected map is declared before its exporters.
	gather := blueprintOf(t, mapImport, "{{ range $k, $t := .imports.clusters }}\n"+note("gathered-{{ $k }}", "import: clusters, key: {{ $k }}", whoIsIt)+"{{ end }}")
	root := blueprintOf(t, `
imports:
- {name: fleet, type: targetList, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: none, type: targetList, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: colors, type: targetMap, targetType: landscaper.gardener.cloud/kubernetes-cluster}
exports:
- {name: seen, type: data, schema: {type: array}}
exportExecutions:
- {name: main, type: GoTemplate, template: "exports: {seen: {{ keys .targets | sortAlpha | toJson }}}"}
`, "{{ range $k, $t := .imports.colors }}\n"+note("own-{{ $k }}", "import: colors, key: {{ $k }}", whoIsIt)+"{{ end }}")
	root["subinstallationExecutions"] = []any{map[string]any{"name": "fan", "type": "GoTemplate", "template": fanned}}
	return withSubs(
		root,
		subOf(t, "gather", `imports: {targets: [{name: clusters, targetMap: {b: out-blue}}]}`, gather),
		subOf(t, "list", refersTo+`targetListRef: fleet}]}`, ofList("list")),
		subOf(t, "empty", refersTo+`targetListRef: none}]}`, ofList("empty")),
		subOf(t, "single", `imports: {targets: [{name: cluster, target: "fleet[1]"}]}`, single),
		subOf(t, "map", refersTo+`targetMapRef: colors}]}`, ofMap("map")),
		subOf(t, "middle", refersTo+`targetMapRef: colors}]}`, withSubs(blueprintOf(t, mapImport, ""),
			subOf(t, "inner", refersTo+`targetMapRef: clusters}]}`, ofMap("inner")),
			subOf(t, "blue", `imports: {targets: [{name: cluster, target: "clusters[blue]"}]}`, blueprintOf(t, singleImport, `{{ $t := .imports.cluster }}`+"\n"+note("inner", "import: cluster", whoIsIt))),
		)),
		subOf(t, "between", refersTo+`targetListRef: fleet}]}`, withSubs(blueprintOf(t, listImport, ""), subOf(t, "deep", refersTo+`targetListRef: clusters}]}`, ofList("deep")))),
	)
}

// TestScenarioTargets: lists and maps of Targets are passed one and two levels down in their order,
// as a whole and in parts; what is deployed to removed elements is uninstalled.
func TestScenarioTargets(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	for _, name := range []string{"zulu", "alpha", "mike"} {
		createTarget(t, space, name, env.TargetKubeconfig)
		label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"who":"`+name+`"}}}`))
		if err := env.Admin.Patch(t.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}, label); err != nil {
			t.Fatal(err)
		}
	}
	wired := func(fleet, colors string) v1alpha1.InstallationSpec {
		return rootOf(t, space, `
imports: {targets: [{name: fleet, targets: `+fleet+`}, {name: none, targets: []}, {name: colors, targetMap: `+colors+`}]}
exports: {data: [{name: seen, dataRef: seen}]}
`, fleetBlueprint(t))
	}
	root := waitSucceeded(t, create(t, installationOf(space, "root", wired("[zulu, alpha, mike]", "{blue: alpha, green: mike}"))))
	wantNotes(t, space, "own-blue=alpha", "own-green=mike", "list-0=zulu", "list-1=alpha", "list-2=mike", "single=alpha", "map-blue=alpha", "map-green=mike",
		"inner-blue=alpha", "inner-green=mike", "inner=alpha", "deep-0=zulu", "deep-1=alpha", "deep-2=mike", "gathered-b=of-alpha")
	subs := subsOf(t, root)
	for _, test := range []struct {
		reason, key, want string
		of                *v1alpha1.Installation
	}{
		{"the list of the root", "fleet", "0:zulu 1:alpha 2:mike", root},
		{"the map of the root", "colors", "blue:alpha green:mike", root},
		{"an empty list has no copies", "none", "", root},
		{"the list of a leaf", "clusters", "0:zulu 1:alpha 2:mike", subs["list"]},
		{"the empty list of a leaf", "clusters", "", subs["empty"]},
		{"the map of a leaf", "clusters", "blue:alpha green:mike", subs["map"]},
		{"one element of a list", "cluster", ":alpha", subs["single"]},
		{"a map that was put together", "clusters", "b:of-alpha", subs["gather"]},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := elements(t, test.of, test.key); got != test.want {
				t.Errorf("%s has %q, want %q", test.of.Name, got, test.want)
			}
		})
	}
	if subs["empty"].Status.ExecutionReference != nil {
		t.Errorf("without items there is %+v", subs["empty"].Status.ExecutionReference)
	}
	if got, want := exportedData(t, space, "seen"), `["colors","fleet","out-blue","out-green"]`; got != want {
		t.Errorf("the export execution sees %s, want %s", got, want)
	}

	t.Run("a shorter list, another order and another key", func(t *testing.T) {
		root = again(t, root, wired("[mike, zulu]", "{blue: zulu, red: mike}"), v1alpha1.InstallationPhases.Succeeded)
		wantNotes(t, space, "own-blue=zulu", "own-red=mike", "list-0=mike", "list-1=zulu", "single=zulu", "map-blue=zulu", "map-red=mike",
			"inner-blue=zulu", "inner-red=mike", "inner=zulu", "deep-0=mike", "deep-1=zulu", "gathered-b=of-zulu")
		if got := elements(t, root, "fleet"); got != "0:mike 1:zulu" {
			t.Errorf("the root has %s", got)
		}
		if subs := subsOf(t, root); subs["fan-green"] != nil || subs["fan-red"] == nil {
			t.Errorf("the subinstallations for the keys are not those of the map")
		}
	})
	t.Run("deletion", func(t *testing.T) {
		if err := env.Admin.Delete(t.Context(), root); err != nil {
			t.Fatal(err)
		}
		waitGone(t, env.Admin, root.DeepCopy(), &v1alpha1.InstallationList{})
		wantNotes(t, space)
	})
}
