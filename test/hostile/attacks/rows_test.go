package attacks

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/hostile"
	"go.landscaper.dev/test/landscape"
)

// rows are the attacks. Those at the end leave most behind.
func rows() []row {
	return []row{
		{name: "method", reason: "a method of a value in a loop: `(now).Format` with a layout of 15 MB", attack: method, harmless: 2, hostile: 1000},
		{name: "spiff-lists", reason: "lists of lists in spiff", attack: spiffLists, harmless: 2, hostile: 2000},
		{name: "aliases", reason: "aliases of Helm dependencies, level in level", attack: aliases, harmless: 1, hostile: 12},
		{name: "chart-lines", reason: "`.Files.Lines` of a long file in a loop", attack: chartFiles(`$.Files.Lines "f.txt"`), harmless: 1, hostile: 100_000},
		{name: "chart-config", reason: "`.Files.AsConfig` in a loop", attack: chartFiles(`$.Files.AsConfig`), harmless: 1, hostile: 100_000},
		{name: "chart-secrets", reason: "`.Files.AsSecrets` in a loop", attack: chartFiles(`$.Files.AsSecrets`), harmless: 1, hostile: 100_000},
		{name: "globals", reason: "globals that are copied to 50 sub-charts", attack: globals, harmless: 3, hostile: 8000},
		{name: "yaml-documents", reason: "20 KB of YAML documents with aliases, which stand for millions of values", attack: yamlDocuments, harmless: 1, hostile: 100},
		{name: "name-references", reason: "kustomize: name references to 900 objects", attack: nameReferences, harmless: 3, hostile: 900},
		{name: "kustomize-annotations", reason: "kustomize: its own annotations, with long lists", attack: internalAnnotations, harmless: 1, hostile: 40_000},
		{name: "strategic-merge", reason: "kustomize: a strategic merge of long lists", attack: strategicMerge, harmless: 3, hostile: 3000},
		{name: "json-path", reason: "`..a..a..a` on 200 nested maps of a target cluster", attack: jsonPath, harmless: 5, hostile: 200, endless: true},
		{name: "cel", reason: "loops in loops of CEL over a long list of a target cluster", attack: celLoops, harmless: 3, hostile: 10_000, endless: true},
		{name: "exports", reason: "40 exports of one object with 8 MiB", attack: largeExports, harmless: 1, hostile: 8 << 10},
		{name: "release-records", reason: "a record of a Helm release that unpacks to 600 MiB", attack: releaseRecord, hostile: 600},
		{name: "component-closure", reason: "30 component versions with large descriptors that refer to each other", attack: closure, harmless: 2, hostile: 30},
		{name: "wide-blueprints", reason: "12 blueprints with 30 MiB of files each", attack: wideBlueprints, harmless: 1, hostile: 12},
		{name: "watches", reason: "an item that waits for 3,000 objects in as many namespaces", attack: watches, hostile: 3000, endless: true},
		{name: "data-objects", reason: "60 DataObjects of 1 MB", attack: dataObjects, harmless: 1, hostile: 60},
		{name: "waiting-processes", reason: "processes of 8 namespaces that wait, each after a work with 30 MiB", attack: waiting, harmless: 1, hostile: 15_000, spaces: 8},
		{name: "crowd", reason: "30 Installations of a namespace that compute without end", attack: crowd, hostile: 30, endless: true},
		{name: "crowds", reason: "5 Installations in each of 6 namespaces that compute without end", attack: crowd, hostile: 5, spaces: 6, endless: true},
	}
}

// method calls a method of a value again and again.
func method(a *attacker, size int) []*v1alpha1.Installation {
	return a.one(fmt.Sprintf(`{{ $l := repeat %d (repeat %d "2006-01-02 15:") }}{{ range until %d }}{{ $x := (now).Format $l }}{{ end }}`, size, size, size*100) + "\n" + landscape.OneConfigMap)
}

// spiffLists makes a list of lists of lists.
func spiffLists(a *attacker, size int) []*v1alpha1.Installation {
	return a.described(fmt.Sprintf(`apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
deployExecutions:
- name: default
  type: Spiff
  template:
    lists: (( &temporary(map[[1 .. %d]|x|-> map[[1 .. %d]|y|-> [1 .. 100]]]) ))
    deployItems: []
`, size, size))
}

