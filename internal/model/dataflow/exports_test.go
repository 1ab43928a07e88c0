package dataflow

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

func TestMergeExports(t *testing.T) {
	tests := []struct{ reason, first, second, want string }{
		{"different exports", `{a: 1}`, `{b: 2}`, `{"a":1,"b":2}`},
		{"the later export wins", `{a: 1}`, `{a: 2}`, `{"a":2}`},
		{"maps are merged at any depth", `{a: {x: {p: 1, q: 1}}}`, `{a: {x: {q: 2, r: 2}, z: 2}}`, `{"a":{"x":{"p":1,"q":2,"r":2},"z":2}}`},
		{"lists are replaced", `{a: [1, 2]}`, `{a: [3]}`, `{"a":[3]}`},
		{"a map replaces something else", `{a: 1}`, `{a: {x: 1}}`, `{"a":{"x":1}}`},
		{"something else replaces a map", `{a: {x: 1}}`, `{a: 1}`, `{"a":1}`},
		{"null is a value", `{a: {x: 1}}`, `{a: null}`, `{"a":null}`},
		{"an executor without exports", `{a: 1}`, `{}`, `{"a":1}`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			merged, second := map[string]any{}, decode[map[string]any](t, test.second)
			MergeExports(merged, decode[map[string]any](t, test.first))
			MergeExports(merged, second)
			if got := asJSON(t, merged); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			MergeExports(merged, map[string]any{"a": map[string]any{"x": map[string]any{"later": true}}})
			if got := asJSON(t, second); strings.Contains(got, "later") {
				t.Errorf("a later merge changed an earlier result: %s", got)
			}
		})
	}
}

func TestCheckExports(t *testing.T) {
	const vm = "{name: e, type: target, targetType: acme.example/vm}"
	tests := []struct {
		reason, definition, value, want string
	}{
		{"data", "{name: e, type: data, schema: {type: string}}", "text", ""},
		{"old definitions have no type", "{name: e, schema: {type: string}}", "text", ""},
		{"null is checked like any value", "{name: e, schema: {type: string}}", "null", "exported data does not satisfy the configured schema: type is null, not string"},
		{"a Target", vm, "{type: acme.example/vm, config: {a: 1}}", ""},
		{"a target type without a group is one of ours", "{name: e, targetType: kubernetes-cluster}", "{type: landscaper.gardener.cloud/kubernetes-cluster}", ""},
		{"no schema", "{name: e, type: data}", hidden, `(inst: shop).internalExports.e: schema for data export "e" must not be empty`},
		{"a schema that cannot be used", "{name: e, schema: {$ref: 'local://x'}}", hidden, "(inst: shop).internalExports.e: validator creation failed: there is no local type of this name"},
		{"another value", "{name: e, schema: {type: integer}}", hidden, "(inst: shop).internalExports.e: exported data does not satisfy the configured schema: type is string, not integer"},
		{"a text is not a Target", vm, hidden, "(inst: shop).internalExports.e: exported target does not match the expected target template schema: it must be a map with type and config or secretRef"},
		{"a Target without a type", vm, "{config: {a: " + hidden + "}}", "exported target does not match the expected target template schema: it has no type"},
		{"a Target of another type", vm, "{type: other, config: {a: " + hidden + "}}", "(inst: shop).internalExports.e: exported target type is other but expected acme.example/vm"},
		{"a type that cannot be exported", "{name: e, type: targetList, targetType: a}", hidden, "(inst: shop).internalExports.e: unknown export type 'targetList'"},
		{"no type that could be derived", "{name: e}", hidden, "(inst: shop).internalExports.e: unknown export type ''"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			value := decode[map[string]any](t, "e: "+test.value)
			checked, warnings, err := CheckExports(t.Context(), "shop", exportDefinitions(t, "["+test.definition+"]"), value, compileType)
			wantError(t, test.reason, err, test.want)
			var explained *Error
			if err != nil && (!errors.As(err, &explained) || explained.Reason != SchemaValidationFailed) {
				t.Errorf("reason %+v", explained)
			}
			if len(warnings) != 0 || len(checked) != 1 {
				t.Errorf("%v, warnings %v", checked, warnings)
			}
		})
	}

	list := exportDefinitions(t, "[{name: endpoint, schema: {}}, {name: region, schema: {}}, {name: zone, schema: {type: integer}}, {name: size, schema: {type: integer}}]")
	rendered := map[string]any{"endpoint": hidden, "regoin": hidden, "surprise": hidden, "zone": hidden, "size": hidden}
	checked, warnings, err := CheckExports(t.Context(), "shop", list, rendered, compileType)
	wantError(t, "all exports are looked at", err, "internalExports.zone: ")
	wantError(t, "all exports are looked at", err, "internalExports.size: ")
	if got := slices.Sorted(maps.Keys(checked)); !slices.Equal(got, []string{"endpoint", "size", "zone"}) {
		t.Errorf("only declared exports are kept: %v", got)
	}
	want := []string{
		`the blueprint declares export "region", but no export execution gives it`,
		`export "regoin" is dropped: the blueprint does not declare it: did you mean region?`,
		`export "surprise" is dropped: the blueprint does not declare it`,
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(warnings, "\n"), strings.Join(want, "\n"))
	}
}

