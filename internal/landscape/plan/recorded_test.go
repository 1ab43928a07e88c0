package plan

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/model/dataflow"
)

// example has blueprints like those of the documentation's example of data that
// flows between Installations, and what was recorded when they ran elsewhere.
const example = "testdata/dataflow/"

// exampleContext is the repository context of the recorded Context.
var exampleContext = descriptor.Typed(`{"type":"ociRegistry","baseUrl":"http://127.0.0.1:30481/landscaper-examples/examples"}`)

// TestRecordedDataflow works out the three Installations of the example, each with
// what those before it have exported, and compares all objects with the recorded.
func TestRecordedDataflow(t *testing.T) {
	e := newExample(t)
	for _, name := range []string{"dataflow-gitrepository", "dataflow-secret", "dataflow-root"} {
		e.run(t, name)
	}
	e.compareItems(t)
	e.compareData(t)
	e.compareTargets(t)
}

type recordedExample struct {
	session       *component.Session
	installations map[string]*v1alpha1.Installation
	// scope has what Installations can import, like a namespace.
	scope *scope
	// All that was worked out: items by Installation, objects by name.
	items   map[string]v1alpha1.DeployItemTemplateList
	data    map[string]*v1alpha1.DataObject
	targets map[string]*v1alpha1.Target
}

func newExample(t *testing.T) *recordedExample {
	t.Helper()
	text, err := os.ReadFile(example + "repository/component.yaml")
	if err != nil {
		t.Fatal(err)
	}
	top, err := descriptor.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	e := &recordedExample{
		session:       component.NewSession(component.NewShared(), component.Options{Default: exampleContext}),
		installations: map[string]*v1alpha1.Installation{}, items: map[string]v1alpha1.DeployItemTemplateList{},
		data: map[string]*v1alpha1.DataObject{}, targets: map[string]*v1alpha1.Target{},
		scope: &scope{data: map[string]*v1alpha1.DataObject{}, targets: map[string]*v1alpha1.Target{}},
	}
	t.Cleanup(func() { _ = e.session.Close() })
	if _, err := e.session.SetInline(top, os.DirFS(example+"repository/blobs")); err != nil {
		t.Fatal(err)
	}
	for _, inst := range recorded[[]*v1alpha1.Installation](t, "installations") {
		e.installations[inst.Name] = inst
	}
	for _, name := range []string{"my-cluster", "my-cluster-2"} {
		e.scope.targets[name] = &v1alpha1.Target{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "cu-example"},
			Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig":"kind: Config\nusers: []\n"}`))},
		}
	}
	return e
}

