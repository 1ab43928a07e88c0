package dataflow

import (
	"encoding/json"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

func constructed(t *testing.T, list string, imports Imports, mapped map[string]any) Values {
	t.Helper()
	values, err := Construct(t.Context(), "inst", definitions(t, list), imports, Mapped{Values: mapped}, compileType)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestDataCopies(t *testing.T) {
	// Names, labels and hash are those that upstream wrote in this case.
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "dataflow-root", Namespace: "cu-example", UID: "uid"}, Status: v1alpha1.InstallationStatus{JobID: "job"}}
	imports := Imports{Data: map[string]DataImport{"secretName": data(`"cluster2"`), "undeclared": data("1")}}
	made, err := DataCopies(inst, constructed(t, "[{name: secretName, schema: {type: string}}]", imports, nil))
	copies := made.DataObjects
	if err != nil || len(copies) != 1 || len(made.Secrets) != 0 {
		t.Fatalf("%d copies, %v", len(copies), err)
	}
	got := copies[0]
	if got.Name != "4um4czklwyfpstqyl4qnts6gdbwd4tee" || got.Namespace != "cu-example" || got.Kind != "DataObject" || string(got.Data.RawMessage) != `"cluster2"` {
		t.Errorf("object %+v", got)
	}
	want := map[string]string{
		"data.landscaper.gardener.cloud/context": "Inst.dataflow-root", "data.landscaper.gardener.cloud/key": "secretName",
		"data.landscaper.gardener.cloud/source": "Inst.dataflow-root", "data.landscaper.gardener.cloud/sourceType": "import", "data.landscaper.gardener.cloud/jobid": "job",
	}
	if !maps.Equal(got.Labels, want) || got.Annotations[v1alpha1.DataObjectHashAnnotation] != "34bbd1890c78a9483aa93a94d5a209b8e6d47e34" {
		t.Errorf("labels %v, annotations %v", got.Labels, got.Annotations)
	}
	if len(got.OwnerReferences) != 1 || got.OwnerReferences[0].UID != "uid" || got.OwnerReferences[0].Controller != nil {
		t.Errorf("owners %v", got.OwnerReferences)
	}
}

func TestDataCopiesOfValues(t *testing.T) {
	inst := installation(t, "", "blueprint: {}")
	tests := []struct {
		reason, definitions string
		mapped, bindings    map[string]any
		want                string
	}{
		{"digits stay as they were given, keys are sorted", "[{name: size, schema: {}}]", nil, nil, `{"id":123456789012345678901234567890,"ratio":1.10,"replicas":3}`},
		{"the result of a mapping", "[{name: flag, schema: {}}]", map[string]any{"flag": map[string]any{"b": int64(9007199254740993), "a": "<"}}, nil, `{"a":"\u003c","b":9007199254740993}`},
		{"a default", "[{name: x, schema: {}, required: false, default: {value: 14}}]", nil, nil, "14"},
		{"a value that an import execution has replaced", "[{name: flag, schema: {}}]", nil, map[string]any{"flag": "new"}, `"new"`},
		{"an import execution can give what was missing", "[{name: x, schema: {}, required: false}]", nil, map[string]any{"x": int64(1)}, "1"},
		{"a value that an import execution adds cannot be referred to", "[]", nil, map[string]any{"extra": "new"}, ""},
		{"an import execution that repeats a value does not cost digits", "[{name: size, schema: {}}]", nil, map[string]any{"size": map[string]any{"replicas": int64(3), "id": json.Number("123456789012345678901234567890"), "ratio": 1.1}}, `{"id":123456789012345678901234567890,"ratio":1.10,"replicas":3}`},
		{"null has no copy", "[{name: nothing, schema: {}}]", nil, nil, ""},
		{"null of an import execution has no copy", "[{name: flag, schema: {}}]", nil, map[string]any{"flag": nil}, ""},
		{"an import that is missing", "[{name: x, schema: {}, required: false}]", nil, nil, ""},
		{"Targets are not data", "[{name: cluster, targetType: kubernetes-cluster}]", nil, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			values := constructed(t, test.definitions, fleet(), test.mapped)
			if err := values.Bind(test.bindings); err != nil {
				t.Error(err)
			}
			made, err := DataCopies(inst, values)
			copies := made.DataObjects
			got := ""
			if len(copies) > 0 {
				got = string(copies[0].Data.RawMessage)
			}
			if err != nil || got != test.want || len(copies) > 1 {
				t.Errorf("%s, %v, want %s", got, err, test.want)
			}
		})
	}
	imports := Imports{Data: map[string]DataImport{"not a label!": data("1")}}
	_, err := DataCopies(inst, constructed(t, "[{name: not a label!, schema: {}}]", imports, nil))
	wantError(t, "the name of an import becomes a label", err, `copy of import "not a label!": the name "not a label!" becomes a label and cannot`)
}

