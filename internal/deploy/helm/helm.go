// Package helm is the deployer for Helm charts. A chart becomes a release, or, without
// one, objects that are rolled out like manifests.
package helm

import (
	"context"
	"time"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/ignored"
	"go.landscaper.dev/internal/deploy/manifest"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/schedule"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// Type is the type of the items.
	Type = v1alpha1.HelmDeployItemType
	// Name names the deployer.
	Name = "helm.deployer.landscaper.gardener.cloud"
	// ItemLabel is the label of objects that are deployed without a release. They also have that of
	// the manifest deployer, as upstream.
	ItemLabel = Name + "/deployitem"
	// stageName is how checkpoints name the deployer.
	stageName = "helm deployer"
)

// Charts loads the charts that items name.
type Charts interface {
	Load(ctx context.Context, item *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*chart.Chart, error)
}

// Options are the rules of a process for all its items.
type Options struct {
	rollout.Options
	// Charts loads charts.
	Charts Charts
	// Renderer renders them; nil renders them in this process.
	Renderer render.Renderer
	// Now is the clock.
	Now func() time.Time
}

// Deployer deploys charts.
type Deployer struct{ options Options }

// New returns the deployer.
func New(options Options) Deployer {
	if options.Now == nil {
		options.Now = time.Now
	}
	return Deployer{options}
}

// Reconcile deploys the chart of an item and waits until its objects are ready.
func (d Deployer) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	config, err := d.options.config(item)
	if err != nil {
		return deployer.Result{}, err
	}
	if err := d.place(ctx, item, config); err != nil {
		return deployer.Result{}, err
	}
	if item.Remembered() == nil {
		item.Warn(string(reasons.UnknownFields), ignored.Fields[helmv1alpha1.ProviderConfiguration](item.Spec.Configuration)...)
	}
	if config.release() {
		return d.reconcileRelease(ctx, item, config)
	}
	if waiting, err := d.leaveReleases(ctx, item, config); err != nil || len(waiting) > 0 {
		return deployer.WaitFor(waiting...), err
	}
	return rollout.Reconcile(ctx, item, d.templates(config))
}

// Delete removes what an item has deployed.
func (d Deployer) Delete(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	if item.Status.ProviderStatus == nil {
		return deployer.Done(), nil
	}
	config, err := d.options.config(item)
	if err != nil {
		return deployer.Result{}, err
	}
	if err := d.placeBeforeRemoval(ctx, item, config); err != nil {
		return deployer.Result{}, err
	}
	// Objects that were deployed in the other way, before the configuration was changed, are deleted,
	// too.
	_, hasRelease, err := mayHaveRelease(item)
	if err != nil {
		return deployer.Result{}, err
	}
	if waiting, err := d.deleteEarlier(ctx, item, config); err != nil || len(waiting) > 0 {
		return deployer.WaitFor(waiting...), err
	}
	if config.release() || hasRelease {
		if result, err := d.deleteRelease(ctx, item, config); err != nil || len(result.WaitingFor) > 0 {
			return result, err
		}
	}
	recorded, err := d.templates(config).Recorded(item)
	if err != nil || (config.release() && len(recorded) == 0 && len(item.EarlierClusters()) == 0) {
		return deployer.Done(), err
	}
	return rollout.Delete(ctx, item, d.templates(config))
}

// templates is where the roll-out of an item without a release gets its objects from.
func (d Deployer) templates(config *config) templates { return templates{d.options, config} }

// Repetition implements deployer.Repeating.
func (d Deployer) Repetition(item *v1alpha1.DeployItem) (repetition deployer.Repetition) {
	if !schedule.Asks(item.Spec.Configuration) {
		return repetition
	}
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return repetition
	}
	return schedule.Repetition(config.ContinuousReconcile, config.resourceExports())
}

// ExportWatcher implements deployer.Repeating.
func (d Deployer) ExportWatcher(ctx context.Context, item *deployer.Item) (deployer.ExportWatcher, error) {
	config, err := d.options.config(item)
	if err != nil {
		return nil, err
	}
	return rollout.WatchExports(ctx, item, d.source(config))
}

// Drift implements deployer.Repeating.
func (d Deployer) Drift(ctx context.Context, item *deployer.Item) ([]string, error) {
	config, err := d.options.config(item)
	if err != nil {
		return nil, err
	}
	return rollout.Drift(ctx, item, d.source(config))
}

// source is where the objects of an item come from.
func (d Deployer) source(config *config) rollout.Source {
	if config.release() {
		return released{templates: d.templates(config)}
	}
	return d.templates(config)
}

// owner marks objects that are deployed without a release.
func owner(item *deployer.Item) rollout.Owner {
	return rollout.Owner{
		Label: ItemLabel, Item: item.Name, Labels: map[string]string{manifest.ItemLabel: item.Name}, FieldManager: fieldManager,
	}
}
