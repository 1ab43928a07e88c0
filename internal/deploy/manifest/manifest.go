// Package manifest is the deployer for Kubernetes objects that are written down in the
// configuration of a DeployItem. It reads the configuration; package rollout does the work.
package manifest

import (
	"context"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/schedule"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// Type is the type of the items.
	Type = v1alpha1.ManifestDeployItemType
	// Name names the deployer.
	Name = "manifest.deployer.landscaper.gardener.cloud"
	// ItemLabel is the label of deployed objects that says which item they belong to.
	ItemLabel = Name + "/deployitem"
	// fieldManager is the name under which fields of deployed objects are owned.
	fieldManager = "landscaper-manifest-deployer"
)

// Deployer deploys manifests.
type Deployer struct{ source }

// New returns the deployer.
func New(options rollout.Options) Deployer { return Deployer{source{options}} }

// Reconcile applies the objects of an item, removes those that are no longer
// listed, and waits until all are ready.
func (d Deployer) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	return rollout.Reconcile(ctx, item, d.source)
}

// Delete removes the objects that an item has deployed.
func (d Deployer) Delete(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	return rollout.Delete(ctx, item, d.source)
}

// Repetition implements deployer.Repeating.
func (d Deployer) Repetition(item *v1alpha1.DeployItem) (repetition deployer.Repetition) {
	if !schedule.Asks(item.Spec.Configuration) {
		return repetition
	}
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return repetition
	}
	return schedule.Repetition(config.ContinuousReconcile, config.Exports)
}

// ExportWatcher implements deployer.Repeating.
func (d Deployer) ExportWatcher(ctx context.Context, item *deployer.Item) (deployer.ExportWatcher, error) {
	return rollout.WatchExports(ctx, item, d.source)
}

// Drift implements deployer.Repeating.
func (d Deployer) Drift(ctx context.Context, item *deployer.Item) ([]string, error) {
	return rollout.Drift(ctx, item, d.source)
}

// source reads items for the roll-out.
type source struct{ rollout.Options }

// Name implements rollout.Source.
func (source) Name() string { return "manifest deployer" }

// Owner implements rollout.Source.
func (source) Owner(item *deployer.Item) rollout.Owner {
	return rollout.Owner{Label: ItemLabel, Item: item.Name, FieldManager: fieldManager}
}

// DesiredState implements rollout.Source.
func (s source) DesiredState(_ context.Context, item *deployer.Item) (rollout.DesiredState, error) {
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	item.Warn(string(reasons.UnknownFields), unknownFields(item.Spec.Configuration)...)
	return s.desiredState(config)
}

// Groups implements rollout.Source.
func (s source) Groups(item *deployer.Item) ([]deletion.Group, error) {
	if item.Spec.Configuration == nil {
		return nil, nil
	}
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return nil, err
	}
	groups, err := settingsOf(config).Groups(s.Options)
	return groups, configError(reasons.ValidateProviderConfiguration, err)
}

// Recorded implements rollout.Source.
func (source) Recorded(item *deployer.Item) (apply.Inventory, error) {
	return parseInventory(item.Status.ProviderStatus)
}

// Status implements rollout.Source.
func (source) Status(_ *deployer.Item, inventory apply.Inventory) any { return statusOf(inventory) }

// Preview returns what a deployment of an item would make of each object on a cluster, and
// what it would export.
func (d Deployer) Preview(ctx context.Context, item *v1alpha1.DeployItem, on *cluster.Connection, outlook rollout.Outlook) (rollout.Forecast, error) {
	return rollout.PreviewItem(ctx, &deployer.Item{DeployItem: item}, d.source, target.On(on), outlook)
}

// PreviewRemoval returns what a removal of an item would make of each object on a cluster.
func (d Deployer) PreviewRemoval(ctx context.Context, item *v1alpha1.DeployItem, on *cluster.Connection, outlook rollout.Outlook) ([]diff.Object, error) {
	return rollout.PreviewRemoval(ctx, &deployer.Item{DeployItem: item}, d.source, target.On(on), outlook)
}