// chart is an item with a chart.
func (a *attacker) chart(about string, files map[string]string) []*v1alpha1.Installation {
	a.Helper()
	archive, err := landscape.Chart("shop", "1.0.0", about, files)
	if err != nil {
		a.Fatal(err)
	}
	return a.one(landscape.HelmItem(archive, ""))
}

// aConfigMap is a template of a chart.
const aConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\n"

// aliases is a chart whose dependency is there under many names, and so is that of the dependency.
func aliases(a *attacker, size int) []*v1alpha1.Installation {
	const levels = 6
	dependencies := func(level int) string {
		return "dependencies:\n" + numbered(fmt.Sprintf("- {name: c%d, version: 1.0.0, alias: a%%d}\n", level), size)
	}
	files, folder := map[string]string{"templates/a.yaml": aConfigMap}, ""
	for level := levels; level > 0; level-- {
		folder += fmt.Sprintf("charts/c%d/", level)
		text := fmt.Sprintf("apiVersion: v2\nname: c%d\nversion: 1.0.0\n", level)
		if level > 1 {
			text += dependencies(level - 1)
		}
		files[folder+"Chart.yaml"] = text
	}
	return a.chart(dependencies(levels), files)
}

// chartFiles reads the files of a chart in a loop.
func chartFiles(expression string) func(*attacker, int) []*v1alpha1.Installation {
	return func(a *attacker, size int) []*v1alpha1.Installation {
		return a.chart("", map[string]string{
			"f.txt":            strings.Repeat("a\n", 17_000),
			"templates/a.yaml": fmt.Sprintf("{{ $all := list }}{{ range until %d }}{{ $all = append $all (%s) }}{{ end }}", size, expression) + aConfigMap,
		})
	}
}

// globals is a chart with many sub-charts, each of which gets a copy of all globals.
func globals(a *attacker, size int) []*v1alpha1.Installation {
	files := map[string]string{"templates/a.yaml": aConfigMap, "values.yaml": "global:\n" + numbered("  k%d: {a: b}\n", size)}
	for i := range 50 {
		files[fmt.Sprintf("charts/c%d/Chart.yaml", i)] = fmt.Sprintf("apiVersion: v2\nname: c%d\nversion: 1.0.0\n", i)
	}
	return a.chart("", files)
}

// yamlDocuments is a kustomization with documents of 200 bytes, each of which stands for 10,000 values.
func yamlDocuments(a *attacker, size int) []*v1alpha1.Installation {
	one := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%d}\na: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
	return a.kustomization(map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": numbered(one, size)})
}

// kustomization is an item with the files of a kustomization.
func (a *attacker) kustomization(files map[string]string) []*v1alpha1.Installation {
	a.Helper()
	text, err := json.Marshal(files)
	if err != nil {
		a.Fatal(err)
	}
	return a.one(`deployItems:
- name: files
  type: landscaper.gardener.cloud/kustomize
  target: {import: cluster}
  config:
    apiVersion: kustomize.deployer.landscaper.gardener.cloud/v1alpha1
    kind: ProviderConfiguration
    targetNamespace: NAMESPACE
    source: {files: ` + string(text) + "}\n")
}

// nameReferences is a Deployment with a variable of each of many ConfigMaps.
func nameReferences(a *attacker, size int) []*v1alpha1.Installation {
	return a.kustomization(map[string]string{
		"kustomization.yaml": "resources: [a.yaml, b.yaml]\nnamePrefix: p-\n",
		"a.yaml":             numbered("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", size),
		"b.yaml":             podTemplate + "      containers:\n      - name: a\n        image: a\n        env:\n" + numbered("        - {name: e%d, valueFrom: {configMapKeyRef: {name: c%d, key: a}}}\n", size),
	})
}

const podTemplate = "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: d}\ntemplate:\n    spec:\n"