func TestDecodeTargetTemplate(t *testing.T) {
	tests := []struct{ reason, value, want, wantError string }{
		{"a configuration", "{type: a, config: {x: 12345678901}}", `{"type":"a","config":{"x":12345678901}}`, ""},
		{"the older name of the configuration", "{type: a, configuration: {x: 1}}", `{"type":"a","config":{"x":1}}`, ""},
		{"the newer name comes first", "{type: a, configuration: {x: 1}, config: {x: 2}}", `{"type":"a","config":{"x":2}}`, ""},
		{"a configuration that is a text", "{type: a, config: text}", `{"type":"a","config":"text"}`, ""},
		{"a Secret", "{type: a, secretRef: {name: s, key: k}}", `{"type":"a","secretRef":{"name":"s","key":"k"}}`, ""},
		{"neither a configuration nor a Secret", "{type: a}", `{"type":"a"}`, ""},
		{"labels and annotations", "{type: a, labels: {l: x}, annotations: {note: x}}", `{"type":"a","labels":{"l":"x"},"annotations":{"note":"x"}}`, ""},
		{"fields in other cases", "{Type: a, secretref: {name: s}}", `{"type":"a","secretRef":{"name":"s","key":""}}`, ""},
		{"other fields are of no importance", "{type: a, extra: x}", `{"type":"a"}`, ""},
		{"a configuration and a Secret", "{type: a, config: {p: hunter2}, secretRef: {name: s}}", "", "it has config and secretRef: give one of them"},
		{"a Secret without a name", "{type: a, secretRef: {key: hunter2}}", "", "secretRef has no name"},
		{"labels that are not strings", "{type: a, labels: {hunter2: 17}}", "", "field labels has not the form of a text"},
		{"labels that are not a map", "{type: a, labels: hunter2}", "", "field labels has not the form of a map"},
		{"a type that is not a string", "{type: 5}", "", "field type has not the form of a text"},
		{"a reference that is not a map", "{type: a, secretRef: hunter2}", "", "field secretRef has not the form of a map"},
		{"a list", "[hunter2]", "", "it must be a map"},
		{"nothing", "null", "", "it must be a map"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			template, err := valueobject.DecodeTargetTemplate(decode[any](t, test.value))
			wantError(t, test.reason, err, test.wantError)
			if err == nil && asJSON(t, template) != test.want {
				t.Errorf("%s, want %s", asJSON(t, template), test.want)
			}
		})
	}
}

// The examples of the users' documentation. It shows older values of the labels
// context and source: today they are shorter, and a root has no context.
func TestMakeExportsAsDocumented(t *testing.T) {
	inst := installation(t, "parent", `
blueprint: {}
exports:
  data:
  - name: my-target
    dataRef: "my-exported-data"
  targets:
  - name: my-target
    target: "my-exported-target"
`)
	made, err := MakeExports(inst, map[string]any{"my-target": map[string]any{"type": "my-type", "config": map[string]any{"exported": "target data"}}})
	if err != nil || len(made.DataObjects) != 1 || len(made.Targets) != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	want := decode[v1alpha1.DataObject](t, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: DataObject
metadata:
  name: `+v1alpha1.GenerateDataObjectName("Inst.parent", "my-exported-data")+`
  namespace: space
  labels:
    data.landscaper.gardener.cloud/context: Inst.parent
    data.landscaper.gardener.cloud/key: my-exported-data
    data.landscaper.gardener.cloud/source: Inst.inst
    data.landscaper.gardener.cloud/sourceType: export
    data.landscaper.gardener.cloud/jobid: job
  annotations:
    data.landscaper.gardener.cloud/hash: `+valueobject.Hash([]byte("{\n  \"config\": {\n    \"exported\": \"target data\"\n  },\n  \"type\": \"my-type\"\n}"))+`
  ownerReferences: [{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Installation, name: inst, uid: uid}]
data: {type: my-type, config: {exported: target data}}
`)
	got := made.DataObjects[0]
	if asJSON(t, got.ObjectMeta) != asJSON(t, want.ObjectMeta) || got.TypeMeta != want.TypeMeta || asJSON(t, got) != asJSON(t, &want) {
		t.Errorf("DataObject\n%s, want\n%s", asJSON(t, got), asJSON(t, want))
	}
	wantTarget := decode[v1alpha1.Target](t, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Target
metadata:
  name: `+v1alpha1.GenerateDataObjectName("Inst.parent", "my-exported-target")+`
  namespace: space
  labels:
    data.landscaper.gardener.cloud/context: Inst.parent
    data.landscaper.gardener.cloud/key: my-exported-target
    data.landscaper.gardener.cloud/source: Inst.inst
    data.landscaper.gardener.cloud/sourceType: export
    data.landscaper.gardener.cloud/jobid: job
  annotations:
    data.landscaper.gardener.cloud/hash: `+valueobject.Hash([]byte(`{"exported":"target data"}`))+`
  ownerReferences: [{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Installation, name: inst, uid: uid}]
spec:
  type: my-type
  config: {exported: target data}
`)
	if asJSON(t, made.Targets[0]) != asJSON(t, &wantTarget) {
		t.Errorf("Target\n%s, want\n%s", asJSON(t, made.Targets[0]), asJSON(t, &wantTarget))
	}
}

