package helm

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/ownership"
)

// Preview returns what a deployment of an item would make of each object on a cluster, and
// what it would export. The chart is rendered as for a deployment.
func (d Deployer) Preview(ctx context.Context, object *v1alpha1.DeployItem, on *cluster.Connection, outlook rollout.Outlook) (rollout.Forecast, error) {
	item := &deployer.Item{DeployItem: object}
	config, err := d.options.config(item)
	if err != nil {
		return rollout.Forecast{}, err
	}
	known, err := releasesOf(item)
	if err != nil {
		return rollout.Forecast{}, err
	}
	s := released{templates: d.templates(config), work: &work{connection: on}}
	if !config.release() {
		// What the item has deployed as a release is taken over by the roll-out.
		found, _, err := d.templates(config).releasedBefore(ctx, item, on)
		if err != nil {
			return rollout.Forecast{}, err
		}
		forecast, err := rollout.PreviewItem(ctx, item, previewedItem{d.templates(config), on, found}, target.On(on), outlook)
		if err != nil {
			return forecast, err
		}
		return s.previewEarlier(ctx, item, known.earlier, forecast)
	}
	s.work.forced, s.work.foreseen = mustCorrect(item), ownersInPlan{outlook}
	forecast, err := s.preview(ctx, item, outlook)
	if err != nil {
		return forecast, err
	}
	return s.previewEarlier(ctx, item, known.deploys(config.reference()).earlier, forecast)
}

// PreviewRemoval returns what a removal of an item would make of each object on a cluster:
// those of its release, and those that it has deployed without one.
func (d Deployer) PreviewRemoval(ctx context.Context, object *v1alpha1.DeployItem, on *cluster.Connection, outlook rollout.Outlook) ([]diff.Object, error) {
	item := &deployer.Item{DeployItem: object}
	if item.Status.ProviderStatus == nil {
		return nil, nil
	}
	config, err := d.options.config(item)
	if err != nil {
		return nil, err
	}
	inStatus, hasRelease, err := mayHaveRelease(item)
	if err != nil {
		return nil, err
	}
	known, err := releasesOf(item)
	if err != nil {
		return nil, err
	}
	var found []diff.Object
	for _, earlier := range known.earlier {
		gone, err := released{templates: d.templates(config), work: &work{connection: on}}.previewUninstall(ctx, item, earlier)
		if err != nil {
			return nil, err
		}
		found = append(found, gone...)
	}
	if config, err = config.asDeployed(item); err != nil {
		return nil, err
	}
	if config.release() || hasRelease {
		store := released{templates: d.templates(config)}.store(on)
		history, err := store.History(ctx, config.Name)
		if err != nil {
			return nil, err
		}
		if len(history) > 0 && belongs(history[len(history)-1], item, inStatus || config.release()) {
			gone, err := release.PreviewRemoval(ctx, store, config.Name, item.Name, history)
			if err != nil {
				return nil, err
			}
			found = append(found, gone...)
		}
	}
	// Objects that an upgrade has kept have the marks of the release.
	more, err := rollout.PreviewRemoval(ctx, item, previewedItem{d.templates(config), on, nil}, target.On(on), outlook)
	return append(found, more...), err
}

// previewedItem is an item without a job: there are no checkpoints, and its cluster is
// known.
type previewedItem struct {
	templates
	on *cluster.Connection
	// released are the objects of its release, if it had one before.
	released apply.Inventory
}

// DesiredState implements rollout.Source.
func (u previewedItem) DesiredState(ctx context.Context, item *deployer.Item) (rollout.DesiredState, error) {
	return u.desiredState(ctx, item, u.on)
}

// Owner implements rollout.Source. A job relabels the objects of the release before.
func (u previewedItem) Owner(item *deployer.Item) rollout.Owner {
	owner := u.templates.Owner(item)
	owner.Release = ownership.HelmRelease{Name: u.config.Name, Namespace: u.config.Namespace}
	return owner
}

// Recorded implements rollout.Source.
func (u previewedItem) Recorded(item *deployer.Item) (apply.Inventory, error) {
	recorded, err := u.templates.Recorded(item)
	for _, entry := range u.released {
		recorded = append(recorded.Without(entry.Resource), entry)
	}
	return recorded, err
}

