package targetsync

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/runtime/workpool"
)

const (
	// runsPerWorker is how many runs there are at the same time for each worker: a run
	// mostly waits for its source.
	runsPerWorker = 4
	// mostRunsPerWorker is for when more namespaces than that have runs.
	mostRunsPerWorker = 64
	// runPreemptAfter is how long a run goes on before it may be preempted.
	runPreemptAfter = 2 * time.Minute
	// longestRun is more than the first run for a large project takes.
	longestRun = 15 * time.Minute
	// firstPause and longestPause are those between attempts to write to the resource
	// cluster.
	firstPause   = 100 * time.Millisecond
	longestPause = time.Minute
)

// queueOf is the queue of the controller.
type queueOf = workqueue.TypedRateLimitingInterface[reconcile.Request]

// SetupWithManager watches TargetSyncs and what they are made from and make: the
// Secrets and Targets in their namespaces.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, options controller.Options) error {
	most := runsPerWorker * max(options.MaxConcurrentReconciles, 1)
	r.wake = func(types.NamespacedName) {}
	r.RunAsync(ctx, manager.GetCache(), workpool.Options{
		MaxConcurrent: most, Most: mostRunsPerWorker * max(options.MaxConcurrentReconciles, 1), MaxPerNamespace: most, MaxResults: 4 * most, PreemptAfter: runPreemptAfter, Timeout: longestRun,
		Enqueue: func(key types.NamespacedName) { r.wake(key) },
	})
	if options.RateLimiter == nil {
		options.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstPause, longestPause)
	}
	changed := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(manager).
		Named("targetsync").
		Watches(&v1alpha1.TargetSync{}, handler.EnqueueRequestsFromMapFunc(r.ofNamespace), builder.WithPredicates(changed)).
		Watches(&v1alpha1.Target{}, r.MadeTarget()).
		WatchesMetadata(&corev1.Secret{}, r.MadeSecret()).
		WatchesRawSource(source.Func(func(_ context.Context, queue queueOf) error {
			r.wake = func(key types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: key}) }
			return nil
		})).
		WithOptions(options).
		Complete(r)
}

// RunAsync lets runs go on outside the workers. Metadata reads the metadata of Secrets from a cache.
// A caller without a manager passes the options.
func (r *Reconciler) RunAsync(ctx context.Context, metadata client.Reader, options workpool.Options) {
	r.metadata, r.runs = metadata, workpool.New[*outcome](ctx, options)
	if r.wake == nil {
		r.wake = options.Enqueue
	}
}

// MadeTarget handles the events of Targets.
func (r *Reconciler) MadeTarget() handler.EventHandler { return r.made(targetSubject) }

// MadeSecret handles the events of Secrets: what was made, and the access to the source.
func (r *Reconciler) MadeSecret() handler.EventHandler { return r.made(secretSubject) }

// ofNamespace returns all TargetSyncs of a namespace: only one TargetSync may work in a namespace.
func (r *Reconciler) ofNamespace(ctx context.Context, object client.Object) []reconcile.Request {
	requests := []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(object)}}
	for _, sync := range r.inNamespace(ctx, object.GetNamespace()) {
		if sync.Name != object.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&sync)})
		}
	}
	return requests
}

func (r *Reconciler) inNamespace(ctx context.Context, namespace string) []v1alpha1.TargetSync {
	all := &v1alpha1.TargetSyncList{}
	if err := r.Client.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return nil // the cache knows the kind, so this cannot happen
	}
	return all.Items
}

// made records changes of Secrets and Targets for the TargetSyncs of their namespace.
func (r *Reconciler) made(kind string) handler.EventHandler {
	tell := func(ctx context.Context, queue queueOf, version string, objects ...client.Object) {
		object := objects[0]
		for _, sync := range r.inNamespace(ctx, object.GetNamespace()) {
			if !concerns(kind, &sync, objects...) {
				continue
			}
			key := client.ObjectKeyFromObject(&sync)
			r.memories.notify(key, subject{kind, object.GetName()}, version)
			queue.Add(reconcile.Request{NamespacedName: key})
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue queueOf) {
			tell(ctx, queue, e.Object.GetResourceVersion(), e.Object)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue queueOf) {
			tell(ctx, queue, e.ObjectNew.GetResourceVersion(), e.ObjectNew, e.ObjectOld)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue queueOf) { tell(ctx, queue, gone, e.Object) },
	}
}

// concerns reports whether an object, as it is or as it was, matters to a TargetSync.
func concerns(kind string, sync *v1alpha1.TargetSync, objects ...client.Object) bool {
	for _, object := range objects {
		if syncplan.Ours(metav1.Object(object)) || kind == secretSubject && object.GetName() == sync.Spec.SecretRef.Name {
			return true
		}
	}
	return false
}
