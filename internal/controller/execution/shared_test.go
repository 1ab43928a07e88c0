package execution

import (
	"context"
	"reflect"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// sharing is a cache that returns its own items to a caller that wants no copies.
type sharing struct {
	client.Client
	items []v1alpha1.DeployItem
	calls int
}

// List implements client.Reader.
func (s *sharing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := s.Client.List(ctx, list, options...); err != nil {
		return err
	}
	items, ok := list.(*v1alpha1.DeployItemList)
	applied := (&client.ListOptions{}).ApplyOptions(options)
	if !ok || applied.UnsafeDisableDeepCopy == nil || !*applied.UnsafeDisableDeepCopy {
		return nil
	}
	s.calls++
	s.items = items.Items
	items.Items = append([]v1alpha1.DeployItem(nil), s.items...)
	return nil
}

// TestItemsAreShared: items are not copied for reading, and shared objects are not changed.
func TestItemsAreShared(t *testing.T) {
	for _, test := range []struct {
		reason  string
		prepare func(t *testing.T, b *bench)
	}{
		{"items get the job", func(*testing.T, *bench) {}},
		{"items are interrupted", func(t *testing.T, b *bench) {
			b.reconcile(t)
			exec := b.execution(t)
			exec.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.InterruptOperation)}
			if err := b.api.Update(t.Context(), exec); err != nil {
				t.Fatal(err)
			}
		}},
		{"items are to stay installed", func(t *testing.T, b *bench) {
			b.reconcile(t)
			b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
			b.reconcile(t)
			exec := b.execution(t)
			exec.Annotations = map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"}
			if err := b.api.Update(t.Context(), exec); err != nil {
				t.Fatal(err)
			}
			if err := b.api.Delete(t.Context(), exec); err != nil {
				t.Fatal(err)
			}
			b.handOver(t, "z")
		}},
		{"items are deployed a second time", func(t *testing.T, b *bench) {
			b.reconcile(t)
			b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
			b.reconcile(t)
			b.handOver(t, "z")
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}, v1alpha1.DeployItemTemplate{Name: "two"}))
			b.handOver(t, "a")
			test.prepare(t, b)
			cache := &sharing{Client: b.api}
			b.Client = cache
			before := b.items(t)
			b.reconcile(t)
			if cache.calls == 0 {
				t.Fatal("the items are copied")
			}
			for i := range cache.items {
				if !reflect.DeepEqual(cache.items[i], before[i]) {
					t.Errorf("an item in the cache was changed:\n%+v\n%+v", cache.items[i], before[i])
				}
			}
		})
	}
}
