package release

import (
	"context"

	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/limit"
	"go.landscaper.dev/internal/runtime/job"
)

// uninstall is what is being done in a removal.
const uninstall = "uninstall"

// PlanRemoval returns the operation that removes a release. Nothing is changed yet.
func PlanRemoval(ctx context.Context, store *storage.Store, work Job, desiredState DesiredState, history []*storage.Record) (*Operation, error) {
	desiredState.Leaving = true
	o, err := begin(ctx, store, work, desiredState, history, uninstall)
	if err != nil {
		return nil, err
	}
	last := history[len(history)-1]
	release, err := last.Release()
	if err != nil {
		return nil, job.AsTerminal(err)
	}
	if err := o.deployedBefore(ctx); err != nil {
		return nil, err
	}
	o.release, o.desiredState.Marks, o.defined = release, last.Marks(), desiredState.Remaining.expected()
	o.becomeUninstall(o.previous)
	o.limit = limit.New(desiredState.Limit, work.Requeue)
	return o, nil
}

// becomeUninstall makes the removal of some objects what is left to do.
func (o *Operation) becomeUninstall(objects []apply.Object) {
	o.reset()
	deleted := false
	remove := func(ctx context.Context) ([]string, error) {
		if !deleted {
			if err := o.remove(ctx, unique(objects), o.desiredState.Wait || o.desiredState.Atomic); err != nil {
				return nil, err
			}
			deleted = true
		}
		return o.going.Continue(ctx)
	}
	o.steps, o.at = []step{
		o.nothing, o.clearLeftovers, o.runHooks(helmrelease.HookPreDelete), o.markUninstalling, remove, o.runHooks(helmrelease.HookPostDelete), o.purge,
	}, 0
}

// unique drops what is there twice.
func unique(objects []apply.Object) []apply.Object {
	seen := map[key]bool{}
	var found []apply.Object
	for _, object := range objects {
		if id := keyOf(object.Object); !seen[id] {
			seen[id] = true
			found = append(found, object)
		}
	}
	return found
}

// markUninstalling shows others that the release is being deleted.
func (o *Operation) markUninstalling(ctx context.Context) ([]string, error) {
	o.release.SetStatus(common.StatusUninstalling, "Deletion in progress (or silently failed)")
	o.release.Info.Deleted = o.store.Now()
	err := o.store.Update(ctx, o.release, o.desiredState.Marks)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return nil, err
}

// purge removes all records.
func (o *Operation) purge(ctx context.Context) ([]string, error) {
	revisions := []int{o.release.Version}
	for _, record := range o.earlier {
		if record.Revision != o.release.Version {
			revisions = append(revisions, record.Revision)
		}
	}
	// The newest is deleted last: as long as it exists, a removal that is interrupted here continues.
	for i := len(revisions) - 1; i >= 0; i-- {
		if err := o.store.Delete(ctx, o.release.Name, revisions[i]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
