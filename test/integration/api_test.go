package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/server/install"
)

// TestOlderForms sends the forms of the API that old documents show. The number
// is the row in the comparison of old and new releases that the case is for.
func TestOlderForms(t *testing.T) {
	const blueprint = "blueprint: {ref: {resourceName: a}}"
	tests := []struct {
		row    string
		reason string
		object string
		// want maps a path to the JSON text that must be stored there.
		want    map[string]string
		refused string
	}{
		{"6", "phases of old releases can be stored and read", `{kind: Installation, spec: {` + blueprint + `}, status: {phase: PendingDependencies, observedGeneration: 1}}`,
			map[string]string{"status.phase": `"PendingDependencies"`}, ""},
		{"7", "versions of imports in the status", `{kind: Installation, spec: {` + blueprint + `}, status: {imports: [{name: a, type: dataobject, dataRef: x, configGeneration: "5", sourceRef: {name: b, namespace: c}}, {name: b, type: target, target: x}, {name: c, type: dataobject, secretRef: x, configMapRef: z}]}}`,
			map[string]string{"status.imports": `[{"configGeneration":"5","dataRef":"x","name":"a","sourceRef":{"name":"b","namespace":"c"},"type":"dataobject"},{"name":"b","target":"x","type":"target"},{"configMapRef":"z","name":"c","secretRef":"x","type":"dataobject"}]`}, ""},
		{"8", "version of the exports in the status", `{kind: Installation, spec: {` + blueprint + `}, status: {configGeneration: abc}}`,
			map[string]string{"status.configGeneration": `"abc"`}, ""},
		{"9", "references to subinstallations in both forms", `{kind: Installation, spec: {` + blueprint + `}, status: {installationRefs: [{name: a, ref: {name: a-x, namespace: b}}], subInstCache: {activeSubs: [{specName: a, objectName: a-x}], orphanedSubs: [c]}}}`,
			map[string]string{"status.installationRefs": `[{"name":"a","ref":{"name":"a-x","namespace":"b"}}]`, "status.subInstCache": `{"activeSubs":[{"objectName":"a-x","specName":"a"}],"orphanedSubs":["c"]}`}, ""},
		{"10", "the reference to the Execution", `{kind: Installation, spec: {` + blueprint + `}, status: {executionRef: {name: a, namespace: b}}}`,
			map[string]string{"status.executionRef": `{"name":"a","namespace":"b"}`}, ""},
		{"11", "the namespace of a Secret is kept, if it is the own one", `{kind: Installation, spec: {` + blueprint + `, imports: {data: [{name: a, secretRef: {name: s, key: k, namespace: default}}]}}}`,
			map[string]string{"spec.imports.data": `[{"name":"a","secretRef":{"key":"k","name":"s","namespace":"default"}}]`}, ""},
		{"12", "without a key the whole Secret is meant", `{kind: Installation, spec: {` + blueprint + `, imports: {data: [{name: a, secretRef: {name: s}}, {name: b, configMapRef: {name: s}}]}}}`,
			map[string]string{"spec.imports.data": `[{"name":"a","secretRef":{"name":"s"}},{"configMapRef":{"name":"s"},"name":"b"}]`}, ""},
		{"13", "direct references in imports", `{kind: Installation, spec: {` + blueprint + `, imports: {data: [{name: a, dataRef: "#x"}], targets: [{name: b, target: "#x"}]}}}`,
			map[string]string{"spec.imports.data": `[{"dataRef":"#x","name":"a"}]`}, ""},
		{"14", "direct references in exports", `{kind: Installation, spec: {` + blueprint + `, exports: {data: [{name: a, dataRef: "#x"}], targets: [{name: b, target: "#x"}]}}}`,
			map[string]string{"spec.exports.data": `[{"dataRef":"#x","name":"a"}]`}, ""},
		{"16", "exports to Secrets are not supported", `{kind: Installation, spec: {` + blueprint + `, exports: {data: [{name: a, secretRef: {name: s, namespace: default, key: k}}]}}}`,
			nil, "spec.exports.data[0].dataRef: Required value"},
		{"17", "an import without a reference", `{kind: Installation, spec: {` + blueprint + `, imports: {data: [{name: imp1}]}}}`,
			nil, "spec.imports.data: imp1 must have exactly one of dataRef, secretRef and configMapRef"},
		{"18", "a name may be used for a data export and a target export", `{kind: Installation, spec: {` + blueprint + `, exports: {data: [{name: a, dataRef: x}], targets: [{name: a, target: x}]}}}`,
			map[string]string{"spec.exports.targets": `[{"name":"a","target":"x"}]`}, ""},
		{"19", "all forms of target imports; the empty list stays", `{kind: Installation, spec: {` + blueprint + `, imports: {targets: [{name: a, targets: []}, {name: b, targetListRef: l}, {name: c, targetMap: {k: v}}, {name: d, targetMapRef: m}]}}}`,
			map[string]string{"spec.imports.targets": `[{"name":"a","targets":[]},{"name":"b","targetListRef":"l"},{"name":"c","targetMap":{"k":"v"}},{"name":"d","targetMapRef":"m"}]`}, ""},
		{"20", "a repository at the reference", `{kind: Installation, spec: {` + blueprint + `, componentDescriptor: {ref: {repositoryContext: {type: ociRegistry, baseUrl: x, subPath: z}, componentName: a, version: b}}}}`,
			map[string]string{"spec.componentDescriptor.ref.repositoryContext": `{"baseUrl":"x","subPath":"z","type":"ociRegistry"}`}, ""},
		{"21", "the context has a default, so that no controller has to write it", `{kind: Installation, spec: {` + blueprint + `}}`,
			map[string]string{"spec.context": `"default"`, "spec.imports": `{}`, "spec.exports": `{}`}, ""},
		{"22", "pull secrets at the Installation", `{kind: Installation, spec: {` + blueprint + `, registryPullSecrets: [{name: a, namespace: default}, {name: b}]}}`,
			map[string]string{"spec.registryPullSecrets": `[{"name":"a","namespace":"default"},{"name":"b"}]`}, ""},
		{"23", "nested component descriptors", `{kind: Installation, spec: {` + blueprint + `, componentDescriptor: {inline: {meta: {schemaVersion: v2}, component: {componentReferences: [{labels: [{name: landscaper.gardener.cloud/component-descriptor, value: {any: 1}}]}]}}}}}`,
			map[string]string{"spec.componentDescriptor.inline.component.componentReferences": `[{"labels":[{"name":"landscaper.gardener.cloud/component-descriptor","value":{"any":1}}]}]`}, ""},
		{"25", "blueprint.yaml as a map", `{kind: Installation, spec: {blueprint: {inline: {filesystem: {blueprint.yaml: {apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint, imports: []}}}}}}`,
			map[string]string{"spec.blueprint.inline.filesystem": `{"blueprint.yaml":{"apiVersion":"landscaper.gardener.cloud/v1alpha1","imports":[],"kind":"Blueprint"}}`}, ""},
		{"25b", "the file system as one text", `{kind: Installation, spec: {blueprint: {inline: {filesystem: "blueprint.yaml: {}"}}}}`,
			map[string]string{"spec.blueprint.inline.filesystem": `"blueprint.yaml: {}"`}, ""},
		{"27", "mappings of any form", `{kind: Installation, spec: {` + blueprint + `, importDataMappings: {a: (( b )), c: [1, {d: true}]}, exportDataMappings: {e: 1.5}}}`,
			map[string]string{"spec.importDataMappings": `{"a":"(( b ))","c":[1,{"d":true}]}`, "spec.exportDataMappings": `{"e":1.5}`}, ""},
		{"28", "labels of old data", `{kind: DataObject, metadata: {labels: {data.landscaper.gardener.cloud/context: Installation.ns.name, data.landscaper.gardener.cloud/source: Installation.ns.name}}, data: 1}`,
			map[string]string{"data": `1`}, ""},
		{"30", "a Target with the content in a Secret", `{kind: Target, metadata: {labels: {a: b}, annotations: {c: d}}, spec: {type: x, secretRef: {name: s, key: k}}}`,
			map[string]string{"spec.secretRef": `{"key":"k","name":"s"}`}, ""},
		{"32", "the kubeconfig of a Target in a Secret, in the old form", `{kind: Target, spec: {type: landscaper.gardener.cloud/kubernetes-cluster, config: {kubeconfig: {secretRef: {name: s, namespace: default, key: k}}}}}`,
			map[string]string{"spec.config.kubeconfig.secretRef": `{"key":"k","name":"s","namespace":"default"}`}, ""},
		{"33", "no status before the first job", `{kind: Installation, spec: {` + blueprint + `}}`, map[string]string{"status": ""}, ""},
		{"targetsync", "the time of the last token rotation is stored", `{kind: TargetSync, spec: {sourceNamespace: a, secretRef: {name: b, key: c}, shootNameExpression: "*", tokenRotation: {enabled: true}}, status: {lastTokenRotationTime: "2026-01-02T03:04:05Z", lastUpdateTime: "2026-01-02T03:04:05Z", lastErrors: []}}`,
			map[string]string{"status.lastTokenRotationTime": `"2026-01-02T03:04:05Z"`, "status.lastErrors": `[]`}, ""},
		{"dataflow", "a second target in readiness checks and exports", `{kind: DeployItem, spec: {type: t, config: {apiVersion: v1, kind: Any, readinessChecks: {custom: [{name: a, targetName: b}]}, exports: {exports: [{key: k, targetName: b}]}}}}`,
			map[string]string{"spec.config.exports": `{"exports":[{"key":"k","targetName":"b"}]}`}, ""},
	}
	for _, test := range tests {
		t.Run(test.row+" "+test.reason, func(t *testing.T) {
			stored, err := createAndRead(t, mustParse(t, test.object))
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("got %v, want an error with %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for path, want := range test.want {
				value, found, err := unstructured.NestedFieldNoCopy(stored.Object, strings.Split(path, ".")...)
				if err != nil || found != (want != "") {
					t.Errorf("%s: found %t, %v", path, found, err)
					continue
				}
				if got := encode(t, value); found && got != want {
					t.Errorf("%s is %s, want %s", path, got, want)
				}
			}
		})
	}
}