func TestMakeExports(t *testing.T) {
	// Recorded from upstream: a root and a subinstallation.
	root := installation(t, "", "blueprint: {}\nexports: {data: [{name: secretName, dataRef: secret-name}]}")
	root.Name = "dataflow-secret"
	made, err := MakeExports(root, map[string]any{"secretName": "cluster2"})
	if err != nil || made.DataObjects[0].Name != "secret-name" || made.DataObjects[0].Annotations[v1alpha1.DataObjectHashAnnotation] != "34bbd1890c78a9483aa93a94d5a209b8e6d47e34" {
		t.Fatalf("%+v, %v", made, err)
	}
	wantLabels := map[string]string{
		"data.landscaper.gardener.cloud/jobid": "job", "data.landscaper.gardener.cloud/key": "secret-name",
		"data.landscaper.gardener.cloud/source": "Inst.dataflow-secret", "data.landscaper.gardener.cloud/sourceType": "export",
	}
	if got := made.DataObjects[0].Labels; !maps.Equal(got, wantLabels) {
		t.Errorf("the export of a root has no context: %v", got)
	}
	child := installation(t, "dataflow-root", "blueprint: {}\nexports: {data: [{name: token, dataRef: token}]}")
	made, err = MakeExports(child, map[string]any{"token": hidden})
	if err != nil || made.DataObjects[0].Name != "io43e2df7dtq4ly6fnoipsq4plhnivfq" || made.DataObjects[0].Labels[v1alpha1.DataObjectContextLabel] != "Inst.dataflow-root" {
		t.Errorf("%+v, %v", made, err)
	}
	labelled := installation(t, "", "blueprint: {}\nexports: {targets: [{name: t, target: new}]}")
	made, err = MakeExports(labelled, decode[map[string]any](t, "t: {type: a, secretRef: {name: s, key: k}, labels: {team: blue, data.landscaper.gardener.cloud/context: Inst.other}, annotations: {note: x}}"))
	if err != nil {
		t.Fatal(err)
	}
	got := made.Targets[0]
	if got.Labels["team"] != "blue" || got.Labels[v1alpha1.DataObjectContextLabel] != "" || got.Annotations["note"] != "x" || got.Annotations[v1alpha1.DataObjectHashAnnotation] != valueobject.Hash([]byte(`{"secretRef":{"name":"s","key":"k"}}`)) {
		t.Errorf("labels of the template are kept, but not those that we need: %+v", got.ObjectMeta)
	}
}

