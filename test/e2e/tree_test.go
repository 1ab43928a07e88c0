package e2e

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// leafBlueprint deploys one ConfigMap note-NAME with a text. All subinstallations
// import a Target named cluster.
const leafBlueprint = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, targetType: kubernetes-cluster}
IMPORTS
exports: EXPORTED
deployExecutions:
- name: main
  type: GoTemplate
  template: |
    deployItems:
    - name: note
      type: landscaper.gardener.cloud/kubernetes-manifest
      target: {import: cluster}
      config:
        apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
        kind: ProviderConfiguration
        updateStrategy: update
        readinessChecks: READY
        manifests:
        - policy: manage
          manifest:
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: note-NAME, namespace: NAMESPACE, finalizers: HELD}
            data: {text: TEXT}
exportExecutions:
- name: main
  type: GoTemplate
  template: |
    exports: GIVEN
`

// leaf is a subinstallation in short: what its blueprint declares and gives, and how
// it is wired.
type leaf struct {
	name string
	// imports and exported are declarations, text is what it deploys, given what its
	// export execution gives.
	imports, exported, text, given string
	// wiring are the imports and exports of the template.
	wiring string
	// ready are readiness checks, held are finalizers of what it deploys.
	ready, held string
}

// template returns the installation template.
func (l leaf) template(t *testing.T, space string) any {
	t.Helper()
	description := strings.NewReplacer("NAMESPACE", space, "NAME", l.name, "IMPORTS", l.imports, "EXPORTED", cmp.Or(l.exported, "[]"),
		"TEXT", cmp.Or(l.text, "from-"+l.name), "GIVEN", cmp.Or(l.given, "{}"),
		"READY", cmp.Or(l.ready, "{}"), "HELD", cmp.Or(l.held, "[]")).Replace(leafBlueprint)
	template := map[string]any{}
	decode(t, l.wiring, &template)
	template["name"] = l.name
	template["blueprint"] = map[string]any{"filesystem": map[string]any{"blueprint.yaml": description}}
	return template
}

// treeRoot is what the root of a tree declares and gives besides its subinstallations.
const treeRoot = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: greeting, type: data, schema: {type: string}}
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
`

// treeExports are the exports of the recorded tree.
const treeExports = `
exports:
- {name: report, type: data, schema: {type: object}}
- {name: edge, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
exportExecutions:
- name: main
  type: GoTemplate
  template: |
    exports:
      report:
        fromB: {{ index .dataobjects "b-result" }}
        seen: {{ keys .dataobjects | sortAlpha | toJson }}
        targets: {{ keys .targets | sortAlpha | toJson }}
      edge:
        type: landscaper.gardener.cloud/kubernetes-cluster
        config: {{ (index .targets "a-target").spec.config | toJson }}
`

const treeWiring = `
imports:
  targets: [{name: cluster, target: host}]
  data: [{name: greeting, dataRef: greeting}]
`

// recordedLeaves are the subinstallations of the recorded tree: b imports data of a, c
// a Target of a. They are not in the order of their data.
func recordedLeaves() []leaf {
	return []leaf{
		{name: "c", wiring: `imports: {targets: [{name: cluster, target: a-target}]}`},
		{
			name: "b", imports: "- {name: upstream, schema: {type: string}}", text: "{{ .imports.upstream | quote }}",
			exported: "[{name: result, schema: {type: string}}]", given: `{result: "b({{ .imports.upstream }})"}`,
			wiring: `{imports: {targets: [{name: cluster, target: cluster}], data: [{name: upstream, dataRef: a-endpoint}]}, exports: {data: [{name: result, dataRef: b-result}]}}`,
		},
		{
			name: "a", imports: "- {name: greeting, schema: {type: string}}", text: "{{ .imports.greeting | quote }}",
			exported: "[{name: endpoint, schema: {type: string}}, {name: made, targetType: kubernetes-cluster}]",
			given:    `{endpoint: "a:{{ .imports.greeting }}", made: {type: landscaper.gardener.cloud/kubernetes-cluster, labels: {made-by: a}, config: {{ toJson .imports.cluster.spec.config }}}}`,
			wiring:   `{imports: {targets: [{name: cluster, target: cluster}], data: [{name: greeting, dataRef: greeting}]}, exports: {data: [{name: endpoint, dataRef: a-endpoint}], targets: [{name: made, target: a-target}]}}`,
		},
	}
}

// treeSpecOf returns the specification of a root with subinstallations.
func treeSpecOf(t *testing.T, space, declared string, leaves ...leaf) v1alpha1.InstallationSpec {
	t.Helper()
	description := map[string]any{}
	decode(t, treeRoot+declared, &description)
	templates := make([]any, len(leaves))
	for i, leaf := range leaves {
		templates[i] = leaf.template(t, space)
	}
	description["subinstallations"] = templates
	text, err := json.Marshal(description)
	if err != nil {
		t.Fatal(err)
	}
	files, err := json.Marshal(map[string]string{"blueprint.yaml": string(text)})
	if err != nil {
		t.Fatal(err)
	}
	var spec v1alpha1.InstallationSpec
	decode(t, treeWiring, &spec)
	spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(files)}
	return spec
}

