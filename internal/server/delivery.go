package server

import (
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/deliverypolicy"
	"go.landscaper.dev/internal/landscape/plan"
	judge "go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/ancestor"
	"go.landscaper.dev/internal/server/feature"
)

// delivery is the feature DeliveryPolicies of a process. Without its kinds, there are no policies.
type delivery struct{ optional }

func newDelivery(config *Config) *delivery {
	return &delivery{optional{
		feature: feature.DeliveryPolicies, group: deliveryv1alpha1.GroupVersion, kinds: []string{"DeliveryPolicy", "DeliveryPlan", "DeliveryApproval"},
		on: config.Features.Enabled(feature.DeliveryPolicies), without: "no policy counts",
	}}
}

// reader reads the policies of a namespace from the cache; nil where none count, so that nothing is
// watched.
func (d *delivery) reader(manager ctrl.Manager) func(context.Context, string) ([]*deliveryv1alpha1.DeliveryPolicy, error) {
	if !d.counts() {
		return nil
	}
	return deliverypolicy.Read(manager.GetClient())
}

// deferred reports whether policies keep an item from being deployed again without a job; nil where none
// count. An item follows the root of its tree, as a job of the schedule would.
func (d *delivery) deferred(manager ctrl.Manager) func(context.Context, *v1alpha1.DeployItem) (bool, error) {
	policies := d.reader(manager)
	if policies == nil {
		return nil
	}
	cached := manager.GetClient()
	return func(ctx context.Context, item *v1alpha1.DeployItem) (bool, error) {
		all, err := policies(ctx, item.Namespace)
		if err != nil || len(all) == 0 {
			return false, err // the caller says what is asked
		}
		root, err := rootOf(ctx, cached, item)
		if err != nil || root == nil {
			return false, err // names the object
		}
		return !judge.Judge(all, root, v1alpha1.TriggeredBySchedule, time.Now()).Permitted(), nil
	}
}

// rootOf returns the root of the tree that an item is in, or nil.
func rootOf(ctx context.Context, cached client.Reader, item *v1alpha1.DeployItem) (*v1alpha1.Installation, error) {
	owner, ok := job.OwnerOf(item, "Execution")
	if !ok {
		return nil, nil
	}
	exec := &v1alpha1.Execution{}
	if err := cached.Get(ctx, client.ObjectKey{Namespace: item.Namespace, Name: owner.Name}, exec, client.UnsafeDisableDeepCopy); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	reference, ok := job.OwnerOf(exec, "Installation")
	if !ok {
		return nil, nil
	}
	parent, err := ancestor.Parent(ctx, cached, item.Namespace, reference)
	if err != nil || parent == nil {
		return nil, err // names the object
	}
	root, _, err := ancestor.Root(ctx, cached, parent, plan.MaxDepth)
	return root, err // names the object
}

// add adds the controller of the policies, or waits for their kind.
func (d *delivery) add(manager ctrl.Manager, config *Config) error {
	switch {
	case d.missing.Load():
		return manager.Add(d)
	case !d.on || !config.runs(Installations):
		return nil
	}
	reconciler := &deliverypolicy.Reconciler{Client: manager.GetClient(), Now: time.Now}
	if err := reconciler.SetupWithManager(manager); err != nil {
		return fmt.Errorf("set up the DeliveryPolicy controller: %w", err)
	}
	return config.register(reconciler.Metrics()...)
}
