package follow

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// followed counts the versions that Installations got.
var followed = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "landscaper_channel_versions_followed_total", Help: "Versions that Installations got from the Channels that they follow.",
})

// Metrics are those of this package.
func (r *Reconciler) Metrics() []prometheus.Collector { return []prometheus.Collector{followed} }

// SetupWithManager watches Installations that follow a Channel, and the Channels.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		Named("channelfollower").
		Watches(&v1alpha1.Installation{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(r.follows())).
		Watches(&fleetv1alpha1.Channel{}, handler.EnqueueRequestsFromMapFunc(r.followers), builder.WithPredicates(hasNews())).
		Complete(r)
}

// follows lets Installations through that follow a Channel, when something has changed that counts.
func (r *Reconciler) follows() predicate.Predicate {
	is := func(object client.Object) bool {
		return object.GetAnnotations()[fleetv1alpha1.ChannelAnnotation] != ""
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return is(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			if !is(e.ObjectNew) {
				return is(e.ObjectOld)
			}
			before, after := e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()
			return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
				before[fleetv1alpha1.ChannelAnnotation] != after[fleetv1alpha1.ChannelAnnotation] ||
				before[fleetv1alpha1.FollowedAnnotation] != after[fleetv1alpha1.FollowedAnnotation] ||
				before[v1alpha1.OperationAnnotation] != after[v1alpha1.OperationAnnotation]
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			r.forget(e.Object.GetUID())
			return false
		},
	}
}

// hasNews lets Channels through that have another version, or one for another specification.
func hasNews() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isChannel := e.ObjectOld.(*fleetv1alpha1.Channel)
		after, isToo := e.ObjectNew.(*fleetv1alpha1.Channel)
		return isChannel && isToo && (before.Status.Version != after.Status.Version || before.Status.ObservedGeneration != after.Status.ObservedGeneration || before.Spec.Component != after.Spec.Component)
	}}
}

// followers are the Installations that follow a Channel.
func (r *Reconciler) followers(ctx context.Context, object client.Object) []reconcile.Request {
	all := &v1alpha1.InstallationList{}
	if err := r.Client.List(ctx, all, client.InNamespace(object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache knows the kind, so this cannot happen
	}
	var requests []reconcile.Request
	for i := range all.Items {
		if all.Items[i].Annotations[fleetv1alpha1.ChannelAnnotation] == object.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: all.Items[i].Name}})
		}
	}
	return requests
}
