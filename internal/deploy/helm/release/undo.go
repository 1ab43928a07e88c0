package release

import (
	"context"
	"fmt"

	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
)

// undoInstall removes a release whose installation has failed.
func (o *Operation) undoInstall(ctx context.Context) ([]string, error) {
	if err := o.failedHooks(ctx); err != nil {
		return nil, err
	}
	o.becomeUninstall(append(o.previous, o.objects...))
	return nil, nil
}

// failedHooks makes leftovers of what the hooks of the failed revision have made.
func (o *Operation) failedHooks(ctx context.Context) error {
	o.leftovers, o.tidied = map[key][]leftover{}, false
	return o.addLeftovers(ctx, o.release)
}

// undoUpgrade deploys the last complete revision again, with a number of its own, as
// Helm does.
func (o *Operation) undoUpgrade(ctx context.Context) ([]string, error) {
	failed, base := o.release, o.base
	objects, err := placed(ctx, o.store.Cluster, base)
	if err != nil {
		return nil, err
	}
	if err := o.failedHooks(ctx); err != nil {
		return nil, err
	}
	failedObjects := o.objects
	o.reset()
	o.kept = nil
	o.earlier = append(o.earlier, &storage.Record{Revision: failed.Version, Status: common.StatusFailed})
	for _, record := range o.earlier {
		if record.Revision == base.Version {
			// What is deployed then is what was deployed with that record.
			o.desiredState.Marks.Digest = record.Digest
		}
	}
	again := *base
	again.Version = failed.Version + 1
	info := *base.Info
	info.LastDeployed, info.RollbackRevision = o.store.Now(), base.Version
	again.Info = &info
	again.SetStatus(common.StatusPendingRollback, fmt.Sprintf("Rollback to %d", base.Version))
	o.previous = append(o.previous, failedObjects...)
	for _, object := range failedObjects {
		o.original[keyOf(object.Object)] = object.Object
	}
	o.asked = false
	o.release, o.objects = &again, make([]apply.Object, 0, len(objects))
	for _, object := range objects {
		object.Object = Marked(object.Object, o.desiredState.Name, o.desiredState.Namespace)
		// Its own version may not be served any more: then it comes back in another one.
		object.Object.SetGroupVersionKind(object.Mapping.GroupVersionKind)
		o.objects = append(o.objects, object)
	}
	o.steps, o.at = []step{
		o.nothing, o.clearLeftovers, o.storeRecord, o.runHooks(helmrelease.HookPreRollback), o.apply, o.prune, o.awaitReady,
		o.runHooks(helmrelease.HookPostRollback), o.finish(fmt.Sprintf("Rollback to %d", base.Version)),
	}, 0
	return nil, nil
}

func (o *Operation) nothing(context.Context) ([]string, error) { return nil, nil }
