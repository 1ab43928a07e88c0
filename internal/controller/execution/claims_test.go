package execution

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
)

const (
	sameObject = `{"manifests":[{"policy":"manage","manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}}]}`
	oneObject  = `{"managedResources":[{"resource":{"apiVersion":"v1","kind":"ConfigMap","name":"a","namespace":"ns"}}]}`
)

// deployed lets an item have recorded an object on a Target.
func deployed(item *v1alpha1.DeployItem) {
	item.Spec.Target = &v1alpha1.ObjectReference{Name: "t"}
	item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(oneObject)}
}

// lists lets the first template be one of manifests.
func lists(config, target string) option {
	return func(s *snapshot) {
		s.templates[0].Type, s.templates[0].Target = v1alpha1.ManifestDeployItemType, &v1alpha1.ObjectReference{Name: target}
		s.templates[0].Configuration = &runtime.RawExtension{Raw: []byte(config)}
	}
}

// renders lets the first template be one whose objects are unknown.
func renders(target string) option {
	return func(s *snapshot) {
		s.templates[0].Type, s.templates[0].Target = v1alpha1.HelmDeployItemType, &v1alpha1.ObjectReference{Name: target}
	}
}

// leading are Targets by name, with what they say.
func leading(content map[string]string) option {
	return func(s *snapshot) {
		s.targets = map[string]*v1alpha1.Target{}
		for name, config := range content {
			s.targets[name] = &v1alpha1.Target{Spec: v1alpha1.TargetSpec{Configuration: v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig":"` + config + `"}`))}}
		}
	}
}

func removeFirst(s *snapshot) {
	s.parent.Annotations = map[string]string{v1alpha1.RemoveFirstAnnotation: "true"}
}

func rootRemovesFirst(s *snapshot) {
	root := &v1alpha1.Installation{}
	root.Annotations = map[string]string{v1alpha1.RemoveFirstAnnotation: "true"}
	s.lineage = []*v1alpha1.Installation{root, s.parent}
}

func withSiblings(s *snapshot) {
	s.parent.Status.SubInstCache = &v1alpha1.SubInstCache{ActiveSubs: []v1alpha1.SubNamePair{{SpecName: "a", ObjectName: "a"}}}
}

// TestHolds: items that are no longer wanted stay where something else may take over what they have
// deployed, and are deleted first otherwise.
func TestHolds(t *testing.T) {
	const other = `{"manifests":[{"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"ns"}}}]}`
	const fallback = `{"manifests":[{"policy":"fallback","manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}}]}`
	const ignored = `{"manifests":[{"policy":"ignore","manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}}]}`
	top := parent("job", "", "Progressing")
	ofType := func(of v1alpha1.DeployItemType) func(*v1alpha1.DeployItem) {
		return func(item *v1alpha1.DeployItem) {
			item.Spec.Type, item.Status.ProviderStatus = of, nil
		}
	}
	tests := []struct {
		reason  string
		old     []func(*v1alpha1.DeployItem)
		options []option
		want    bool
	}{
		{"the new item lists the object", nil, []option{lists(sameObject, "t")}, true},
		{"an object with another policy is taken over, too: a terminating item yields", nil, []option{lists(fallback, "t")}, true},
		{"an object that is ignored is not taken over", nil, []option{lists(ignored, "t")}, false},
		{"the new item lists another object", nil, []option{lists(other, "t")}, false},
		{"the new item is for another Target", nil, []option{lists(sameObject, "u")}, false},
		{"the new item is for another Target with the same content", nil, []option{lists(sameObject, "u"), leading(map[string]string{"t": "x", "u": "x"})}, true},
		{"the new item is for another Target with other content", nil, []option{lists(sameObject, "u"), leading(map[string]string{"t": "x", "u": "y"})}, false},
		{"a configuration that cannot be read lists nothing", nil, []option{lists("{", "t")}, false},
		{"a chart may have any object", nil, []option{renders("t")}, true},
		{"a chart for another Target has none on this one", nil, []option{renders("u")}, false},
		{"the old item has deployed nothing", []func(*v1alpha1.DeployItem){ofType("test")}, []option{renders("t")}, false},
		{"the objects of a release are not known", []func(*v1alpha1.DeployItem){ofType(v1alpha1.HelmDeployItemType)}, []option{renders("t")}, true},
		{"a release may have the object, although only its workloads are recorded", []func(*v1alpha1.DeployItem){ofType(v1alpha1.HelmDeployItemType)}, []option{lists(sameObject, "t")}, true},
		{"a new item without objects takes nothing of a release", []func(*v1alpha1.DeployItem){ofType(v1alpha1.HelmDeployItemType)}, []option{lists(ignored, "t")}, false},
		{"the old item keeps its objects in any case", []func(*v1alpha1.DeployItem){keepsInstalled}, []option{lists(sameObject, "t")}, false},
		{"the old item is being deleted already", []func(*v1alpha1.DeployItem){func(item *v1alpha1.DeployItem) { item.Status.JobID = "job" }}, []option{lists(sameObject, "t")}, false},
		{"another client has deleted the old item, which waits all the same", []func(*v1alpha1.DeployItem){goes}, []option{lists(sameObject, "t")}, true},
		{"the root has no other part that could take it", nil, []option{top, lists(other, "t")}, false},
		{"another subinstallation may want the object", nil, []option{top, withSiblings, lists(other, "t")}, true},
		{"a part of another tree may want the object", nil, []option{top, isSub, lists(other, "u")}, true},
		{"the user wants the old item to be deleted first", nil, []option{top, removeFirst, lists(sameObject, "t")}, false},
		{"the user wants old items of the whole tree to be deleted first", nil, []option{top, rootRemovesFirst, lists(sameObject, "t")}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			old := append([]func(*v1alpha1.DeployItem){deployed}, test.old...)
			all := append([]option{jobs("job", "", "Progressing"), wants("new"), has("old", "z", "z", "Succeeded", old...)}, test.options...)
			s := snapshotWith(all...)
			_, orphans := members(s.templates, s.items)
			if got := holds(s, orphans); got != test.want {
				t.Errorf("holds: %t", got)
			}
		})
	}
}

// isSub makes the Installation a part of another one.
func isSub(s *snapshot) {
	s.parent.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "root", UID: "root"}}
}

