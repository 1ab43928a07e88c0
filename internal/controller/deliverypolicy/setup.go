package deliverypolicy

import (
	"context"
	"maps"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/model/predicates"
)

// collected is how long changes of Installations are collected: at the end of a freeze, a thousand of
// them begin at once, and each policy counts them once.
const collected = 2 * time.Second

// SetupWithManager watches policies and what they count.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		Named("deliverypolicy").
		Watches(&deliveryv1alpha1.DeliveryPolicy{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.Installation{}, r.counted()).
		Complete(r)
}

// counted enqueues the policies of a namespace when a root is created, deleted, selected otherwise, or
// begins or ends to be deferred.
func (r *Reconciler) counted() handler.EventHandler {
	type line = workqueue.TypedRateLimitingInterface[reconcile.Request]
	enqueue := func(ctx context.Context, object client.Object, queue line) {
		list := &deliveryv1alpha1.DeliveryPolicyList{}
		if err := r.Client.List(ctx, list, client.InNamespace(object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
			return
		}
		for i := range list.Items {
			queue.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])}, collected)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue line) { enqueue(ctx, e.Object, queue) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue line) {
			if changesCount(e.ObjectOld, e.ObjectNew) {
				enqueue(ctx, e.ObjectNew, queue)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue line) { enqueue(ctx, e.Object, queue) },
	}
}

// changesCount reports whether a change of an Installation may change what a policy counts.
func changesCount(before, after client.Object) bool {
	was, isInst := before.(*v1alpha1.Installation)
	is, isToo := after.(*v1alpha1.Installation)
	if !isInst || !isToo {
		return false
	}
	return predicates.IsRoot(was) != predicates.IsRoot(is) || predicates.ContextOf(was) != predicates.ContextOf(is) || !maps.Equal(was.Labels, is.Labels) ||
		(delivery.Deferral(was.Status.Conditions) == nil) != (delivery.Deferral(is.Status.Conditions) == nil)
}
