package helm

import (
	"context"

	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/helm/release"
)

// deleteRelease removes the release of an item, or continues to.
func (d Deployer) deleteRelease(ctx context.Context, item *deployer.Item, config *config) (deployer.Result, error) {
	connection, err := item.Cluster(ctx)
	if err != nil {
		return deployer.Result{}, err
	}
	w, ok := item.Remembered().(*work)
	if !ok || w.connection != connection {
		w = &work{connection: connection}
		for _, stage := range []string{": start delete", ": start deleting"} {
			if err := item.Checkpoint(ctx, stageName+stage); err != nil {
				return deployer.Result{}, err
			}
		}
	}
	s := released{templates: d.templates(config), work: w}
	if w.operation == nil {
		done, err := s.beginRemoval(ctx, item)
		if done || err != nil {
			return deployer.Done(), err
		}
		item.Remember(w)
	}
	waiting, err := s.operate(ctx, item)
	return deployer.WaitFor(waiting...), err
}

// beginRemoval plans the removal. It is done already if there is no release, or one
// that belongs to another item by now.
func (s released) beginRemoval(ctx context.Context, item *deployer.Item) (done bool, err error) {
	store := s.store(s.work.connection)
	history, err := store.History(ctx, s.config.Name)
	if err != nil || len(history) == 0 {
		return err == nil, err
	}
	told, _, err := mayHaveRelease(item)
	if err != nil || !belongs(history[len(history)-1], item, told || s.config.release()) {
		return err == nil, err
	}
	within, err := s.config.uninstall.limit(item.Remaining())
	if err != nil {
		return false, configError(validateConfiguration, err)
	}
	s.work.operation, err = release.PlanRemoval(ctx, store, item, release.Wish{
		Options: release.Options{Wait: s.config.uninstall.Wait, Limit: within}, Name: s.config.Name, Namespace: s.config.Namespace,
	}, history)
	return false, err
}