// internalAnnotations writes what kustomize notes for itself.
func internalAnnotations(a *attacker, size int) []*v1alpha1.Installation {
	list := func(word string) string { return strings.TrimSuffix(strings.Repeat(word+",", size), ",") }
	return a.kustomization(map[string]string{
		"kustomization.yaml": "resources: [a.yaml, b.yaml]\nnamePrefix: p-\n",
		"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  annotations:\n    internal.config.kubernetes.io/previousNames: " + list("c") +
			"\n    internal.config.kubernetes.io/previousNamespaces: " + list("default") + "\n    internal.config.kubernetes.io/previousKinds: " + list("ConfigMap") + "\n",
		"b.yaml": podTemplate + "      containers:\n      - name: a\n        image: a\n        env:\n" + numbered("        - {name: e%d, valueFrom: {configMapKeyRef: {name: c, key: a}}}\n", min(size, 900)),
	})
}

// strategicMerge patches a list with as long a list.
func strategicMerge(a *attacker, size int) []*v1alpha1.Installation {
	return a.kustomization(map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n",
		"a.yaml":             podTemplate + "      containers:\n" + numbered("      - {name: c%d, image: a}\n", size),
		"p.yaml":             podTemplate + "      containers:\n" + numbered("      - {name: c%d, image: b}\n", size),
	})
}

// onCluster is an item with a ConfigMap for a hostile cluster, and further fields of its configuration.
func (a *attacker) onCluster(way hostile.Way, template string) []*v1alpha1.Installation {
	a.Helper()
	inst := landscape.NewInstallation(a.space, "attack", template)
	inst.Spec.Imports.Targets[0].Target = a.target(way.Name, way)
	return []*v1alpha1.Installation{env.Create(a.T, inst)}
}

// checking is the item with more fields of its configuration.
func checking(fields string) string {
	return strings.Replace(landscape.OneConfigMap, "    manifests:\n", landscape.Indent(fields, 4)+"    manifests:\n", 1)
}

// deployment is an object of a hostile cluster.
func deployment(spec any) map[string]any {
	return map[string]any{"kind": "Deployment", "apiVersion": "apps/v1", "metadata": map[string]any{"name": "a", "namespace": "b", "uid": "stored", "resourceVersion": "1"}, "spec": spec}
}

// jsonPath looks for what is nested at any depth, three times.
func jsonPath(a *attacker, size int) []*v1alpha1.Installation {
	nested := any("end")
	for range size {
		nested = map[string]any{"a": nested}
	}
	return a.onCluster(hostile.Holding("nested", "an object with nested maps", deployment(nested)),
		checking(`readinessChecks: {disableDefault: true, custom: [{name: c, resourceSelector: [{apiVersion: apps/v1, kind: Deployment, name: a, namespace: b}], requirements: [{jsonPath: "..a..a..a", operator: exists}]}]}`))
}

// celLoops compares each value of a list with each pair of others.
func celLoops(a *attacker, size int) []*v1alpha1.Installation {
	list := make([]any, size)
	for i := range list {
		list[i] = i
	}
	return a.onCluster(hostile.Holding("list", "an object with a long list", deployment(map[string]any{"l": list})),
		checking(`readinessChecks: {disableDefault: true, custom: [{name: c, resourceSelector: [{apiVersion: apps/v1, kind: Deployment, name: a, namespace: b}], expressions: {current: "spec.l.all(a, spec.l.all(b, spec.l.all(c, a + b + c >= 0)))"}}]}`))
}

// largeExports reads one large value many times.
func largeExports(a *attacker, size int) []*v1alpha1.Installation {
	return a.onCluster(hostile.Holding("large", "a large object", deployment(map[string]any{"x": strings.Repeat("x", size<<10)})),
		checking("exports:\n  exports:\n"+numbered("  - {key: k%d, jsonPath: .spec, fromResource: {apiVersion: apps/v1, kind: Deployment, name: a, namespace: b}}\n", 40)))
}