// recorded reads a file.
func recorded[T any](t *testing.T, name string) T {
	t.Helper()
	text, err := os.ReadFile(example + "recorded/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all T
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (e *recordedExample) open(ctx context.Context, _ Input, inst *v1alpha1.Installation) (Input, error) {
	opened, err := OpenComponent(ctx, e.session, inst.Spec.ComponentDescriptor)
	if err != nil {
		return Input{}, err
	}
	loaded, err := OpenBlueprint(ctx, nil, opened, &inst.Spec.Blueprint)
	return Input{Component: opened, Blueprint: loaded}, err
}

// run works out a root with all below it.
func (e *recordedExample) run(t *testing.T, name string) {
	t.Helper()
	inst := e.installations[name]
	in, err := e.open(t.Context(), Input{}, inst)
	if err != nil {
		t.Fatal(err)
	}
	in.Installation = inst
	if in.Imports, err = dataflow.Read(t.Context(), inst, e.scope); err != nil {
		t.Fatal(err)
	}
	token := base64.StdEncoding.EncodeToString([]byte("REDACTED-TOKEN"))
	simulation := known{items: map[string]map[string]any{"dataflow-root/dataflow-tokenprovider/item": {"test-token": token}}}
	tree := &Tree{Open: e.open, Simulation: simulation}
	root, err := tree.Grow(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	restartAll(t, tree, root, e.session)
	if len(root.Waiting) > 0 {
		t.Fatalf("%s waits: %v", name, root.Waiting)
	}
	e.scope.add(root.Exports.Exports)
	e.collect(t, root, inst)
	for _, sub := range root.Nodes {
		e.collect(t, sub, e.subinstallation(t, sub))
	}
}

// subinstallation compares a child with the recorded one, which has a name that
// was made up at that time.
func (e *recordedExample) subinstallation(t *testing.T, node *Node) *v1alpha1.Installation {
	t.Helper()
	for _, want := range e.installations {
		if want.Annotations[v1alpha1.SubinstallationNameAnnotation] != node.Name() {
			continue
		}
		got := node.Installation()
		shown := want.DeepCopy()
		// The recorded one names the repository context of its Context. Ours leaves it
		// to the Context, which leads to the same repository.
		written := shown.Spec.ComponentDescriptor.Reference
		if inEffect := node.in.Component.Reference.RepositoryContext; !repository.Equal(component.Context(inEffect), component.Context(written.RepositoryContext)) {
			t.Errorf("%s: repository context %s, recorded %s", node.Path, inEffect.Raw, written.RepositoryContext.Raw)
		}
		written.RepositoryContext = nil
		wantSame(t, node.Path, got.Spec, shown.Spec)
		wantSame(t, node.Path, got.Labels, shown.Labels)
		wantSame(t, node.Path, got.Annotations, shown.Annotations)
		wantSame(t, node.Path, got.OwnerReferences[0].UID, shown.OwnerReferences[0].UID)
		return want
	}
	t.Fatalf("%s was not recorded", node.Path)
	return nil
}

// collect takes what an Installation would create, under its recorded name.
func (e *recordedExample) collect(t *testing.T, node *Node, inst *v1alpha1.Installation) {
	t.Helper()
	in := node.in
	in.Installation = inst
	made, err := New(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	copies, err := made.Copies()
	if err != nil {
		t.Fatal(err)
	}
	exports, err := made.finishExports(t.Context(), node.Exports.Values)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range append(copies.DataObjects, exports.DataObjects...) {
		e.data[object.Name] = object
	}
	for _, object := range append(copies.Targets, exports.Targets...) {
		e.targets[object.Name] = object
	}
	if len(node.DeployItems) > 0 {
		e.items[inst.Name] = node.DeployItems
	}
}

// wantSame compares two objects as YAML.
func wantSame(t *testing.T, what string, got, want any) {
	t.Helper()
	text, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	wantYAML(t, what, got, string(text))
}

// moments are the only part of the items that is not the same each time.
var moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)

func (e *recordedExample) compareItems(t *testing.T) {
	t.Helper()
	want := recorded[map[string]v1alpha1.DeployItemTemplateList](t, "deployitems")
	if len(want) != 4 {
		t.Fatalf("%d recorded Executions", len(want))
	}
	for name := range want {
		texts := make([]string, 2)
		for i, items := range []v1alpha1.DeployItemTemplateList{e.items[name], want[name]} {
			text, err := yaml.Marshal(items)
			if err != nil {
				t.Fatal(err)
			}
			found := moments.FindAllString(string(text), -1)
			for _, moment := range found {
				if moment != found[0] {
					t.Errorf("%s: moments differ in one item: %s", name, found)
				}
			}
			texts[i] = moments.ReplaceAllString(string(text), "MOMENT")
		}
		wantYAML(t, "deploy items of "+name, json.RawMessage(mustJSON(t, texts[0])), texts[1])
	}
	if len(e.items) != len(want) {
		t.Errorf("deploy items of %q, recorded of %q", slices.Sorted(maps.Keys(e.items)), slices.Sorted(maps.Keys(want)))
	}
}

func mustJSON(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// wantMetadata compares what was recorded of metadata. The label with the job was
// not kept.
func wantMetadata(t *testing.T, got, want metav1.ObjectMeta) {
	t.Helper()
	labels := maps.Clone(got.Labels)
	delete(labels, v1alpha1.DataObjectJobIDLabel)
	wantSame(t, "labels of "+want.Name, labels, want.Labels)
	if hash := want.Annotations[v1alpha1.DataObjectHashAnnotation]; hash != "" && got.Annotations[v1alpha1.DataObjectHashAnnotation] != hash {
		t.Errorf("%s: hash %s, recorded %s", want.Name, got.Annotations[v1alpha1.DataObjectHashAnnotation], hash)
	}
}

func (e *recordedExample) compareData(t *testing.T) {
	t.Helper()
	want := recorded[[]v1alpha1.DataObject](t, "dataobjects")
	for _, object := range want {
		got := e.data[object.Name]
		if got == nil {
			t.Errorf("DataObject %s (%v) was recorded, but is not made", object.Name, object.Labels)
			continue
		}
		wantMetadata(t, got.ObjectMeta, object.ObjectMeta)
		wantSame(t, "data of "+object.Name, got.Data, object.Data)
	}
	if len(e.data) != len(want) || len(want) != 10 {
		t.Errorf("DataObjects %q, %d were recorded", slices.Sorted(maps.Keys(e.data)), len(want))
	}
}

func (e *recordedExample) compareTargets(t *testing.T) {
	t.Helper()
	want := recorded[[]v1alpha1.Target](t, "targets")
	for _, object := range want {
		got := e.targets[object.Name]
		if got == nil {
			t.Errorf("Target %s (%v) was recorded, but is not made", object.Name, object.Labels)
			continue
		}
		wantMetadata(t, got.ObjectMeta, object.ObjectMeta)
		if got.Spec.Type != object.Spec.Type || !strings.Contains(string(got.Spec.Configuration.RawMessage), "kind: Config") {
			t.Errorf("Target %s: %+v", object.Name, got.Spec)
		}
	}
	if len(e.targets) != len(want) || len(want) != 9 {
		t.Errorf("Targets %q, %d were recorded", slices.Sorted(maps.Keys(e.targets)), len(want))
	}
}

// TestRecordedItem compares to the byte what was recorded of a single item: readers
// elsewhere compare the texts.
func TestRecordedItem(t *testing.T) {
	in := input(t, `
imports: [{name: cluster, targetType: kubernetes-cluster}]
deployExecutions:
- name: default
  type: GoTemplate
  template: |
    deployItems:
    - config:
        updateStrategy: update
        kind: ProviderConfiguration
        apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
        manifests:
        - manifest: {kind: ConfigMap, apiVersion: v1, metadata: {namespace: minimal, name: smallest}, data: {greeting: hello}}
          policy: manage
      target: {import: cluster}
      type: landscaper.gardener.cloud/kubernetes-manifest
      name: one
`)
	in.Imports.Targets["cluster"].Namespace = "minimal"
	made, err := children(t, in)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(made.DeployItems)
	const want = `[{"name":"one","type":"landscaper.gardener.cloud/kubernetes-manifest","target":{"name":"host","namespace":"minimal"},"config":{"apiVersion":"manifest.deployer.landscaper.gardener.cloud/v1alpha2","kind":"ProviderConfiguration","manifests":[{"manifest":{"apiVersion":"v1","data":{"greeting":"hello"},"kind":"ConfigMap","metadata":{"name":"smallest","namespace":"minimal"}},"policy":"manage"}],"updateStrategy":"update"}}]`
	if err != nil || string(raw) != want {
		t.Errorf("got\n%s\n%v, recorded\n%s", raw, err, want)
	}
}
