package release

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Inventory returns the objects that belong to a release of an item and exist, as they are recorded
// of items without a release.
func Inventory(ctx context.Context, store *storage.Store, name, item string, history []*storage.Record) (apply.Inventory, error) {
	o := &Operation{store: store, earlier: history, desiredState: DesiredState{Name: name, Namespace: store.Namespace, Item: item}}
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

// Unmark makes objects of a release those of an item without one: its label takes the place
// of the marks of the release. An item that has taken an object over since keeps it.
func Unmark(ctx context.Context, store *storage.Store, found apply.Inventory, name, label, item string) error {
	o := &Operation{store: store, desiredState: DesiredState{Name: name, Namespace: store.Namespace, Item: item, Before: found}}
	if err := o.deployedBefore(ctx); err != nil {
		return err
	}
	errs := make([]error, len(o.previous))
	parallelize.Do(len(o.previous), func(i int) {
		if errs[i] = o.unmark(ctx, o.previous[i], label); errs[i] != nil {
			errs[i] = fmt.Errorf("label %s: %w", describe(o.previous[i].Object), errs[i])
		}
	})
	return several.Errors(compact(errs)).OrNil()
}

func (o *Operation) unmark(ctx context.Context, object apply.Object, label string) error {
	for attempt := 1; ; attempt++ {
		live, err := o.get(ctx, object)
		if err != nil || live == nil || !owned(live, o.desiredState.Name, o.desiredState.Namespace) || !o.mayRemove(live) {
			return err
		}
		patch, err := ownership.Transfer(live, label, o.desiredState.Item)
		if err == nil {
			_, err = o.patch(ctx, object, patch)
		}
		if !apierrors.IsConflict(err) || attempt == attempts {
			return err
		}
	}
}

// deployedBefore finds the places of what the item has deployed without a release, and of
// what an earlier operation has kept.
func (o *Operation) deployedBefore(ctx context.Context) error {
	o.before, o.recorded = map[key]types.UID{}, map[key]bool{}
	for _, entry := range o.desiredState.Before {
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
			// Without further knowledge of owned objects, only the marks of the release count.
			if o.desiredState.Ours != nil {
				o.before[keyOf(object.Object)] = entry.Resource.UID
			}
		}
		o.previous = append(o.previous, found...)
	}
	return nil
}
