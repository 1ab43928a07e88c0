package deployer

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
)

var space = apideployer.ManagedResourceStatus{Policy: apideployer.ManagePolicy, Resource: corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: "x", UID: "u"}}

// TestBequeath: another item gets an annotation, once, unless it has recorded the object or goes, too.
func TestBequeath(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(heir *v1alpha1.DeployItem)
		fails  bool
		want   int
	}{
		{"the heir has something else", func(*v1alpha1.DeployItem) {}, false, 1},
		{"the heir has recorded the object", func(heir *v1alpha1.DeployItem) {
			heir.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"managedResources":[{"resource":{"apiVersion":"v1","kind":"Namespace","name":"x"}}]}`)}
		}, false, 0},
		{"the heir has inherited something before", func(heir *v1alpha1.DeployItem) {
			heir.Annotations = map[string]string{v1alpha1.InheritedAnnotation: `[{"policy":"manage","resource":{"apiVersion":"v1","kind":"Namespace","name":"y"}}]`}
		}, false, 2},
		{"the heir is being deleted", func(heir *v1alpha1.DeployItem) {
			heir.DeletionTimestamp, heir.Finalizers = &metav1.Time{Time: metav1.Now().Time}, []string{v1alpha1.Finalizer}
		}, true, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tree := newTree(t, "self", "heir")
			test.change(tree.items[1])
			tree.look(t, func(ctx context.Context, item *Item) error {
				for range 2 {
					if err := item.Bequeath(ctx, tree.items[1], space); (err != nil) != test.fails {
						t.Errorf("%v", err)
					}
				}
				heir := &v1alpha1.DeployItem{}
				if err := item.reconciler.client.Get(ctx, types.NamespacedName{Namespace: item.Namespace, Name: "heir"}, heir); err != nil {
					t.Fatal(err)
				}
				if found := placement.Inherited(heir); len(found) != test.want {
					t.Errorf("it inherits %v", found)
				}
				return nil
			})
		})
	}
}

// TestInherit: the job of an heir finds what was left to it in its record, and only one job does.
func TestInherit(t *testing.T) {
	tree := newTree(t, "self")
	tree.items[0].Annotations = map[string]string{v1alpha1.InheritedAnnotation: `[{"policy":"manage","resource":{"apiVersion":"v1","kind":"Namespace","name":"x","uid":"u"}}]`}
	tree.items[0].Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"kind":"Mine"}`)}
	found := false
	s := tree.stage(t, func(_ context.Context, item *Item) error {
		found = ownership.Records(item.DeployItem, space.Resource)
		return item.SetProviderStatus(map[string]string{"kind": "Mine"})
	})
	s.look()
	if stored := s.item(); !found || stored.Annotations[v1alpha1.InheritedAnnotation] != "" {
		t.Errorf("found: %t; left are %v", found, stored.Annotations)
	}
	item := s.item()
	item.Status.JobID, item.Status.TransitionTimes = "three", job.Triggered(metav1.Now())
	handJob(s, item)
	s.look()
	if found {
		t.Error("the next job finds it, too")
	}
}

// TestInheritWithoutRecord: what was left to an item stays said until the item has a record.
func TestInheritWithoutRecord(t *testing.T) {
	tree := newTree(t, "self")
	tree.items[0].Annotations = map[string]string{v1alpha1.InheritedAnnotation: `[{"policy":"manage","resource":{"apiVersion":"v1","kind":"Namespace","name":"x"}}]`}
	found := false
	s := tree.stage(t, func(_ context.Context, item *Item) error {
		found = ownership.Records(item.DeployItem, space.Resource)
		return item.SetProviderStatus(map[string]string{"kind": "Mine"})
	})
	s.look()
	item := s.item()
	if found || len(placement.Inherited(item)) != 1 {
		t.Errorf("the first job finds it: %t; the item inherits %v", found, placement.Inherited(item))
	}
	item.Status.JobID, item.Status.TransitionTimes = "three", job.Triggered(metav1.Now())
	handJob(s, item)
	s.look()
	if !found {
		t.Error("the next job does not find it")
	}
}

// TestKeepsInUse: the end of a job says what stays because something is in it, before what may move.
func TestKeepsInUse(t *testing.T) {
	tree := newTree(t, "self")
	s := tree.stage(t, func(_ context.Context, item *Item) error {
		item.Keeps("ConfigMap n/a")
		item.KeepsInUse("Namespace x stays as long as deploy item two has ConfigMap x/b in it")
		return nil
	})
	s.look()
	pending := job.Pending(s.item().Status.Conditions)
	if pending == nil || !strings.HasPrefix(pending.Message, "Namespace x stays as long as deploy item two has ConfigMap x/b in it; ConfigMap n/a is removed at the end of the job") {
		t.Errorf("%+v", pending)
	}
}
