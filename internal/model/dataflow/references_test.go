package dataflow

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/api/v1alpha1"
)

func installation(t *testing.T, parent, spec string) *v1alpha1.Installation {
	t.Helper()
	inst := &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{Name: "inst", Namespace: "space", UID: "uid"},
		Spec:       decode[v1alpha1.InstallationSpec](t, spec),
		Status:     v1alpha1.InstallationStatus{JobID: "job"},
	}
	if parent != "" {
		inst.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "acme.example/v1", Kind: "Installation", Name: "other"},
			{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: parent},
		}
	}
	return inst
}

func TestReferences(t *testing.T) {
	// The names of objects in a scope are those of upstream.
	object := func(kind Kind, name, written string) Object {
		return Object{Kind: kind, Namespace: "space", Name: name, Written: written}
	}
	with := func(o Object, change func(*Object)) Object { change(&o); return o }
	tests := []struct {
		reason, parent, imports string
		want                    Reference
	}{
		{"a DataObject of a root is found by its name", "", "data: [{name: a, dataRef: plain-name}]",
			Reference{Path: "spec.imports.data[0].dataRef", Type: "data", Objects: []Object{object(KindDataObject, "plain-name", "plain-name")}}},
		{"a name that no object can have is hashed at a root, too", "", "data: [{name: a, dataRef: Bad_Name}]",
			Reference{Path: "spec.imports.data[0].dataRef", Type: "data", Objects: []Object{object(KindDataObject, "rn4wlfk3oq4svsdcv7xsdt5syjcapknu", "Bad_Name")}}},
		{"a subinstallation looks into the scope of its parent", "shop", "data: [{name: a, dataRef: api-url}]",
			Reference{Path: "spec.imports.data[0].dataRef", Type: "data", Objects: []Object{object(KindDataObject, "iodpgjw75vbwmfjnyb3w3klt7io23ya3", "api-url")}}},
		{"with # it is the name of the object at a root", "", "data: [{name: a, dataRef: '#raw'}]",
			Reference{Path: "spec.imports.data[0].dataRef", Type: "data", Objects: []Object{object(KindDataObject, "raw", "#raw")}}},
		{"with # it is the name of the object in a subinstallation", "shop", "data: [{name: a, dataRef: '#raw'}]",
			Reference{Path: "spec.imports.data[0].dataRef", Type: "data", Objects: []Object{object(KindDataObject, "raw", "#raw")}}},
		{"a single key of a Secret", "", "data: [{name: a, secretRef: {name: s, key: k}}]",
			Reference{Path: "spec.imports.data[0].secretRef", Type: "data", Objects: []Object{with(object(KindSecret, "s", "s"), func(o *Object) { o.Key = "k" })}}},
		{"a whole Secret of another namespace", "", "data: [{name: a, secretRef: {name: s, namespace: other}}]",
			Reference{Path: "spec.imports.data[0].secretRef", Type: "data", Objects: []Object{with(object(KindSecret, "s", "s"), func(o *Object) { o.Namespace = "other" })}}},
		{"a ConfigMap", "", "data: [{name: a, configMapRef: {name: c, key: k}}]",
			Reference{Path: "spec.imports.data[0].configMapRef", Type: "data", Objects: []Object{with(object(KindConfigMap, "c", "c"), func(o *Object) { o.Key = "k" })}}},
		{"a Target of a root", "", "targets: [{name: a, target: host}]",
			Reference{Path: "spec.imports.targets[0].target", Type: "target", Objects: []Object{object(KindTarget, "host", "host")}}},
		{"an element of a list of the parent", "shop", "targets: [{name: a, target: 'clusters[0]'}]",
			Reference{Path: "spec.imports.targets[0].target", Type: "target", Objects: []Object{with(object(KindTarget, "iztqtkdc7v6zflvz2cve4jynp2x7r64n", "clusters[0]"), func(o *Object) { o.Parent, o.Element = "clusters", "0" })}}},
		{"an element of a map of the parent", "shop", "targets: [{name: a, target: 'fleet[blue]'}]",
			Reference{Path: "spec.imports.targets[0].target", Type: "target", Objects: []Object{with(object(KindTarget, "ta5igl763f6agd4uaolijcm7a5itqkzg", "fleet[blue]"), func(o *Object) { o.Parent, o.Element = "fleet", "blue" })}}},
		{"a list keeps the order that is written", "", "targets: [{name: a, targets: [z, b, '#c']}]",
			Reference{Path: "spec.imports.targets[0].targets", Type: "targetList", Objects: []Object{object(KindTarget, "z", "z"), object(KindTarget, "b", "b"), object(KindTarget, "c", "#c")}}},
		{"an empty list is a list", "", "targets: [{name: a, targets: []}]",
			Reference{Path: "spec.imports.targets[0].targets", Type: "targetList"}},
		{"a map", "", "targets: [{name: a, targetMap: {south: s, north: h}}]",
			Reference{Path: "spec.imports.targets[0].targetMap", Type: "targetMap", Objects: []Object{
				with(object(KindTarget, "h", "h"), func(o *Object) { o.MapKey = "north" }), with(object(KindTarget, "s", "s"), func(o *Object) { o.MapKey = "south" })}}},
		{"an empty map is a map", "", "targets: [{name: a, targetMap: {}}]",
			Reference{Path: "spec.imports.targets[0].targetMap", Type: "targetMap"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			inst := installation(t, test.parent, "blueprint: {}\nimports: {"+test.imports+"}")
			test.want.Import = "a"
			if got := References(inst); len(got) != 1 || !reflect.DeepEqual(got[0], test.want) {
				t.Errorf("%+v, want\n%+v", got, test.want)
			}
		})
	}
	if got := References(installation(t, "", "blueprint: {}\nimports: {data: [{name: a}], targets: [{name: b}]}")); len(got) != 0 {
		t.Errorf("an entry that refers to nothing is a matter of validation: %+v", got)
	}
}

