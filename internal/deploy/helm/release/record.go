package release

import (
	"context"
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/release/common"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// storeRecord stores the record of the new revision: from here on, other clients see that an
// operation is under way.
func (o *Operation) storeRecord(ctx context.Context) ([]string, error) {
	if o.stored {
		return nil, nil
	}
	if err := o.store.Create(ctx, o.release, o.desiredState.Marks); err != nil {
		if apierrors.IsAlreadyExists(err) {
			if mine, err := o.hasRecord(ctx); mine || err != nil {
				o.stored = err == nil
				return nil, err
			}
			return nil, job.Wrap(err, o.operation(), reasons.Conflict, "another client is changing the release")
		}
		o.asked = true
		if clustererror.IsNamespaceMissing(err) {
			return nil, fmt.Errorf("namespace %s does not exist on the cluster, create it or set createNamespace: %w", o.desiredState.Namespace, err)
		}
		return nil, err
	}
	o.stored = true
	return nil, nil
}

// hasRecord reports whether an earlier request, whose answer is lost, has stored the
// record of the new revision.
func (o *Operation) hasRecord(ctx context.Context) (bool, error) {
	if !o.asked {
		return false, nil
	}
	history, err := o.store.History(ctx, o.desiredState.Name)
	return slices.ContainsFunc(history, func(record *storage.Record) bool {
		return record.Revision == o.release.Version && record.Marks() == o.desiredState.Marks
	}), err
}

// recordFailure stores that the revision has failed.
func (o *Operation) recordFailure(cause error) step {
	return func(ctx context.Context) ([]string, error) {
		o.release.SetStatus(common.StatusFailed, fmt.Sprintf("Release %q failed: %v", o.release.Name, cause))
		err := o.store.Update(ctx, o.release, o.desiredState.Marks)
		if apierrors.IsNotFound(err) {
			// Another client has deleted it: there is nothing left to record.
			return nil, nil
		}
		return nil, err
	}
}

// settleEarlier marks revisions as failed whose operation was given up, so that they do not look as
// if they were under way.
func (o *Operation) settleEarlier(ctx context.Context) ([]string, error) {
	for _, record := range o.earlier {
		if !record.Status.IsPending() && record.Status != common.StatusUninstalling {
			continue
		}
		release, err := record.Release()
		if err != nil {
			return nil, job.AsTerminal(err)
		}
		release.SetStatus(common.StatusFailed, "The operation was given up: its server ended")
		if err := o.store.Update(ctx, release, record.Marks()); err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		record.Status = common.StatusFailed
	}
	return nil, nil
}

// finish marks the new revision as deployed, and those before as superseded. Old ones are deleted.
func (o *Operation) finish(message string) step {
	return func(ctx context.Context) ([]string, error) {
		for _, record := range o.earlier {
			if record.Status != common.StatusDeployed {
				continue
			}
			release, err := record.Release()
			if err != nil {
				return nil, job.AsTerminal(err)
			}
			release.Info.Status = common.StatusSuperseded
			if err := o.store.Update(ctx, release, record.Marks()); err != nil && !apierrors.IsNotFound(err) {
				return nil, err
			}
			record.Status = common.StatusSuperseded
		}
		o.release.SetStatus(common.StatusDeployed, message)
		if err := o.store.Update(ctx, o.release, o.desiredState.Marks); err != nil {
			return nil, err
		}
		for len(o.earlier) >= historyLimit {
			if err := o.store.Delete(ctx, o.release.Name, o.earlier[0].Revision); err != nil {
				return nil, err
			}
			o.earlier = o.earlier[1:]
		}
		return nil, nil
	}
}
