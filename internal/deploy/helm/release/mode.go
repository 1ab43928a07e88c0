package release

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/records"
)

// Inventory returns the objects that belong to a release of an item and exist, as they are recorded
// of items without a release.
func Inventory(ctx context.Context, store *records.Store, name, item string, history []*records.Record) (apply.Inventory, error) {
	o := &Operation{store: store, earlier: history, wish: Wish{Name: name, Namespace: store.Namespace, Item: item}}
	if err := o.look(ctx); err != nil {
		return nil, err
	}
	var found apply.Inventory
	for _, object := range unique(o.previous) {
		live, err := o.get(ctx, object)
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", describe(object.Object), err)
		}
		if live == nil || !owned(live, name, store.Namespace) || !o.mayRemove(live) {
			continue
		}
		entry := deployer.ManagedResourceStatus{Policy: deployer.ManagePolicy, Resource: object.Reference()}
		if Kept(live) || Kept(object.Object) {
			entry.Policy = deployer.KeepPolicy
		}
		entry.Resource.UID = live.GetUID()
		found = append(found, entry)
	}
	return found, nil
}

// deployedBefore finds the places of what the item has deployed without a release, and of
// what an earlier operation has kept.
func (o *Operation) deployedBefore(ctx context.Context) error {
	o.before, o.recorded = map[key]types.UID{}, map[key]bool{}
	for _, entry := range o.wish.Before {
		if entry.Policy == deployer.KeepPolicy {
			continue
		}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.FromAPIVersionAndKind(entry.Resource.APIVersion, entry.Resource.Kind))
		object.SetNamespace(entry.Resource.Namespace)
		object.SetName(entry.Resource.Name)
		found, err := elsewhere(ctx, o.store.Cluster, apply.Entry{Object: object})
		if err != nil {
			return err
		}
		for _, object := range found {
			o.recorded[keyOf(object.Object)] = true
			// Who does not say what else is theirs goes by the marks of the release alone.
			if o.wish.Ours != nil {
				o.before[keyOf(object.Object)] = entry.Resource.UID
			}
		}
		o.previous = append(o.previous, found...)
	}
	return nil
}