// createTree stores a root with subinstallations, and what it imports.
func createTree(t *testing.T, space, name, declared string, leaves ...leaf) *v1alpha1.Installation {
	t.Helper()
	createAll(t, &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "greeting"}, Data: v1alpha1.NewAnyJSON([]byte(`"hello"`))})
	root := &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, Annotations: map[string]string{v1alpha1.OperationAnnotation: "reconcile"}},
		Spec:       treeSpecOf(t, space, declared, leaves...),
	}
	if declared != "" {
		decode(t, `exports: {data: [{name: report, dataRef: report}], targets: [{name: edge, target: edge}]}`, &root.Spec)
	}
	return create(t, root)
}

// subsOf returns the subinstallations of a parent by their names in the blueprint.
func subsOf(t *testing.T, parent *v1alpha1.Installation) map[string]*v1alpha1.Installation {
	t.Helper()
	list := &v1alpha1.InstallationList{}
	if err := env.Admin.List(t.Context(), list, client.InNamespace(parent.Namespace), client.MatchingLabels{v1alpha1.EncompassedByLabel: parent.Name}); err != nil {
		t.Fatal(err)
	}
	subs := map[string]*v1alpha1.Installation{}
	for i := range list.Items {
		subs[list.Items[i].Annotations[v1alpha1.SubinstallationNameAnnotation]] = &list.Items[i]
	}
	return subs
}

// TestTree: a root whose subinstallations pass data and Targets to each other, as recorded from
// upstream.
func TestTree(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	root := waitSucceeded(t, createTree(t, space, "root", treeExports, recordedLeaves()...))
	subs := subsOf(t, root)
	checkTree(t, root, subs, "hello")
	for _, name := range []string{"a", "b", "c"} {
		checkSub(t, root, subs[name], name)
	}
	checkScope(t, root, subs)

	t.Run("a changed value runs through the tree, and nothing else is written anew", func(t *testing.T) {
		greeting := &v1alpha1.DataObject{}
		if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "greeting"}, greeting); err != nil {
			t.Fatal(err)
		}
		greeting.Data = v1alpha1.NewAnyJSON([]byte(`"hello again"`))
		if err := env.Admin.Update(t.Context(), greeting); err != nil {
			t.Fatal(err)
		}
		before := root.Status.JobID
		request(t, root, v1alpha1.ReconcileOperation)
		root = waitFinished(t, root, before)
		after := subsOf(t, root)
		checkTree(t, root, after, "hello again")
		for name, sub := range after {
			if sub.UID != subs[name].UID || sub.Generation != 1 {
				t.Errorf("%s was changed: generation %d", name, sub.Generation)
			}
		}
	})
	t.Run("deletion", func(t *testing.T) {
		if err := env.Admin.Delete(t.Context(), root); err != nil {
			t.Fatal(err)
		}
		waitGone(t, env.Admin, root.DeepCopy(), &v1alpha1.InstallationList{})
		if left := subsOf(t, root); len(left) > 0 {
			t.Errorf("%d subinstallations are left", len(left))
		}
		for _, name := range []string{"a", "b", "c"} {
			wantNothingDeployed(t, space, "note-"+name)
		}
	})
}

// checkTree looks at what a tree has brought up and what it exports.
func checkTree(t *testing.T, root *v1alpha1.Installation, subs map[string]*v1alpha1.Installation, greeting string) {
	t.Helper()
	if root.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded || len(subs) != 3 {
		t.Fatalf("%s with %d subinstallations: %+v", root.Status.InstallationPhase, len(subs), root.Status.LastError)
	}
	var pairs []string
	for _, pair := range root.Status.SubInstCache.ActiveSubs {
		pairs = append(pairs, pair.SpecName)
		if subs[pair.SpecName] == nil || subs[pair.SpecName].Name != pair.ObjectName || subs[pair.SpecName].Status.JobIDFinished != root.Status.JobID {
			t.Errorf("%+v is not %+v", pair, subs[pair.SpecName])
		}
	}
	if !slices.Equal(pairs, []string{"c", "b", "a"}) || root.Status.ExecutionReference != nil {
		t.Errorf("%v, %+v", pairs, root.Status)
	}
	wantDeployed(t, root.Namespace, "note-a", "text", greeting)
	wantDeployed(t, root.Namespace, "note-b", "text", "a:"+greeting)
	wantDeployed(t, root.Namespace, "note-c", "text", "from-c")
	var report struct {
		FromB         string
		Seen, Targets []string
	}
	decode(t, exportedData(t, root.Namespace, "report"), &report)
	if report.FromB != "b(a:"+greeting+")" || !slices.Equal(report.Seen, []string{"a-endpoint", "b-result", "greeting"}) || !slices.Equal(report.Targets, []string{"a-target", "cluster"}) {
		t.Errorf("%+v", report)
	}
}