// TestMakeExportsByRealName: with a # an export has the name that was written, also in
// the scope of a parent, and the label without it.
func TestMakeExportsByRealName(t *testing.T) {
	inst := installation(t, "parent", "blueprint: {}\nexports: {data: [{name: url, dataRef: '#shared'}], targets: [{name: edge, target: '#shared'}]}")
	made, err := MakeExports(inst, map[string]any{"url": "u", "edge": map[string]any{"type": "a", "config": "c"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []metav1.Object{made.DataObjects[0], made.Targets[0]} {
		if labels := object.GetLabels(); object.GetName() != "shared" || labels[v1alpha1.DataObjectKeyLabel] != "shared" || labels[v1alpha1.DataObjectContextLabel] != "Inst.parent" {
			t.Errorf("%s with labels %v", object.GetName(), labels)
		}
	}
}

func TestMakeExportsErrors(t *testing.T) {
	const values = "{url: hunter2, nothing: null, cluster: {type: a, config: hunter2}, bad: {config: hunter2}}"
	tests := []struct {
		reason, exports string
		kind            Reason
		want            string
	}{
		{"no execution gives the data", "data: [{name: ulr, dataRef: a}]", ExportNotDefined, "(inst: inst).exports.data.ulr: data export is not defined: let an export execution of the blueprint give it or add it to spec.exportDataMappings: did you mean url?"},
		{"no execution gives the Target", "targets: [{name: none-at-all, target: a}]", ExportNotDefined, "(inst: inst).exports.targets.none-at-all: target export is not defined: let an export execution of the blueprint give it"},
		{"null cannot be stored", "data: [{name: nothing, dataRef: a}]", InvalidExport, "(inst: inst).exports.data.nothing: the value is null, which a DataObject cannot hold"},
		{"data is not a Target", "targets: [{name: url, target: a}]", InvalidExport, "(inst: inst).exports.targets.url: exported target does not match the expected target template schema: it must be a map"},
		{"a Target without a type, which a mapping may have made", "targets: [{name: bad, target: a}]", InvalidExport, "exports.targets.bad: exported target does not match the expected target template schema: it has no type"},
		{"a real name that is not valid", "data: [{name: url, dataRef: '#A_b'}]", InvalidExport, `exports.data.url: the name "#A_b" becomes that of an object and cannot: behind the # use small letters`},
		{"a real name that is empty", "targets: [{name: cluster, target: '#'}]", InvalidExport, `exports.targets.cluster: the name "#" becomes a label and cannot`},
		{"a real name that is the name of another export, too", "data: [{name: url, dataRef: a}, {name: cluster, dataRef: '#a'}]", InvalidExport, `exports.data.cluster: another export has the name "#a", too`},
		{"a name that cannot be a label", "data: [{name: url, dataRef: a/b}]", InvalidExport, `exports.data.url: the name "a/b" becomes a label and cannot`},
		{"a name that is too long for a label", "data: [{name: url, dataRef: " + strings.Repeat("a", 64) + "}]", InvalidExport, "becomes a label and cannot: use at most 63"},
		{"no name", "targets: [{name: cluster}]", InvalidExport, `exports.targets.cluster: the name "" becomes a label and cannot`},
		{"two exports of one name", "data: [{name: url, dataRef: a}, {name: cluster, dataRef: a}]", InvalidExport, `exports.data.cluster: another export has the name "a", too`},
		{"two Targets of one name", "targets: [{name: cluster, target: a}, {name: cluster, target: a}]", InvalidExport, `exports.targets.cluster: another export has the name "a", too`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			made, err := MakeExports(installation(t, "", "blueprint: {}\nexports: {"+test.exports+"}"), decode[map[string]any](t, values))
			wantError(t, test.reason, err, test.want)
			var explained *Error
			if !errors.As(err, &explained) || explained.Reason != test.kind || len(made.DataObjects)+len(made.Targets) != 0 {
				t.Errorf("%+v, %+v", explained, made)
			}
		})
	}
	_, err := MakeExports(installation(t, "", "blueprint: {}\nexports: {data: [{name: x, dataRef: a}, {name: nothing, dataRef: b}], targets: [{name: w, target: c}]}"), decode[map[string]any](t, values))
	for _, want := range []string{"data.x: ", "data.nothing: ", "targets.w: "} {
		wantError(t, "all exports are looked at", err, want)
	}
	_, err = MakeExports(installation(t, "", "blueprint: {}\nexports: {data: [{name: x, dataRef: a}]}"), map[string]any{"x": make(chan int)})
	wantError(t, "a value that JSON cannot say", err, "exports.data.x: the DataObject cannot be made: encode as JSON")
}

func TestCheckOwner(t *testing.T) {
	inst := installation(t, "", "blueprint: {}")
	owned := func(owners ...metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: "url", Namespace: "space", OwnerReferences: owners}
	}
	installationOwner := func(uid string) metav1.OwnerReference {
		return metav1.OwnerReference{Kind: "Installation", Name: "other", UID: types.UID(uid)}
	}
	tests := []struct {
		reason   string
		existing metav1.Object
		want     string
	}{
		{"an object of a user is taken over", &v1alpha1.DataObject{ObjectMeta: owned()}, ""},
		{"an object of the Installation itself", &v1alpha1.DataObject{ObjectMeta: owned(installationOwner("uid"))}, ""},
		{"an object that something else owns", &v1alpha1.DataObject{ObjectMeta: owned(metav1.OwnerReference{Kind: "ConfigMap", UID: "x"})}, ""},
		{"an object of another Installation", &v1alpha1.DataObject{ObjectMeta: owned(installationOwner("x"))},
			"dataobject 'space/url' for export 'key' conflicts with existing dataobject owned by another installation: other"},
		{"the Target of another Installation", &v1alpha1.Target{ObjectMeta: owned(installationOwner("uid"), installationOwner("x"))},
			"target object 'space/url' for export 'key' conflicts with existing target owned by another installation: other"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			wantError(t, test.reason, CheckOwner(inst, "key", test.existing), test.want)
		})
	}
}
