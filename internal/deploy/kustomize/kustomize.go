// Package kustomize is the deployer for kustomizations. It loads the source that an item names and
// makes objects of it; package rollout does the rest, as for manifests. No Flux is needed on any
// cluster.
package kustomize

import (
	"context"
	"errors"

	apideployer "go.landscaper.dev/api/deployer"
	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/kustomize/build"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/schedule"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/sandbox"
)

const (
	// Type is the type of the items.
	Type = v1alpha1.KustomizeDeployItemType
	// Name names the deployer.
	Name = "kustomize.deployer.landscaper.gardener.cloud"
	// ItemLabel is the label of deployed objects that says which item they belong to.
	ItemLabel = Name + "/deployitem"
	// fieldManager is the name under which fields of deployed objects are owned.
	fieldManager = "landscaper-kustomize-deployer"
)

// Sources loads the files that items name.
type Sources interface {
	Load(ctx context.Context, item *v1alpha1.DeployItem, source *api.Source) (*memfs.Tree, error)
}

// Options are the rules of a process for all its items.
type Options struct {
	rollout.Options
	// Sources loads sources.
	Sources Sources
	// Builder builds them; nil builds them in this process.
	Builder build.Builder
}

func (o Options) builder() build.Builder {
	if o.Builder == nil {
		return build.Here{}
	}
	return o.Builder
}

// Deployer deploys kustomizations.
type Deployer struct{ objects }

// New returns the deployer.
func New(options Options) Deployer { return Deployer{objects{options}} }

// Reconcile applies the objects of an item, removes those that are no longer in its
// kustomization, and waits until all are ready.
func (d Deployer) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	return rollout.Reconcile(ctx, item, d.objects)
}

// Delete removes the objects that an item has deployed. The source is not needed.
func (d Deployer) Delete(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	return rollout.Delete(ctx, item, d.objects)
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
	return rollout.WatchExports(ctx, item, settings(d))
}

// Drift implements deployer.Repeating.
func (d Deployer) Drift(ctx context.Context, item *deployer.Item) ([]string, error) {
	return rollout.Drift(ctx, item, d.objects)
}

// Preview returns what a deployment of an item would make of each object on a cluster, and
// what it would export.
func (d Deployer) Preview(ctx context.Context, item *v1alpha1.DeployItem, on *cluster.Connection, outlook rollout.Outlook) (rollout.Forecast, error) {
	return rollout.PreviewItem(ctx, &deployer.Item{DeployItem: item}, d.objects, target.On(on), outlook)
}

// PreviewRemoval returns what a removal of an item would make of each object on a cluster.
func (d Deployer) PreviewRemoval(ctx context.Context, item *v1alpha1.DeployItem, on *cluster.Connection, outlook rollout.Outlook) ([]diff.Object, error) {
	return rollout.PreviewRemoval(ctx, &deployer.Item{DeployItem: item}, d.objects, target.On(on), outlook)
}

// objects is where the roll-out gets objects from.
type objects struct{ Options }

// Name implements rollout.Source.
func (objects) Name() string { return "kustomize deployer" }

// Owner implements rollout.Source.
func (objects) Owner(item *deployer.Item) rollout.Owner {
	return rollout.Owner{Label: ItemLabel, Item: item.Name, FieldManager: fieldManager}
}

// DesiredState implements rollout.Source.
func (s objects) DesiredState(ctx context.Context, item *deployer.Item) (rollout.DesiredState, error) {
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	desiredState, err := s.check(config)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	loaded, err := s.Sources.Load(ctx, item.DeployItem, &config.Source)
	if err != nil {
		return rollout.DesiredState{}, err // says what was done
	}
	built, err := s.builder().Build(ctx, item.Namespace, loaded, config)
	if err != nil {
		if ended := (*sandbox.EndedError)(nil); ctx.Err() != nil || errors.As(err, &ended) {
			return rollout.DesiredState{}, job.Wrap(err, buildOperation, reasons.Build, "")
		}
		return rollout.DesiredState{}, job.Wrap(err, buildOperation, reasons.Build, "", v1alpha1.ErrorConfigurationProblem)
	}
	for _, object := range built {
		position := object.GetKind() + " " + object.GetName() + " of the kustomization"
		desiredState.Objects = append(desiredState.Objects, apply.Entry{Position: position, Policy: apideployer.ManagePolicy, Object: object})
	}
	return desiredState, nil
}

// Groups implements rollout.Source.
func (s objects) Groups(item *deployer.Item) ([]deletion.Group, error) {
	if item.Spec.Configuration == nil {
		return nil, nil
	}
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return nil, err
	}
	groups, err := settingsOf(config).Groups(s.Options.Options)
	return groups, configError(reasons.ValidateProviderConfiguration, err)
}

// Recorded implements rollout.Source.
func (objects) Recorded(item *deployer.Item) (apply.Inventory, error) {
	return parseInventory(item.Status.ProviderStatus)
}

// Status implements rollout.Source.
func (objects) Status(_ *deployer.Item, inventory apply.Inventory) any { return statusOf(inventory) }

// settings is a source for those who only want to know what an item exports: its files
// are not loaded.
type settings struct{ objects }

// DesiredState implements rollout.Source.
func (s settings) DesiredState(_ context.Context, item *deployer.Item) (rollout.DesiredState, error) {
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return rollout.DesiredState{}, err
	}
	return s.check(config)
}