func (s released) preview(ctx context.Context, item *deployer.Item, outlook rollout.Outlook) (forecast rollout.Forecast, err error) {
	if s.work.chart, err = s.load(ctx, item); err != nil {
		return forecast, err
	}
	store := s.store(s.work.connection)
	history, err := store.History(ctx, s.config.Name)
	if err != nil {
		return forecast, err
	}
	marks := s.marks(item)
	action, err := s.decide(ctx, item, history, marks)
	if err != nil {
		return forecast, err
	}
	switch action {
	case release.Await:
		return forecast, fmt.Errorf("another client is changing release %s/%s", s.config.Namespace, s.config.Name)
	case release.Refuse:
		return forecast, s.refusal(history[len(history)-1])
	case release.Nothing:
		last := history[len(history)-1]
		missing, err := s.missing(ctx, store, item, last)
		if err != nil {
			return forecast, err
		}
		if !missing {
			return s.unchanged(ctx, item, last, outlook)
		}
		// An object was deleted by another client: the release is deployed again.
		action = release.Upgrade
	}
	desiredState, look, err := s.desiredRelease(ctx, item, history, action, marks)
	if err != nil {
		return forecast, err
	}
	if desiredState.Before, err = s.templates.Recorded(item); err != nil {
		return forecast, err
	}
	found, err := release.Preview(ctx, store, desiredState, planned{item: item, ask: s.work.foreseen, newest: &newest{store: store}}, history, action)
	if err != nil {
		return forecast, err
	}
	return rollout.ForecastWith(ctx, target.On(s.work.connection), found, look, outlook), nil
}

// missing reports whether an object that a job looks at does not exist: only then is a
// release deployed again in which nothing has changed.
func (s released) missing(ctx context.Context, store *storage.Store, item *deployer.Item, last *storage.Record) (bool, error) {
	look, err := s.unchangedLook(ctx, item, last)
	if err != nil {
		return false, err
	}
	return release.Missing(ctx, store, last, func(object *unstructured.Unstructured) bool {
		return slices.ContainsFunc(look.Objects, func(entry apply.Entry) bool {
			looked := entry.Object
			return looked.GroupVersionKind().GroupKind() == object.GroupVersionKind().GroupKind() && looked.GetName() == object.GetName() &&
				(object.GetNamespace() == "" || looked.GetNamespace() == object.GetNamespace())
		})
	})
}

// unchangedLook is the desired state that only reads a release without changes.
func (s released) unchangedLook(ctx context.Context, item *deployer.Item, last *storage.Record) (rollout.DesiredState, error) {
	deployed, err := last.Release()
	if err != nil {
		return rollout.DesiredState{}, err
	}
	rendered, err := s.render(ctx, item, s.work.connection, s.work.chart, moment{revision: last.Revision, upgrade: last.Revision > 1, skipSchema: true}, false)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	return s.look(rendered, deployed.Manifest, false)
}

// unchanged is what becomes of a release without changes: its values are read again.
func (s released) unchanged(ctx context.Context, item *deployer.Item, last *storage.Record, outlook rollout.Outlook) (rollout.Forecast, error) {
	look, err := s.unchangedLook(ctx, item, last)
	if err != nil {
		return rollout.Forecast{}, err
	}
	found, err := release.Unchanged(last)
	if err != nil {
		return rollout.Forecast{}, err
	}
	kept, err := s.previewKept(ctx, item, outlook)
	if err != nil {
		return rollout.Forecast{}, err
	}
	found = append(found, kept...)
	return rollout.ForecastWith(ctx, target.On(s.work.connection), found, look, outlook), nil
}

// previewKept is what becomes of what earlier jobs have kept.
func (s released) previewKept(ctx context.Context, item *deployer.Item, outlook rollout.Outlook) ([]diff.Object, error) {
	kept, err := s.templates.Recorded(item)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	found, err := rollout.PreviewRemoval(ctx, item, previewedItem{s.templates, s.work.connection, nil}, target.On(s.work.connection), outlook)
	for i := range found {
		found[i].Unwanted = true
	}
	return found, err
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
func (d Deployer) Released(ctx context.Context, object *v1alpha1.DeployItem, on *cluster.Connection, earlier apideployer.EarlierCluster) (apideployer.ManagedResourceStatusList, error) {
	item := &deployer.Item{DeployItem: object}
	config, err := d.options.config(item)
	if err != nil {
		return nil, err
	}
	store := &storage.Store{Cluster: target.On(on), Namespace: earlier.Release.Namespace, Now: d.options.Now}
	history, err := store.History(ctx, earlier.Release.Name)
	if err != nil || !d.templates(config).ours(item, history, earlier) {
		return nil, err
	}
	found, err := release.Inventory(ctx, store, earlier.Release.Name, item.Name, history)
	return apideployer.ManagedResourceStatusList(found), err
}