// releaseRecord puts a record of a release into the cluster, which is mostly nothing.
func releaseRecord(a *attacker, size int) []*v1alpha1.Installation {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	write := func(text string) {
		if _, err := writer.Write([]byte(text)); err != nil {
			a.Fatal(err)
		}
	}
	write(`{"name":"attack","namespace":"` + a.space + `","version":1,"info":{"status":"deployed"},"manifest":"`)
	mebibyte := strings.Repeat("#", 1<<20)
	for range size {
		write(mebibyte)
	}
	write(`"}`)
	if err := writer.Close(); err != nil {
		a.Fatal(err)
	}
	record := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.space, Name: "sh.helm.release.v1.attack.v1", Labels: map[string]string{"owner": "helm", "name": "attack", "status": "deployed", "version": "1"}},
		Type:       "helm.sh/release.v1",
		Data:       map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))},
	}
	if err := env.Workload.Create(a.Context(), record); err != nil {
		a.Fatal(err)
	}
	return a.chart("", map[string]string{"templates/a.yaml": aConfigMap})
}

// fromRegistry is an Installation whose blueprint comes from a hostile registry.
func (a *attacker) fromRegistry(name string, way hostile.Way) *v1alpha1.Installation {
	a.Helper()
	server := a.server(way)
	where, err := v1alpha1.NewUnstructuredTypedObject("ociRegistry", map[string]any{"baseUrl": server.Address})
	if err != nil {
		a.Fatal(err)
	}
	repositories := &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: a.space, Name: name}, ContextConfiguration: v1alpha1.ContextConfiguration{RepositoryContext: where}}
	if err := env.Admin.Create(a.Context(), repositories); err != nil {
		a.Fatal(err)
	}
	inst := landscape.NewInstallation(a.space, name, landscape.OneConfigMap)
	inst.Spec.Context = name
	inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/a", Version: "1.0.0"}}
	inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Reference: &v1alpha1.RemoteBlueprintReference{ResourceName: "blueprint"}}
	return env.Create(a.T, inst)
}

// closure has versions whose descriptors have 50,000 small values.
func closure(a *attacker, size int) []*v1alpha1.Installation {
	return []*v1alpha1.Installation{a.fromRegistry("attack", hostile.LargeClosure(size, min(50_000, size*size*size)))}
}

// wideBlueprints are used at the same time.
func wideBlueprints(a *attacker, size int) (all []*v1alpha1.Installation) {
	for i := range size {
		all = append(all, a.fromRegistry(fmt.Sprint("attack-", i), hostile.WideBlueprint(min(30, 3*size))))
	}
	return all
}

// watches waits for objects that never get ready.
func watches(a *attacker, size int) []*v1alpha1.Installation {
	return a.onCluster(hostile.Stored(), fmt.Sprintf(`deployItems:
- name: one
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    updateStrategy: update
    manifests:
    {{- range until %d }}
    - {policy: manage, manifest: {apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: "n{{ . }}"}}}
    {{- end }}
`, size))
}

// dataObjects stores large values, one of which is used.
func dataObjects(a *attacker, size int) []*v1alpha1.Installation {
	value := v1alpha1.NewAnyJSON([]byte(`"` + strings.Repeat("x", 1_000_000) + `"`))
	group, ctx := errgroup.WithContext(a.Context())
	group.SetLimit(8)
	for i := range size {
		group.Go(func() error {
			return env.Admin.Create(ctx, &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: a.space, Name: fmt.Sprint("large-", i)}, Data: value})
		})
	}
	if err := group.Wait(); err != nil {
		a.Fatal(err)
	}
	inst := landscape.Described(a.space, "attack", `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: large, schema: {type: string}}
`)
	inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "large", DataRef: "large-0"}}
	return []*v1alpha1.Installation{env.Create(a.T, inst)}
}

// waiting leaves a process behind that has worked with megabytes.
func waiting(a *attacker, size int) []*v1alpha1.Installation {
	return a.one(fmt.Sprintf(`{{ $l := repeat 1000 (repeat %d "x") }}`, size) + "\n" + landscape.OneConfigMap)
}

// crowd are Installations that compute.
func crowd(a *attacker, size int) (all []*v1alpha1.Installation) {
	for i := range size {
		all = append(all, env.Create(a.T, landscape.NewInstallation(a.space, fmt.Sprint("attack-", i), `{{ $l := repeat 1000 "2006-01-02 15:" }}{{ range until 1000 }}{{ range until 1000 }}{{ $x := (now).Format $l }}{{ end }}{{ end }}`+"\n"+landscape.OneConfigMap)))
	}
	return all
}