func TestTargetCopies(t *testing.T) {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "smallest", Namespace: "minimal", UID: "uid"}, Status: v1alpha1.InstallationStatus{JobID: "job"}}
	source := target("host", `{"kubeconfig":"x"}`)
	source.Labels = map[string]string{"team": "blue"}
	source.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "n"}
	list := "[{name: cluster, targetType: kubernetes-cluster}, {name: missing, required: false, targetType: kubernetes-cluster}]"
	copies, err := TargetCopies(inst, constructed(t, list, Imports{Targets: map[string]*v1alpha1.Target{"cluster": source}}, nil))
	if err != nil || len(copies) != 1 {
		t.Fatalf("%d copies, %v", len(copies), err)
	}
	got := copies[0]
	// The name is the one that upstream gave in the same case.
	if got.Name != "u4upffjwuhdcwp334chs4435fp6kiw7r" || got.Namespace != "minimal" || got.OwnerReferences[0].UID != "uid" || got.OwnerReferences[0].Controller != nil {
		t.Errorf("metadata %+v", got.ObjectMeta)
	}
	want := map[string]string{
		"team": "blue", v1alpha1.DataObjectContextLabel: "Inst.smallest", v1alpha1.DataObjectKeyLabel: "cluster",
		v1alpha1.DataObjectSourceLabel: "Inst.smallest", v1alpha1.DataObjectSourceTypeLabel: "import", v1alpha1.DataObjectJobIDLabel: "job",
	}
	if !maps.Equal(got.Labels, want) {
		t.Errorf("labels %v, want %v", got.Labels, want)
	}
	if got.Annotations["note"] != "n" || got.Annotations[v1alpha1.DataObjectHashAnnotation] != valueobject.TargetHash(&source.Spec) || got.Annotations["kubectl.kubernetes.io/last-applied-configuration"] != "" {
		t.Errorf("annotations %v", got.Annotations)
	}
	if len(source.Annotations) != 2 || len(source.Labels) != 1 {
		t.Errorf("the source is not changed: %+v", source.ObjectMeta)
	}
}

