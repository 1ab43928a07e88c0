package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Preview returns what a deletion would make of each object: those that are deleted, in this order,
// and then those that stay. It changes nothing.
func Preview(ctx context.Context, plan Plan) ([]diff.Object, error) {
	d := New(plan)
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	var all []*deletionObject
	for _, step := range d.steps {
		if err := d.list(ctx, step); err != nil {
			return nil, err
		}
		all = append(all, step.objects...)
	}
	found, errs := make([]diff.Object, len(all)), make([]error, len(all))
	parallelize.Do(len(all), func(i int) { found[i], errs[i] = all[i].preview(ctx, plan) })
	found = once(found)
	for _, left := range d.gone {
		found = append(found, previewOf(deployer.ManagedResourceStatus{Resource: left}))
	}
	return found, errors.Join(errs...)
}

// once drops what is there twice: a group that deletes all also finds what the item has recorded.
func once(all []diff.Object) (found []diff.Object) {
	for _, object := range all {
		at := slices.IndexFunc(found, func(other diff.Object) bool { return apply.Same(other.Reference(), object.Reference()) })
		switch {
		case at < 0:
			found = append(found, object)
		case found[at].Before == nil && found[at].Unknown == "":
			// A recorded object of another owner is deleted all the same.
			found[at] = object
		}
	}
	return found
}

// preview looks at an object as its deletion would.
func (o *deletionObject) preview(ctx context.Context, plan Plan) (diff.Object, error) {
	found := previewOf(o.entry)
	if o.cluster.Server() != plan.Cluster.Server() {
		found.Unknown = "a deletion group empties another cluster: " + o.cluster.Server()
		return found, nil
	}
	if err := o.find(ctx); err != nil || o.gone {
		return found, err
	}
	ref := o.entry.Resource
	live, err := o.cluster.Get(ctx, o.mapping, ref.Namespace, ref.Name)
	switch {
	case apierrors.IsNotFound(err):
		return found, nil
	case err != nil:
		return found, fmt.Errorf("look at %s: %w", o.describe(), err)
	case o.foreign || o.isOwn(live, plan.Owner):
		found.Before = live.Object
	}
	return found, nil
}

func previewOf(entry deployer.ManagedResourceStatus) diff.Object {
	ref := entry.Resource
	return diff.Object{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
}