// checkSub compares the metadata and the wiring of a subinstallation with what was
// recorded.
func checkSub(t *testing.T, root, sub *v1alpha1.Installation, name string) {
	t.Helper()
	owners := sub.OwnerReferences
	switch {
	case !strings.HasPrefix(sub.Name, name+"-") || len(sub.Name) != len(name)+6 || sub.GenerateName != name+"-":
		t.Errorf("name %s, %s", sub.Name, sub.GenerateName)
	case len(sub.Labels) != 1 || len(sub.Annotations) != 1 || !slices.Equal(sub.Finalizers, []string{v1alpha1.Finalizer}):
		t.Errorf("metadata %+v", sub.ObjectMeta)
	case len(owners) != 1 || owners[0].UID != root.UID || owners[0].Kind != "Installation" || !*owners[0].Controller || !*owners[0].BlockOwnerDeletion:
		t.Errorf("owners %+v", owners)
	case sub.Spec.Context != "default" || sub.Spec.ComponentDescriptor != nil || sub.Spec.Blueprint.Inline == nil:
		t.Errorf("spec %+v", sub.Spec)
	case sub.Status.ObservedGeneration != sub.Generation || sub.Status.ExecutionReference.Name != sub.Name || sub.Status.LastError != nil:
		t.Errorf("status %+v", sub.Status)
	}
}

// checkScope compares what lives in the scope of the root with what was recorded.
func checkScope(t *testing.T, root *v1alpha1.Installation, subs map[string]*v1alpha1.Installation) {
	t.Helper()
	read := func(object client.Object, key string) client.Object {
		name := v1alpha1.GenerateDataObjectName("Inst.root", key)
		if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: root.Namespace, Name: name}, object); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		return object
	}
	for _, test := range []struct {
		object client.Object
		key    string
		from   *v1alpha1.Installation
		source string
	}{
		{&v1alpha1.DataObject{}, "greeting", root, "import"},
		{&v1alpha1.Target{}, "cluster", root, "import"},
		{&v1alpha1.DataObject{}, "a-endpoint", subs["a"], "export"},
		{&v1alpha1.Target{}, "a-target", subs["a"], "export"},
		{&v1alpha1.DataObject{}, "b-result", subs["b"], "export"},
	} {
		labels := read(test.object, test.key).GetLabels()
		owners := test.object.GetOwnerReferences()
		if labels[v1alpha1.DataObjectContextLabel] != "Inst.root" || labels[v1alpha1.DataObjectKeyLabel] != test.key || labels[v1alpha1.DataObjectSourceTypeLabel] != test.source ||
			labels[v1alpha1.DataObjectSourceLabel] != "Inst."+test.from.Name || labels[v1alpha1.DataObjectJobIDLabel] != root.Status.JobID ||
			len(owners) != 1 || owners[0].UID != test.from.UID || owners[0].Controller != nil {
			t.Errorf("%s has labels %v and owners %+v", test.key, labels, owners)
		}
	}
	made := &v1alpha1.Target{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: root.Namespace, Name: v1alpha1.GenerateDataObjectName("Inst."+subs["c"].Name, "cluster")}, made); err != nil || made.Labels["made-by"] != "a" {
		t.Errorf("the copy of c has %v (%v)", made.Labels, err)
	}
	// The items name what is in the scope of the root, and not the copies of their own.
	for name, key := range map[string]string{"a": "cluster", "b": "cluster", "c": "a-target"} {
		items := &v1alpha1.DeployItemList{}
		if err := env.Admin.List(t.Context(), items, client.InNamespace(root.Namespace), client.MatchingLabels{v1alpha1.ExecutionManagedByLabel: subs[name].Name}); err != nil || len(items.Items) != 1 {
			t.Fatalf("%d items of %s, %v", len(items.Items), name, err)
		}
		if want := v1alpha1.GenerateDataObjectName("Inst.root", key); items.Items[0].Spec.Target.Name != want {
			t.Errorf("the item of %s names Target %s, want %s", name, items.Items[0].Spec.Target.Name, want)
		}
	}
	report := &v1alpha1.DataObject{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: root.Namespace, Name: "report"}, report); err != nil || report.Labels[v1alpha1.DataObjectKeyLabel] != "report" || report.Labels[v1alpha1.DataObjectContextLabel] != "" {
		t.Errorf("%v, %v", report.Labels, err)
	}
}

// wantNothingDeployed checks that a ConfigMap is not on the target cluster.
func wantNothingDeployed(t *testing.T, space, name string) {
	t.Helper()
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("%s is on the target cluster (%v)", name, err)
	}
}
