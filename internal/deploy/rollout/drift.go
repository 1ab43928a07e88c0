package rollout

import (
	"context"
	"errors"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Compare returns what another roll-out of the same desired state would change, object by object in
// its order. It changes nothing.
//
// The record is only read: whether an object was made by us follows from it and from its
// label, as in a roll-out.
func Compare(ctx context.Context, cluster target.Cluster, desiredState DesiredState, recorded apply.Inventory) ([]string, error) {
	r, err := seen(ctx, cluster, desiredState, recorded)
	if err != nil {
		return nil, err
	}
	objects := r.objects
	changes, errs := make([]string, len(objects)), make([]error, len(objects))
	parallelize.Do(len(objects), func(i int) { changes[i], errs[i] = r.applier.Compare(ctx, objects[i]) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var drift []string
	for _, change := range changes {
		if change != "" {
			drift = append(drift, change)
		}
	}
	return drift, nil
}

// seen returns the work on a desired state with the objects as they are.
func seen(ctx context.Context, cluster target.Cluster, desiredState DesiredState, recorded apply.Inventory) (*Rollout, error) {
	objects, err := apply.Prepare(ctx, cluster, desiredState.Objects, recorded)
	if err != nil {
		return nil, err
	}
	r := &Rollout{desired: desiredState, cluster: cluster, applier: desiredState.applier(cluster), objects: objects}
	all := make([]int, len(objects))
	for i := range all {
		all[i] = i
	}
	return r, r.see(ctx, all)
}
