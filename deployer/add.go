package deployer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/responsibility"
	"go.landscaper.dev/internal/cluster/login"
	"go.landscaper.dev/internal/runtime/overtime"
	"go.landscaper.dev/internal/runtime/readthrough"
	"go.landscaper.dev/internal/runtime/reporter"
)

const defaultConcurrency = 30

// Add puts a deployer into a manager, whose scheme must know
// landscaper.gardener.cloud/v1alpha1.
func Add(mgr ctrl.Manager, options Options) error {
	r, err := newReconciler(options)
	if err != nil {
		return fmt.Errorf("add a deployer: %w", err)
	}
	if r.options.Clusters == nil {
		r.options.Clusters = NewClusters(mgr, "landscaper/"+cmp.Or(options.Version, "unknown"), Egress{})
	}
	r.client, r.live = mgr.GetClient(), mgr.GetAPIReader()
	r.events = reporter.RateLimited(mgr.GetEventRecorder(options.Name))
	r.followContexts = r.follow(mgr.GetCache(), &v1alpha1.Context{}, contextKind)
	if err := mgr.Add(r.lot); err != nil {
		return fmt.Errorf("add deployer %s: %w", options.Name, err)
	}
	if err := r.watch(mgr); err != nil {
		return fmt.Errorf("add deployer %s: %w", options.Name, err)
	}
	return nil
}

// newReconciler returns a reconciler without its clients.
func newReconciler(options Options) (*reconciler, error) {
	if options.Type == "" || options.Name == "" || options.Deployer == nil {
		return nil, errors.New("Options.Type, Options.Name and Options.Deployer are required")
	}
	selectors, err := responsibility.New(options.TargetSelectors)
	if err != nil {
		return nil, fmt.Errorf("deployer %s: %w", options.Name, err)
	}
	options.Identity = cmp.Or(options.Identity, fmt.Sprintf("%s-%d", options.Name, time.Now().Unix()))
	options.MaxConcurrent = cmp.Or(options.MaxConcurrent, defaultConcurrency)
	if options.Dispatcher == nil {
		options.Dispatcher = noDispatcher
	}
	return &reconciler{
		options: options, selectors: selectors, now: time.Now,
		lot: overtime.New(overtime.For(options.MaxConcurrent)),
	}, nil
}