func TestElementCopies(t *testing.T) {
	inst := installation(t, "", "blueprint: {}")
	inst.Name = "shop"
	first, second := target("a", `{"n":1}`), target("b", `{"n":2}`)
	first.Labels = map[string]string{"team": "blue"}
	imports := Imports{
		TargetLists: map[string][]*v1alpha1.Target{"clusters": {first, second}, "empty": {}},
		TargetMaps:  map[string]map[string]*v1alpha1.Target{"fleet": {"blue": first}},
	}
	list := "[{name: clusters, type: targetList, targetType: kubernetes-cluster}, {name: fleet, type: targetMap, targetType: kubernetes-cluster}, {name: empty, type: targetList, targetType: kubernetes-cluster}]"
	copies, err := TargetCopies(inst, constructed(t, list, imports, nil))
	if err != nil || len(copies) != 3 {
		t.Fatalf("%d copies, %v", len(copies), err)
	}
	want := []struct {
		name, key, index, mapKey, team, config string
	}{
		{"iztqtkdc7v6zflvz2cve4jynp2x7r64n", "clusters", "0", "", "blue", `{"n":1}`},
		{v1alpha1.GenerateDataObjectName("Inst.shop", "clusters[1]"), "clusters", "1", "", "", `{"n":2}`},
		{"ta5igl763f6agd4uaolijcm7a5itqkzg", "fleet", "", "blue", "blue", `{"n":1}`},
	}
	for i, want := range want {
		got := copies[i]
		if got.Name != want.name || got.Labels[v1alpha1.DataObjectKeyLabel] != want.key || got.Labels[v1alpha1.DataObjectIndexLabel] != want.index ||
			got.Labels[v1alpha1.DataObjectTargetMapKeyLabel] != want.mapKey || got.Labels["team"] != want.team || string(got.Spec.Configuration.RawMessage) != want.config {
			t.Errorf("copy %d: %+v %s, want %+v", i, got.ObjectMeta, got.Spec.Configuration.RawMessage, want)
		}
		if _, ok := got.Labels[v1alpha1.DataObjectIndexLabel]; ok != (want.index != "") {
			t.Errorf("copy %d: an empty label is left out: %v", i, got.Labels)
		}
	}

	// A child takes one element, which carries the labels of its parent's copy.
	child := installation(t, "shop", "blueprint: {}\nimports: {targets: [{name: edge, target: 'clusters[1]'}]}")
	reference := References(child)[0].Objects[0]
	if reference.Name != copies[1].Name {
		t.Errorf("the child finds the copy: %s, %s", reference.Name, copies[1].Name)
	}
	taken, err := TargetCopies(child, constructed(t, "[{name: edge, targetType: kubernetes-cluster}]", Imports{Targets: map[string]*v1alpha1.Target{"edge": copies[1]}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	got := taken[0].Labels
	if _, ok := got[v1alpha1.DataObjectIndexLabel]; ok || got[v1alpha1.DataObjectContextLabel] != "Inst.inst" || got[v1alpha1.DataObjectKeyLabel] != "edge" {
		t.Errorf("a copy of an element is no element: %v", got)
	}

	// A child that passes the whole list finds it in its order.
	whole := installation(t, "shop", "blueprint: {}\nimports: {targets: [{name: all, targetListRef: clusters}]}")
	selector := References(whole)[0].Selector
	var found []*v1alpha1.Target
	for _, i := range []int{2, 1, 0} {
		if selector.Matches(labels.Set(copies[i].Labels)) {
			found = append(found, copies[i])
		}
	}
	if found = OrderList(found); len(found) != 2 || found[0] != copies[0] || found[1] != copies[1] {
		t.Errorf("found %d elements", len(found))
	}
}

func TestBindTargets(t *testing.T) {
	const list = "[{name: cluster, targetType: kubernetes-cluster}, {name: list, type: targetList, targetType: kubernetes-cluster}, {name: map, type: targetMap, targetType: kubernetes-cluster}]"
	replacement := map[string]any{"metadata": map[string]any{"name": "other"}, "spec": map[string]any{"type": clusterType, "config": map[string]any{"kubeconfig": "new"}}}
	tests := []struct {
		reason   string
		bindings map[string]any
		// want are the configurations of the copies.
		want, wantError string
	}{
		{"nothing is bound", nil, `{"kubeconfig":"` + hidden + `"} {} {} {} `, ""},
		{"a Target is replaced", map[string]any{"cluster": replacement}, `{"kubeconfig":"new"} {} {} {} `, ""},
		{"a list is replaced", map[string]any{"list": []any{replacement}}, `{"kubeconfig":"` + hidden + `"} {"kubeconfig":"new"} {} `, ""},
		{"a map is replaced", map[string]any{"map": map[string]any{"a": replacement, "b": replacement}}, `{"kubeconfig":"` + hidden + `"} {} {} {"kubeconfig":"new"} {"kubeconfig":"new"} `, ""},
		{"a text is not a Target", map[string]any{"cluster": hidden}, "", `binding "cluster" replaces an import of type target: the value has not the form of a Target with metadata and spec.type`},
		{"a Target has a type", map[string]any{"cluster": map[string]any{"spec": map[string]any{}}}, "", "has not the form of a Target"},
		{"null is not a Target", map[string]any{"cluster": nil}, "", "has not the form of a Target"},
		{"an element that is not a Target", map[string]any{"list": []any{nil}}, "", "has not the form of a list of Targets"},
		{"an entry that is not a Target", map[string]any{"map": map[string]any{"a": map[string]any{}}}, "", "has not the form of a map of Targets"},
		{"a value that JSON cannot say", map[string]any{"cluster": make(chan int)}, "", `binding "cluster" replaces an import of type target: encode as JSON`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			values := constructed(t, list, fleet(), nil)
			err := values.Bind(test.bindings)
			wantError(t, test.reason, err, test.wantError)
			if err != nil {
				return
			}
			copies, err := TargetCopies(installation(t, "", "blueprint: {}"), values)
			got := ""
			for _, made := range copies {
				got += string(made.Spec.Configuration.RawMessage) + " "
			}
			if err != nil || got != test.want {
				t.Errorf("%s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestSatisfied(t *testing.T) {
	const text = `
- {name: size, schema: {}, required: false, imports: [{name: flag, schema: {}, required: false}, {name: a, schema: {}, required: false}]}
- {name: b, schema: {}, required: false, imports: [{name: c, schema: {}}]}
- {name: nothing, schema: {}}
- {name: cluster, targetType: kubernetes-cluster}`
	values, list := constructed(t, text, fleet(), nil), definitions(t, text)
	missing := values.Missing(list)
	for name, want := range map[string]bool{"size": false, "flag": false, "cluster": false, "a": true, "b": true, "c": true, "nothing": true} {
		t.Run(name, func(t *testing.T) {
			if missing[name] != want {
				t.Errorf("a child can refer to %s: %v, want %v", name, !missing[name], !want)
			}
		})
	}
	if !values.Satisfied("nothing") || values.Satisfied("c") || values.Satisfied("undeclared") {
		t.Error("null satisfies an import; what was not looked at does not")
	}
	inForce := values.InForce(list)
	if len(inForce) != 4 || len(inForce[0].ConditionalImports) != 2 || len(inForce[1].ConditionalImports) != 0 || len(list[1].ConditionalImports) != 1 {
		t.Errorf("conditional imports of what is missing are not in force: %+v", inForce)
	}
	if raw, ok := values.Data("size"); !ok || len(raw.RawMessage) == 0 {
		t.Errorf("the text of data: %s, %v", raw.RawMessage, ok)
	}
	if _, ok := values.Data("cluster"); ok {
		t.Error("a Target is no data")
	}
}
