// Package manifest is the deployer for Kubernetes objects that are written down in
// the configuration of a DeployItem.
package manifest

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
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
type Deployer struct{}

// New returns the deployer.
func New() Deployer { return Deployer{} }

// Reconcile applies the objects of an item, removes those that are no longer
// listed, and waits until all are ready.
func (Deployer) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	target, err := item.Cluster(ctx)
	if err != nil {
		return deployer.Result{}, err
	}
	work, ok := item.Remembered().(*deployment)
	if !ok || work.target != target {
		if work, err = begin(ctx, item, target); err != nil {
			awaitKinds(ctx, item, target, err)
			return deployer.Result{}, err
		}
		item.Remember(work)
	}
	waiting, err := work.advance(ctx, item)
	// Also after a failure: what is known now must not be found out again.
	if statusErr := item.SetProviderStatus(statusOf(work.inventory)); err == nil {
		err = statusErr
	}
	return deployer.WaitFor(waiting...), err
}

// begin finds out what is to be done and records it before anything is written to
// the target.
func begin(ctx context.Context, item *deployer.Item, target *deployer.Connection) (*deployment, error) {
	if err := item.Checkpoint(ctx, "manifest deployer: start reconcile"); err != nil {
		return nil, err
	}
	config, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return nil, err
	}
	if err := validate(config); err != nil {
		return nil, err
	}
	list, err := entries(config)
	if err != nil {
		return nil, err
	}
	recorded, err := parseInventory(item.Status.ProviderStatus)
	if err != nil {
		return nil, err
	}
	if err := item.Checkpoint(ctx, "deployer: process manifests"); err != nil {
		return nil, err
	}
	objects, err := apply.Prepare(ctx, target, list, recorded)
	if err != nil {
		return nil, err
	}
	work := &deployment{
		target:    target,
		applier:   &apply.Applier{Target: target, Strategy: config.UpdateStrategy, Labels: map[string]string{ItemLabel: item.Name}, OwnerLabel: ItemLabel, FieldManager: fieldManager},
		objects:   objects,
		applied:   make([]bool, len(objects)),
		inventory: recorded.With(objects),
		ending:    deletion.New(target, nil, deletion.Owner{}, item.Wake),
		checks:    !config.ReadinessChecks.DisableDefault,
	}
	if len(work.inventory) > 0 {
		if err := item.Record(ctx, statusOf(work.inventory)); err != nil {
			return nil, err
		}
	}
	return work, nil
}

// awaitKinds looks out for new kinds if an error says that one is not known. The
// error is tried again later in any case: kinds also come in other ways.
func awaitKinds(ctx context.Context, item *deployer.Item, target *deployer.Connection, err error) {
	if !apply.IsUnknownKind(err) {
		return
	}
	if _, ok := item.Remembered().(*kindsToCome); ok {
		return
	}
	definitions, err := target.Mapping(ctx, schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: apply.CRDKind})
	if err == nil {
		item.Remember(&kindsToCome{target.SubscribeAny(definitions, item.Wake)})
	}
}

// kindsToCome wakes an item when the cluster learns a new kind.
type kindsToCome struct{ subscription io.Closer }

// Close implements io.Closer.
func (k *kindsToCome) Close() error { return k.subscription.Close() }

// Delete removes the objects that an item has deployed.
func (Deployer) Delete(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	inventory, err := parseInventory(item.Status.ProviderStatus)
	if err != nil || len(inventory) == 0 {
		return deployer.Done(), err
	}
	target, err := item.Cluster(ctx)
	if err != nil {
		return deployer.Result{}, err
	}
	work, ok := item.Remembered().(*removal)
	if !ok || work.target != target {
		if err := item.Checkpoint(ctx, "manifest deployer: start delete"); err != nil {
			return deployer.Result{}, err
		}
		work = &removal{target: target, Deletion: deletion.New(target, inventory, deletion.Owner{Label: ItemLabel, Name: item.Name}, item.Wake)}
		item.Remember(work)
	}
	if err := item.Checkpoint(ctx, "deployer: delete resources"); err != nil {
		return deployer.Result{}, err
	}
	waiting, err := work.Continue(ctx)
	for _, gone := range work.Gone() {
		inventory = inventory.Without(gone)
	}
	if statusErr := item.SetProviderStatus(statusOf(inventory)); err == nil {
		err = statusErr
	}
	return deployer.WaitFor(waiting...), err
}

// removal is a deletion under way.
type removal struct {
	target *deployer.Connection
	*deletion.Deletion
}

// Close implements io.Closer.
func (r *removal) Close() error {
	r.Deletion.Close()
	return nil
}
