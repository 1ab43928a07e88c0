package execution

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
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

// movedOn lets an item have its object on an earlier cluster only.
func movedOn(item *v1alpha1.DeployItem) {
	item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"cluster":{"id":"2"},"earlierClusters":[{"id":"1","managedResources":[{"resource":{"apiVersion":"v1","kind":"ConfigMap","name":"a","namespace":"ns"}}]}]}`)}
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
		{"the new item is for another Target: both may lead to the same cluster, and the object on another cluster is kept until all is deployed", nil, []option{lists(sameObject, "u")}, true},
		{"the new item lists the object on an earlier cluster of the old one", []func(*v1alpha1.DeployItem){movedOn}, []option{lists(sameObject, "u")}, true},
		{"the new item lists another object than the old one has on an earlier cluster", []func(*v1alpha1.DeployItem){movedOn}, []option{lists(other, "u")}, false},
		{"a configuration that cannot be read lists nothing", nil, []option{lists("{", "t")}, false},
		{"a chart may have any object", nil, []option{renders("t")}, true},
		{"a chart for another Target may have any object, too", nil, []option{renders("u")}, true},
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
			_, orphans := itemorder.Members(s.templates, s.items)
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