// TestTargetsAreObserved: of an Execution with an item that is not wanted any more, the Targets of
// all items are read, and of others none.
func TestTargetsAreObserved(t *testing.T) {
	target := func(name, content string) *v1alpha1.Target {
		target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}}
		target.Spec.Configuration = v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig":"` + content + `"}`))
		return target
	}
	old := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: "old", UID: "uid-old",
		Labels: map[string]string{v1alpha1.ExecutionManagedByLabel: key.Name, v1alpha1.ExecutionManagedNameLabel: "old"},
	}}
	old.Spec.Target = &v1alpha1.ObjectReference{Name: "former"}
	wanted := v1alpha1.DeployItemTemplate{Name: "new", Target: &v1alpha1.ObjectReference{Name: "cluster"}}
	gone := v1alpha1.DeployItemTemplate{Name: "lost", Target: &v1alpha1.ObjectReference{Name: "missing"}}
	s, ready, err := newBench(t, withItems(wanted, gone), old, target("former", "x"), target("cluster", "x")).observed(t)
	if err != nil || !ready || !s.sharesCluster("former", "cluster") || s.sharesCluster("former", "missing") {
		t.Errorf("%t, %v: %v", ready, err, s.targets)
	}
	s, _, err = newBench(t, withItems(wanted, gone), target("cluster", "x")).observed(t)
	if err != nil || len(s.targets) > 0 {
		t.Errorf("%v: %v", err, s.targets)
	}
}