func TestPassedOnReferences(t *testing.T) {
	copied := func(change labels.Set) labels.Set {
		set := labels.Set{v1alpha1.DataObjectContextLabel: "Inst.shop", v1alpha1.DataObjectKeyLabel: "fleet", v1alpha1.DataObjectSourceTypeLabel: "import", v1alpha1.DataObjectJobIDLabel: "job"}
		for key, value := range change {
			set[key] = value
			if value == "" {
				delete(set, key)
			}
		}
		return set
	}
	tests := []struct {
		reason, parent, imports string
		labels                  labels.Set
		want                    bool
	}{
		{"a copy of the parent's import", "shop", "targetListRef: fleet", copied(nil), true},
		{"a copy of the parent's map import", "shop", "targetMapRef: fleet", copied(nil), true},
		{"a copy of another import", "shop", "targetListRef: fleet", copied(labels.Set{v1alpha1.DataObjectKeyLabel: "other"}), false},
		{"a copy in another Installation", "shop", "targetListRef: fleet", copied(labels.Set{v1alpha1.DataObjectContextLabel: "Inst.other"}), false},
		{"an element that is left from an earlier job", "shop", "targetListRef: fleet", copied(labels.Set{v1alpha1.DataObjectJobIDLabel: "earlier"}), false},
		{"an export is not an element", "shop", "targetListRef: fleet", copied(labels.Set{v1alpha1.DataObjectSourceTypeLabel: "export"}), false},
		{"a root finds what was labelled by hand", "", "targetListRef: fleet", copied(labels.Set{v1alpha1.DataObjectContextLabel: "", v1alpha1.DataObjectJobIDLabel: ""}), true},
		{"a root does not look into scopes", "", "targetListRef: fleet", copied(nil), false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := References(installation(t, test.parent, "blueprint: {}\nimports: {targets: [{name: a, "+test.imports+"}]}"))
			if len(got) != 1 || got[0].Selector == nil || got[0].Selector.Matches(test.labels) != test.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestScope(t *testing.T) {
	if got := Scope(installation(t, "", "blueprint: {}")); got != "" {
		t.Errorf("a root: %q", got)
	}
	if got := Scope(installation(t, "shop", "blueprint: {}")); got != "Inst.shop" {
		t.Errorf("a kind of another group with this name is no parent: %q", got)
	}
}
