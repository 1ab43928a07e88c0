package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
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

// deliveryKinds are the kinds that the feature DeliveryPolicies needs.
var deliveryKinds = []string{"DeliveryPolicy", "DeliveryPlan", "DeliveryApproval"}

// servedCheck is how often a server whose cluster lacks the kind looks for it.
const servedCheck = 10 * time.Second

// errServed ends a server that has begun without the kind: a cache cannot be added to the controllers
// later.
var errServed = errors.New("the cluster serves the kinds of delivery.landscaper.dev now: the server starts again with it")

// delivery is the feature DeliveryPolicies of a process.
type delivery struct {
	on bool
	// missing says that the cluster does not serve the kind, so that there are no policies. The server
	// works without them, and is not ready.
	missing atomic.Bool
	// kind is one that the cluster does not serve.
	kind string

	mapper meta.RESTMapper
	log    logr.Logger
}

func newDelivery(config *Config) *delivery {
	return &delivery{on: config.Features.Enabled(feature.DeliveryPolicies)}
}

// look finds out whether the cluster serves the kind.
func (d *delivery) look(ctx context.Context, mapper meta.RESTMapper, retries wait.Backoff, log logr.Logger) error {
	if !d.on {
		return nil
	}
	d.mapper, d.log = mapper, log
	kind, err := awaitDelivery(ctx, mapper, &retries, log)
	if !errors.Is(err, errNotServed) {
		return err // names the kind
	}
	d.kind = kind
	d.missing.Store(true)
	log.Error(err, d.trouble())
	return nil
}

// awaitDelivery waits until the cluster serves all kinds, and returns the one that it does not.
func awaitDelivery(ctx context.Context, mapper meta.RESTMapper, retries *wait.Backoff, log logr.Logger) (string, error) {
	for _, kind := range deliveryKinds {
		if err := awaitServed(ctx, mapper, deliveryv1alpha1.GroupVersion.WithKind(kind), retries, log); err != nil {
			return kind, err // names the kind
		}
	}
	return "", nil
}

// trouble says why the server is not ready; "" if nothing is missing.
func (d *delivery) trouble() string {
	if d == nil || !d.missing.Load() {
		return ""
	}
	return fmt.Sprintf("the feature %s is on, and the cluster does not serve kind %s, so that no policy counts: run \"landscaper install --feature-gates=%[1]s=true\"", feature.DeliveryPolicies, d.kind)
}

// reader reads the policies of a namespace from the cache; nil where none count, so that nothing is
// watched.
func (d *delivery) reader(manager ctrl.Manager) func(context.Context, string) ([]*deliveryv1alpha1.DeliveryPolicy, error) {
	if !d.on || d.missing.Load() {
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

// Start implements manager.Runnable: it waits until the cluster serves the kind.
func (d *delivery) Start(ctx context.Context) error {
	ticker := time.NewTicker(servedCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if _, err := awaitDelivery(ctx, d.mapper, &wait.Backoff{}, d.log); err == nil {
			return errServed
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: each replica has caches of its own.
func (d *delivery) NeedLeaderElection() bool { return false }
