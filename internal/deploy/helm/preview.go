package helm

import (
	"context"
	"fmt"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/helm/records"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/diff"
)

// Preview returns what a deployment of an item would make of each object on a cluster.
// The chart is rendered as for a deployment.
func (d Deployer) Preview(ctx context.Context, object *v1alpha1.DeployItem, on *deployer.Connection) ([]diff.Object, error) {
	item := &deployer.Item{DeployItem: object}
	config, err := d.options.config(item)
	if err != nil {
		return nil, err
	}
	if !config.release() {
		return rollout.PreviewItem(ctx, item, unattended{d.templates(config), on}, target.On(on))
	}
	return released{templates: d.templates(config), work: &work{connection: on, forced: mustCorrect(item)}}.preview(ctx, item)
}

// unattended is an item without a job: there are no checkpoints, and its cluster is
// known.
type unattended struct {
	templates
	on *deployer.Connection
}

// Wish implements rollout.Source.
func (u unattended) Wish(ctx context.Context, item *deployer.Item) (rollout.Wish, error) {
	return u.wish(ctx, item, u.on)
}

func (s released) preview(ctx context.Context, item *deployer.Item) (found []diff.Object, err error) {
	if s.work.chart, err = s.load(ctx, item); err != nil {
		return nil, err
	}
	store := s.store(s.work.connection)
	history, err := store.History(ctx, s.config.Name)
	if err != nil {
		return nil, err
	}
	marks := s.marks(item)
	action := s.decide(item, history, marks)
	switch action {
	case release.Await:
		return nil, fmt.Errorf("somebody else is at work with release %s/%s", s.config.Namespace, s.config.Name)
	case release.Refuse:
		return nil, s.refusal(history[len(history)-1])
	case release.Nothing:
		last := history[len(history)-1]
		missing, err := release.Missing(ctx, store, last)
		if err != nil {
			return nil, err
		}
		if !missing {
			return release.Unchanged(last)
		}
		// Somebody has removed an object: the release is deployed again.
		action = release.Upgrade
	}
	wish, _, err := s.releaseWish(ctx, item, history, action, marks)
	if err != nil {
		return nil, err
	}
	return release.Preview(ctx, store, wish, history, action)
}

// Release implements preview.Leaver.
func (d Deployer) Release(object *v1alpha1.DeployItem) (*apideployer.ReleaseReference, error) {
	item := &deployer.Item{DeployItem: object}
	config, err := d.options.config(item)
	if err != nil {
		return nil, err
	}
	return releaseOf(item, config)
}

// Released implements preview.Leaver.
func (d Deployer) Released(ctx context.Context, object *v1alpha1.DeployItem, on *deployer.Connection, earlier apideployer.EarlierCluster) (apideployer.ManagedResourceStatusList, error) {
	item := &deployer.Item{DeployItem: object}
	config, err := d.options.config(item)
	if err != nil {
		return nil, err
	}
	store := &records.Store{Cluster: target.On(on), Namespace: earlier.Release.Namespace, Now: d.options.Now}
	history, err := store.History(ctx, earlier.Release.Name)
	if err != nil || !d.templates(config).ours(item, history, earlier) {
		return nil, err
	}
	found, err := release.Inventory(ctx, store, earlier.Release.Name, history)
	return apideployer.ManagedResourceStatusList(found), err
}
