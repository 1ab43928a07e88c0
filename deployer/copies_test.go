package deployer

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// shared is a cache that hands out its own items to those who want no copies.
type shared struct {
	client.Client
	items []v1alpha1.DeployItem
}

// List implements client.Reader.
func (s *shared) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	items, ok := list.(*v1alpha1.DeployItemList)
	applied := (&client.ListOptions{}).ApplyOptions(options)
	if !ok || applied.UnsafeDisableDeepCopy == nil || !*applied.UnsafeDisableDeepCopy {
		return s.Client.List(ctx, list, options...)
	}
	for _, item := range s.items {
		if applied.LabelSelector == nil || applied.LabelSelector.Matches(labels.Set(item.Labels)) {
			items.Items = append(items.Items, item)
		}
	}
	return nil
}

// spoil changes all that a deployer may change of items, and returns how many these are.
func spoil(items ...*v1alpha1.DeployItem) int {
	for _, item := range items {
		spoilOne(item)
	}
	return len(items)
}

func spoilOne(item *v1alpha1.DeployItem) {
	item.Labels["spoilt"], item.Annotations["spoilt"] = "yes", "yes"
	delete(item.Labels, v1alpha1.ExecutionManagedNameLabel)
	item.Spec.Type = "spoilt"
	item.Spec.Target.Name = "spoilt"
	item.Spec.Configuration.Raw = append(item.Spec.Configuration.Raw, "spoilt"...)
	item.Status.ProviderStatus.Raw = []byte("spoilt")
	item.Status.Conditions[0].Type = "Spoilt"
	item.Status.TransitionTimes.TriggerTime = nil
}

// TestItemsAreCopies: whatever a deployer does with other items, the cache and all who read
// it see them as they were.
func TestItemsAreCopies(t *testing.T) {
	anyone := func(*v1alpha1.DeployItem) bool { return true }
	for _, test := range []struct {
		reason string
		// jobID is that of the other items.
		jobID string
		// call returns how many items were handed out.
		call func(ctx context.Context, item *Item) (int, error)
		want int
	}{
		{"a sibling at work", "two", func(ctx context.Context, item *Item) (int, error) {
			found, err := item.Sibling(ctx, anyone)
			return spoil(found), err
		}, 1},
		{"a sibling whose turn comes later", "old", func(ctx context.Context, item *Item) (int, error) {
			found, err := item.Sibling(ctx, anyone)
			return spoil(found), err
		}, 1},
		{"siblings that are looked at", "two", func(ctx context.Context, item *Item) (looked int, err error) {
			_, err = item.Sibling(ctx, func(found *v1alpha1.DeployItem) bool {
				looked += spoil(found)
				return false
			})
			return looked, err
		}, 1},
		{"the other items on the cluster", "two", func(ctx context.Context, item *Item) (int, error) {
			others, err := item.Others(ctx)
			return spoil(others...), err
		}, 2},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tree := newTree(t, "self", "sibling")
			tree.items = append(tree.items, relative("stranger", "", "", "", ""))
			tree.items[2].Labels[v1alpha1.ExecutionManagedByLabel] = "elsewhere"
			cached := &shared{}
			for _, item := range tree.items {
				cached.items = append(cached.items, cachedItem(item, test.jobID))
			}
			before := (&v1alpha1.DeployItemList{Items: cached.items}).DeepCopy()
			handedOut := 0
			s := tree.stage(t, func(ctx context.Context, item *Item) (err error) {
				handedOut, err = test.call(ctx, item)
				return err
			})
			cached.Client = s.reconciler.client
			s.reconciler.client = cached
			s.look()
			if handedOut != test.want {
				t.Fatalf("%d items were handed out, error %+v", handedOut, s.item().Status.LastError)
			}
			if difference := cmp.Diff(before.Items, cached.items); difference != "" {
				t.Errorf("the cache has changed:\n%s", difference)
			}
			for _, item := range cached.items {
				// The capacity behind a text belongs to the cache, too.
				raw := item.Spec.Configuration.Raw
				if room := raw[len(raw) : len(raw)+1]; room[0] != 0 {
					t.Errorf("the text of %s goes on with %q", item.Name, room)
				}
			}
		})
	}
}

// cachedItem is an item as a cache has it, with all that a deployer may change.
func cachedItem(item *v1alpha1.DeployItem, jobID string) v1alpha1.DeployItem {
	cached := item.DeepCopy()
	cached.Spec.Target = &v1alpha1.ObjectReference{Name: "cluster", Namespace: key.Namespace}
	cached.Spec.Configuration = &runtime.RawExtension{Raw: append(make([]byte, 0, 100), empty...)}
	cached.Status.JobID, cached.Status.JobIDFinished = jobID, "old"
	cached.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"a":1}`)}
	cached.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.DriftedCondition}}
	cached.Status.TransitionTimes = &v1alpha1.TransitionTimes{TriggerTime: &metav1.Time{}}
	return *cached
}