// watch sets up all watches that enqueue an item: those of the item, its Target, the Secret of its
// Target, its siblings, and the objects that the deployer watches.
//
//nolint:contextcheck // an index lives as long as the manager, which has not started yet
func (r *reconciler) watch(mgr ctrl.Manager) error {
	byTarget, bySecret := "deployer.target/"+string(r.options.Type), "deployer.secret/"+string(r.options.Type)
	indexer := mgr.GetFieldIndexer()
	if err := indexer.IndexField(context.Background(), &v1alpha1.DeployItem{}, byTarget, r.targetOf); err != nil {
		return err
	}
	if err := indexer.IndexField(context.Background(), &v1alpha1.Target{}, bySecret, secretsOf); err != nil {
		return err
	}
	ofTarget := func(ctx context.Context, target client.Object) []reconcile.Request {
		return append(r.waiting(ctx, target.GetNamespace(), client.MatchingFields{byTarget: target.GetName()}), r.usersOf(target)...)
	}
	ofSecret := func(ctx context.Context, secret client.Object) []reconcile.Request {
		targets := &v1alpha1.TargetList{}
		if err := r.client.List(ctx, targets, client.InNamespace(secret.GetNamespace()), client.MatchingFields{bySecret: secret.GetName()}, readthrough.AsCached); err != nil {
			return nil
		}
		var requests []reconcile.Request
		for i := range targets.Items {
			requests = append(requests, ofTarget(ctx, &targets.Items[i])...)
		}
		return requests
	}
	ofOurType := predicate.NewPredicateFuncs(func(object client.Object) bool {
		item, ok := object.(*v1alpha1.DeployItem)
		return ok && item.Spec.Type == r.options.Type
	})
	line := lineIn(r.options.Order, r.atWork)
	r.line = line
	if len(r.selectors) == 0 {
		// With selectors, another process may be responsible for an item.
		r.options.Dispatcher.Register(r.options.Type, func(item *v1alpha1.DeployItem) {
			line.Observe(item)
			r.enqueue(keyOf(item))
		})
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named(r.options.Name).
		Watches(&v1alpha1.DeployItem{}, r.options.Dispatcher.Handler(line.Handler(&handler.EnqueueRequestForObject{})), builder.WithPredicates(ofOurType)).
		Watches(&v1alpha1.DeployItem{}, handler.EnqueueRequestsFromMapFunc(r.siblingsOf), builder.WithPredicates(partEnded)).
		Watches(&v1alpha1.Target{}, handler.EnqueueRequestsFromMapFunc(ofTarget), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(ofSecret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesRawSource(source.Func(func(_ context.Context, line workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			add := func(key types.NamespacedName) { line.Add(reconcile.Request{NamespacedName: key}) }
			r.queue.Store(&add)
			r.lot.Bind(line)
			return nil
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.options.MaxConcurrent, NewQueue: line.NewQueue(r.options.MaxConcurrent)}).
		Complete(r)
}

// follow returns a function whose first call starts the watch of a kind. A new object enqueues the
// items that have asked for it.
func (r *reconciler) follow(informers cache.Informers, kind client.Object, name string) func(context.Context) error {
	var mutex sync.Mutex
	var begun bool
	return func(ctx context.Context) error {
		mutex.Lock()
		defer mutex.Unlock()
		if begun {
			return nil
		}
		informer, err := informers.GetInformer(ctx, kind)
		if err != nil {
			return err
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
			if came, ok := object.(client.Object); ok {
				for _, key := range r.memory.users(need{name, client.ObjectKeyFromObject(came)}) {
					r.requeue(key)
				}
			}
		}})
		begun = err == nil
		return err
	}
}

// atWork reports whether an item of this type has a job. The job has the name of the Execution, so
// that all items of an older job are processed first.
func (r *reconciler) atWork(object client.Object) (types.NamespacedName, bool) {
	item, ok := object.(*v1alpha1.DeployItem)
	if !ok || item.Spec.Type != r.options.Type {
		return types.NamespacedName{}, false
	}
	of := item.Labels[v1alpha1.ExecutionManagedByLabel]
	if of == "" {
		of = item.Name
	}
	return types.NamespacedName{Namespace: item.Namespace, Name: of}, asksForWork(r.options.Dispatcher.Overlay(item))
}

// targetOf indexes the items of this type by the name of their Target.
func (r *reconciler) targetOf(object client.Object) []string {
	item, ok := object.(*v1alpha1.DeployItem)
	if !ok || item.Spec.Type != r.options.Type || !hasTarget(item) {
		return nil
	}
	return []string{item.Spec.Target.Name}
}

// secretsOf indexes Targets by the name of their Secret.
func secretsOf(object client.Object) []string {
	target, ok := object.(*v1alpha1.Target)
	if !ok {
		return nil
	}
	if name := login.SecretNamed(target); name != "" {
		return []string{name}
	}
	return nil
}

// usersOf returns the items that use a Target besides their own one, or that look for a Target of
// an earlier cluster, and lets them continue at once.
func (r *reconciler) usersOf(target client.Object) []reconcile.Request {
	requests := r.enqueueUsers(need{targetKind, client.ObjectKeyFromObject(target)})
	return append(requests, r.enqueueUsers(need{targetKind, types.NamespacedName{Namespace: target.GetNamespace()}})...)
}

// enqueueUsers returns the items that have asked for an object, and lets them continue at once.
func (r *reconciler) enqueueUsers(object need) []reconcile.Request {
	var requests []reconcile.Request
	for _, key := range r.memory.users(object) {
		r.memory.markTriggered(key)
		requests = append(requests, reconcile.Request{NamespacedName: key})
	}
	return requests
}

// waiting returns the items that have a job and use a Target, and lets them continue at once:
// whatever they wait for, a new access to the cluster may end the wait. A job that the deployer has
// started itself need not be in the cache yet.
func (r *reconciler) waiting(ctx context.Context, namespace string, target client.MatchingFields) []reconcile.Request {
	items := &v1alpha1.DeployItemList{}
	if err := r.client.List(ctx, items, client.InNamespace(namespace), target); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range items.Items {
		if key := keyOf(&items.Items[i]); r.memory.markTriggered(key) || asksForWork(r.options.Dispatcher.Overlay(&items.Items[i])) {
			requests = append(requests, reconcile.Request{NamespacedName: key})
		}
	}
	return requests
}
