package helm

import (
	"context"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// deleteRelease removes the release of an item, or continues to.
func (d Deployer) deleteRelease(ctx context.Context, item *deployer.Item, config *config) (deployer.Result, error) {
	connection, err := rollout.Connect(ctx, item)
	if err != nil {
		return deployer.Result{}, err
	}
	w, ok := item.Remembered().(*work)
	if !ok && item.Remembered() != nil {
		// The release is deleted, and the rest is being removed.
		return deployer.Done(), nil
	}
	if !ok || w.connection != connection {
		w = &work{connection: connection, counting: rollout.On(item, connection)}
		for _, stage := range []string{": start delete", ": start deleting"} {
			if err := item.Checkpoint(ctx, stageName+stage); err != nil {
				return deployer.Result{}, err
			}
		}
	}
	if config, err = config.asDeployed(item); err != nil {
		return deployer.Result{}, err
	}
	s := released{templates: d.templates(config), work: w}
	if w.operation == nil {
		done, err := s.beginRemoval(ctx, item)
		if done || err != nil {
			return deployer.Done(), err
		}
		item.Remember(w)
	}
	operation := w.operation
	waiting, err := s.operate(ctx, item)
	if err != nil || len(waiting) > 0 {
		return deployer.WaitFor(waiting...), err
	}
	// Objects with the marks of a release are deleted, or belong to others.
	return deployer.Done(), item.SetProviderStatus(withReleases(item, statusOf(apideployer.ManagedResourceStatusList(operation.Without()))))
}

// deleteEarlier removes the releases that the item had under earlier names, or continues to.
func (d Deployer) deleteEarlier(ctx context.Context, item *deployer.Item, config *config) ([]string, error) {
	w, ok := item.Remembered().(*work)
	known, err := releasesOf(item)
	if err != nil || len(known.earlier) == 0 || !ok && item.Remembered() != nil {
		return nil, err
	}
	connection, err := rollout.Connect(ctx, item)
	if err != nil {
		return nil, err
	}
	if !ok || w.connection != connection {
		w = &work{connection: connection, counting: rollout.On(item, connection)}
		item.Remember(w)
	}
	return released{d.templates(config), w}.removeEarlier(ctx, item, true)
}

// beginRemoval plans the removal. It is done already if there is no release, or one
// that belongs to another item by now.
func (s released) beginRemoval(ctx context.Context, item *deployer.Item) (done bool, err error) {
	store := s.store(s.work.connection)
	history, err := store.History(ctx, s.config.Name)
	if err != nil {
		return false, err
	}
	inStatus, _, err := mayHaveRelease(item)
	if err != nil {
		return false, err
	}
	desiredState := s.desiredFor(item)
	// What was deployed without a release is for its own removal.
	desiredState.Ours, desiredState.Leaving = nil, true
	if desiredState.Before, err = s.templates.Recorded(item); err == nil {
		desiredState.Former, err = former(item)
	}
	if err != nil {
		return false, err
	}
	if len(history) == 0 || !belongs(history[len(history)-1], item, inStatus || s.config.release()) {
		return s.beginLeftovers(ctx, item, store, desiredState, history)
	}
	within, err := s.config.uninstall.limit(item.Remaining())
	if err != nil {
		return false, configError(reasons.ValidateProviderConfiguration, err)
	}
	desiredState.Options = release.Options{Wait: s.config.uninstall.Wait, Limit: within}
	s.work.operation, err = release.PlanRemoval(ctx, store, s.job(item), desiredState, history)
	return false, err
}

// beginLeftovers plans the removal of objects that were kept of a release which is deleted or
// belongs to another item by now. Only those that are still marked as released by this item are
// left over: all others belong to the other item.
func (s released) beginLeftovers(ctx context.Context, item *deployer.Item, store *storage.Store, desiredState release.DesiredState, history []*storage.Record) (done bool, err error) {
	if len(desiredState.Before) == 0 {
		return true, nil
	}
	desiredState.ReleasedOnly = len(history) > 0
	s.work.operation, err = release.PlanCleanup(ctx, store, s.job(item), desiredState, history)
	return false, err
}