func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestKinds compares names, short names, columns and subresources with the
// published ones.
func TestKinds(t *testing.T) {
	want := map[string]string{
		"Installation":               "installations installation [inst] status=true Phase:.status.phase Execution:.status.executionRef.name Age:.metadata.creationTimestamp",
		"Execution":                  "executions execution [exec] status=true Phase:.status.phase ExportRef:.status.exportRef.name Age:.metadata.creationTimestamp",
		"DeployItem":                 "deployitems deployitem [di] status=true Type:.spec.type Phase:.status.phase ExportRef:.status.exportRef.name Age:.metadata.creationTimestamp",
		"DataObject":                 `dataobjects dataobject [dobj do] status=false Context:.metadata.labels['data\.landscaper\.gardener\.cloud\/context'] Key:.metadata.labels['data\.landscaper\.gardener\.cloud\/key'] Age:.metadata.creationTimestamp`,
		"Target":                     `targets target [tgt tg] status=false Type:.spec.type Context:.metadata.labels['data\.landscaper\.gardener\.cloud\/context'] Key:.metadata.labels['data\.landscaper\.gardener\.cloud\/key'] Idx:.metadata.labels['data\.landscaper\.gardener\.cloud\/index'] TMKey:.metadata.labels['data\.landscaper\.gardener\.cloud\/targetmapkey'] Age:.metadata.creationTimestamp`,
		"Context":                    "contexts context [ctx] status=false Age:.metadata.creationTimestamp",
		"ComponentVersionOverwrites": "componentversionoverwrites componentversionoverwrite [compveroverwrite cvo] status=false",
		"TargetSync":                 `targetsyncs targetsync [tgs] status=true Source:.spec.sourceNamespace Targets:.status.syncedTargets Failed:.status.failedTargets Ready:.status.conditions[?(@.type=="Ready")].status Age:.metadata.creationTimestamp`,
		"SyncObject":                 "syncobjects syncobject [so] status=true PodName:.spec.podName Kind:.spec.kind Name:.spec.name",
		"LsHealthCheck":              "lshealthchecks lshealthcheck [lshc] status=false Status:.status LastUpdateTime:.lastUpdateTime",
		"CriticalProblems":           "criticalproblems criticalproblems [cps] status=true",
	}
	for _, crd := range embedded(t) {
		version := crd.Spec.Versions[0]
		got := fmt.Sprintf("%s %s %v status=%t", crd.Spec.Names.Plural, crd.Spec.Names.Singular, crd.Spec.Names.ShortNames, version.Subresources != nil && version.Subresources.Status != nil)
		for _, column := range version.AdditionalPrinterColumns {
			got += " " + column.Name + ":" + column.JSONPath
		}
		kind := crd.Spec.Names.Kind
		if got != want[kind] {
			t.Errorf("%s\n got %s\nwant %s", kind, got, want[kind])
		}
		delete(want, kind)
		if crd.Spec.Scope != apiextensionsv1.NamespaceScoped || version.Name != "v1alpha1" || !version.Served || !version.Storage {
			t.Errorf("%s: scope %s, version %+v", kind, crd.Spec.Scope, version.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not installed: %v", want)
	}
}

// TestEveryFieldIsDocumented makes "kubectl explain" read well.
func TestEveryFieldIsDocumented(t *testing.T) {
	for _, crd := range embedded(t) {
		undocumented(t, crd.Spec.Names.Kind, crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
}

func undocumented(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	isMetadata := strings.Count(path, ".") == 1 && strings.HasSuffix(path, ".metadata")
	if len(schema.Description) < 10 && !isMetadata && !strings.HasSuffix(path, "[]") {
		t.Errorf("%s has no description", path)
	}
	for name, property := range schema.Properties {
		undocumented(t, path+"."+name, &property)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		undocumented(t, path+"[]", schema.Items.Schema)
	}
}

// TestRequiredFields compares the required fields with the published ones: an additional required
// field would refuse an object of upstream.
func TestRequiredFields(t *testing.T) {
	tests := []struct {
		kind string
		path []string
		want []string
	}{
		{"Installation", []string{"spec"}, []string{"blueprint"}},
		{"Installation", []string{"spec", "verification"}, []string{"signatureName"}},
		{"Installation", []string{"spec", "componentDescriptor", "ref"}, []string{"componentName", "version"}},
		{"Installation", []string{"status"}, []string{"observedGeneration"}},
		{"Execution", []string{"spec", "deployItems"}, []string{"config", "name", "type"}},
		{"Execution", []string{"status"}, nil},
		{"DeployItem", []string{"spec"}, []string{"type"}},
		{"DeployItem", []string{"status"}, []string{"observedGeneration"}},
		{"DeployItem", []string{"status", "deployer"}, []string{"identity", "name", "version"}},
		{"DataObject", nil, []string{"data"}},
		{"Target", []string{"spec"}, []string{"type"}},
		{"Context", nil, nil},
		{"TargetSync", []string{"spec"}, []string{"secretRef", "sourceNamespace"}},
		{"LsHealthCheck", nil, []string{"description", "lastUpdateTime", "status"}},
		{"SyncObject", []string{"spec"}, []string{"kind", "lastUpdateTime", "name", "podName", "prefix"}},
		{"ComponentVersionOverwrites", []string{"overwrites"}, []string{"source", "substitution"}},
	}
	schemas := map[string]*apiextensionsv1.JSONSchemaProps{}
	for _, crd := range embedded(t) {
		schemas[crd.Spec.Names.Kind] = crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	for _, test := range tests {
		schema := schemas[test.kind]
		for _, name := range test.path {
			property := schema.Properties[name]
			schema = &property
		}
		if schema.Items != nil {
			schema = schema.Items.Schema
		}
		got := slices.DeleteFunc(slices.Sorted(slices.Values(schema.Required)), func(name string) bool { return name == "spec" })
		if !slices.Equal(got, test.want) {
			t.Errorf("%s %v requires %v, want %v", test.kind, test.path, got, test.want)
		}
	}
}

func embedded(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crds, err := install.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	return crds
}
