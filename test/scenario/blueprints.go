package scenario

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// Imports of the Targets of clusters: one, and a list.
const (
	SingleImport = `imports: [{name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}]`
	ListImport   = `imports: [{name: clusters, type: targetList, targetType: landscaper.gardener.cloud/kubernetes-cluster}]`
)

// Note is a deploy item in one line, which deploys a ConfigMap of its own name with a
// text. What comes behind is added to the item.
func Note(name, target, text string, more ...string) string {
	return "- {name: " + name + ", type: landscaper.gardener.cloud/kubernetes-manifest, target: {" + target + "}, " + strings.Join(append(more, ""), ", ") +
		"config: {apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, updateStrategy: update, manifests: [{policy: manage, " +
		"manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: NAMESPACE}, data: {text: " + text + "}}}]}}\n"
}

// BlueprintOf returns a blueprint: what it declares, and the template of its items.
func BlueprintOf(t *testing.T, declared, items string) map[string]any {
	t.Helper()
	blueprint := map[string]any{"apiVersion": "landscaper.gardener.cloud/v1alpha1", "kind": "Blueprint"}
	Decode(t, declared, &blueprint)
	blueprint["deployExecutions"] = []any{map[string]any{"name": "main", "type": "GoTemplate", "template": "deployItems:\n" + items}}
	return blueprint
}

// WithSubs adds subinstallations to a blueprint.
func WithSubs(blueprint map[string]any, subs ...any) map[string]any {
	blueprint["subinstallations"] = subs
	return blueprint
}

// TextOf is a value as JSON.
func TextOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// SubOf is the template of a subinstallation: its wiring and its blueprint.
func SubOf(t *testing.T, name, wiring string, blueprint map[string]any) any {
	t.Helper()
	template := map[string]any{}
	Decode(t, wiring, &template)
	template["name"] = name
	template["blueprint"] = map[string]any{"filesystem": map[string]any{"blueprint.yaml": TextOf(t, blueprint)}}
	return template
}

// RootOf is the specification of an Installation: its wiring and its blueprint.
func RootOf(t *testing.T, space, wiring string, blueprint map[string]any) v1alpha1.InstallationSpec {
	t.Helper()
	var spec v1alpha1.InstallationSpec
	Decode(t, strings.ReplaceAll(wiring, "NAMESPACE", space), &spec)
	files := map[string]string{"blueprint.yaml": strings.ReplaceAll(TextOf(t, blueprint), "NAMESPACE", space)}
	spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON([]byte(TextOf(t, files)))}
	return spec
}

// InstallationOf returns an Installation that asks for a job.
func InstallationOf(space, name string, spec v1alpha1.InstallationSpec) *v1alpha1.Installation {
	return &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, Annotations: map[string]string{v1alpha1.OperationAnnotation: "reconcile"}},
		Spec:       spec,
	}
}

// OnCluster is the target of an item: the import of SingleImport.
const OnCluster = "import: cluster"

// ItemsOn is the specification of an Installation with items that deploy to a Target.
func ItemsOn(t *testing.T, space, target string, items ...string) v1alpha1.InstallationSpec {
	t.Helper()
	return RootOf(t, space, `imports: {targets: [{name: cluster, target: `+target+`}]}`, BlueprintOf(t, SingleImport, strings.Join(items, "")))
}

// YAMLItem is an item of manifests that are given as YAML.
func YAMLItem(name, policy string, manifests ...string) string {
	list := make([]string, len(manifests))
	for i, manifest := range manifests {
		list[i] = "{policy: " + policy + ", manifest: " + manifest + "}"
	}
	return "- {name: " + name + ", type: landscaper.gardener.cloud/kubernetes-manifest, target: {import: cluster}, config: {" +
		"apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, updateStrategy: update, manifests: [" + strings.Join(list, ", ") + "]}}\n"
}

// Decode reads YAML.
func Decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}
