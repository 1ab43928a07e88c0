// Package manifest is the deployer for Kubernetes objects that are written down in
// the configuration of a DeployItem. It reads the configuration; the room rollout
// does the work.
package manifest

import (
	"bytes"
	"context"
	"fmt"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/schedule"
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

// Options are the rules of a process for all its items.
type Options struct {
	// Readiness is the mode of the default readiness check of items that name none.
	Readiness apideployer.ReadinessMode
	// Protected are namespaces that no deletion group may empty.
	Protected []string
}

// Deployer deploys manifests.
type Deployer struct{ source }

// New returns the deployer.
func New(options Options) Deployer { return Deployer{source{options}} }

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
	// Most items ask for nothing, and this is asked often.
	if item.Spec.Configuration == nil || !asksForMore(item.Spec.Configuration.Raw) {
		return repetition
	}
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return repetition
	}
	repetition.Watch = config.Exports != nil && config.Exports.Watch && len(config.Exports.Exports) > 0
	next, err := schedule.Compile(config.ContinuousReconcile)
	if err != nil || next == nil {
		return repetition
	}
	drift := config.ContinuousReconcile.Drift
	repetition.Next, repetition.Compare, repetition.Correct = next, drift != "", drift == apideployer.DriftCorrect
	return repetition
}

// asksForMore reports whether a configuration may ask for more than a deployment.
func asksForMore(config []byte) bool {
	return bytes.Contains(config, []byte(`"continuousReconcile"`)) || bytes.Contains(config, []byte(`"watch"`))
}

// Lookout implements deployer.Repeating.
func (d Deployer) Lookout(ctx context.Context, item *deployer.Item) (deployer.Lookout, error) {
	return rollout.LookOut(ctx, item, d.source)
}

// Drift implements deployer.Repeating.
func (d Deployer) Drift(ctx context.Context, item *deployer.Item) ([]string, error) {
	return rollout.Drift(ctx, item, d.source)
}

// source reads items for the roll-out.
type source struct{ Options }

// Name implements rollout.Source.
func (source) Name() string { return "manifest deployer" }

// Owner implements rollout.Source.
func (source) Owner(item *deployer.Item) rollout.Owner {
	return rollout.Owner{Label: ItemLabel, Item: item.Name, FieldManager: fieldManager}
}

// Wish implements rollout.Source.
func (s source) Wish(_ context.Context, item *deployer.Item) (rollout.Wish, error) {
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return rollout.Wish{}, err
	}
	if err := s.validate(config); err != nil {
		return rollout.Wish{}, err
	}
	return s.wish(config)
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
	groups, err := deletion.Compile(config.DeletionGroups, s.Protected)
	if err != nil {
		return nil, configError(validateConfiguration, fmt.Errorf("deletionGroups%w", err))
	}
	return groups, nil
}

// Recorded implements rollout.Source.
func (source) Recorded(item *deployer.Item) (apply.Inventory, error) {
	return parseInventory(item.Status.ProviderStatus)
}

// Status implements rollout.Source.
func (source) Status(_ *deployer.Item, inventory apply.Inventory) any { return statusOf(inventory) }
