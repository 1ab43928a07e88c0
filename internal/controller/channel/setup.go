package channel

import (
	"context"
	"maps"
	"time"

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

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/runtime/workpool"
)

const (
	// workers is how many Channels are reconciled at the same time: polls are made outside of them.
	workers = 2
	// maxPolls is how many polls are made at the same time, mostPolls where more namespaces than that have
	// some, and pollsPerNamespace those of one.
	maxPolls          = 8
	mostPolls         = 64
	pollsPerNamespace = 4
	// preemptAfter is how long a poll goes on before it may be ended for others.
	preemptAfter = time.Minute
	// longestPoll is more than the signatures of some versions with large contents take.
	longestPoll = 5 * time.Minute
	// counted is how long changes of Installations are collected: a Channel counts its followers once.
	counted = 2 * time.Second
)

type queueOf = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Background lets polls be made outside the workers.
func (r *Reconciler) Background(ctx context.Context, enqueue func(types.NamespacedName)) {
	r.wake = enqueue
	r.polls = workpool.New[*outcome](ctx, workpool.Options{
		MaxConcurrent: maxPolls, Most: mostPolls, MaxPerNamespace: pollsPerNamespace, MaxResults: 16 * maxPolls, PreemptAfter: preemptAfter, Timeout: longestPoll,
		Enqueue: func(key types.NamespacedName) { r.wake(key) },
	})
}

// SetupWithManager watches Channels, and the Installations that follow them.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, followers client.Object) error {
	r.Background(ctx, func(types.NamespacedName) {})
	changed := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(manager).
		Named("channel").
		Watches(&fleetv1alpha1.Channel{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(changed)).
		Watches(followers, countFollowers()).
		WatchesRawSource(source.Func(func(_ context.Context, queue queueOf) error {
			r.wake = func(key types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: key}) }
			return nil
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

// countFollowers enqueues a Channel when an Installation begins or ends to follow it.
func countFollowers() handler.EventHandler {
	enqueue := func(queue queueOf, objects ...client.Object) {
		for _, object := range objects {
			if name := object.GetAnnotations()[fleetv1alpha1.ChannelAnnotation]; name != "" {
				queue.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}, counted)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue queueOf) { enqueue(queue, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue queueOf) {
			if before, after := e.ObjectOld, e.ObjectNew; before.GetAnnotations()[fleetv1alpha1.ChannelAnnotation] != after.GetAnnotations()[fleetv1alpha1.ChannelAnnotation] ||
				!maps.Equal(before.GetLabels(), after.GetLabels()) || (before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil) {
				enqueue(queue, before, after)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, queue queueOf) { enqueue(queue, e.Object) },
	}
}
