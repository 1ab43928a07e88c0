package fleet

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/reporter"
)

// collected is how long changes of other objects are collected: a thousand jobs change at the same time.
const collected = 200 * time.Millisecond

type queueOf = workqueue.TypedRateLimitingInterface[reconcile.Request]

// SetupWithManager watches Fleets, and what they are made from and make.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	changed := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(manager).
		Named("fleet").
		Watches(&fleetv1alpha1.Fleet{}, r.fleets(), builder.WithPredicates(changed)).
		Watches(&v1alpha1.Installation{}, r.on(concernsInstallation)).
		Watches(&v1alpha1.Target{}, r.on(concernsTarget)).
		Watches(&fleetv1alpha1.Channel{}, r.on(concernsChannel)).
		Watches(&v1alpha1.DataObject{}, r.on(concernsDataObject)).
		WithOptions(controller.Options{RateLimiter: reporter.NewRateLimiter()}).
		Complete(r)
}

// fleets handles the events of Fleets. The end of one may let others have its Installations.
func (r *Reconciler) fleets() handler.EventHandler {
	self := func(object client.Object, queue queueOf) {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue queueOf) { self(e.Object, queue) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue queueOf) { self(e.ObjectNew, queue) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue queueOf) {
			self(e.Object, queue)
			r.each(ctx, e.Object, queue, func(*fleetv1alpha1.Fleet) bool { return true })
		},
	}
}

// each enqueues the Fleets of a namespace that something concerns.
func (r *Reconciler) each(ctx context.Context, object client.Object, queue queueOf, concerned func(*fleetv1alpha1.Fleet) bool) {
	list := &fleetv1alpha1.FleetList{}
	if err := r.Cache.List(ctx, list, client.InNamespace(object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return // the cache knows the kind, so this cannot happen
	}
	for i := range list.Items {
		if concerned(&list.Items[i]) {
			queue.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])}, collected)
		}
	}
}

// concerns reports whether a change concerns a Fleet. Before is nil for an object that is created or deleted.
type concerns func(of *fleetv1alpha1.Fleet, before, after client.Object) bool

func (r *Reconciler) on(concerns concerns) handler.EventHandler {
	handle := func(ctx context.Context, before, after client.Object, queue queueOf) {
		r.each(ctx, after, queue, func(f *fleetv1alpha1.Fleet) bool { return concerns(f, before, after) })
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue queueOf) { handle(ctx, nil, e.Object, queue) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue queueOf) {
			handle(ctx, e.ObjectOld, e.ObjectNew, queue)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue queueOf) { handle(ctx, nil, e.Object, queue) },
	}
}

func metadataChanged(before, after client.Object) bool {
	return !maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() || !equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences())
}

// concernsInstallation: those of the Fleet, and those that may have a name of its.
func concernsInstallation(of *fleetv1alpha1.Fleet, before, after client.Object) bool {
	owned := func(object client.Object) bool {
		return object != nil && object.GetAnnotations()[fleetv1alpha1.FleetUIDAnnotation] == string(of.UID)
	}
	mine := owned(before) || owned(after)
	if !mine && !strings.HasPrefix(after.GetName(), of.Name[:min(len(of.Name), 40)]) {
		return false
	}
	was, is := before.(*v1alpha1.Installation)
	now, isToo := after.(*v1alpha1.Installation)
	if !is || !isToo || metadataChanged(was, now) {
		return true
	}
	return mine && (was.Generation != now.Generation || was.Status.InstallationPhase != now.Status.InstallationPhase ||
		was.Status.JobID != now.Status.JobID || was.Status.JobIDFinished != now.Status.JobIDFinished || was.Status.ObservedGeneration != now.Status.ObservedGeneration ||
		delivery.DeferralMessage(was.Status.Conditions) != delivery.DeferralMessage(now.Status.Conditions))
}

func concernsTarget(_ *fleetv1alpha1.Fleet, before, after client.Object) bool {
	return before == nil || metadataChanged(before, after)
}

func concernsChannel(of *fleetv1alpha1.Fleet, before, after client.Object) bool {
	if of.Spec.Version == nil || of.Spec.Version.Channel != after.GetName() {
		return false
	}
	was, is := before.(*fleetv1alpha1.Channel)
	now, isToo := after.(*fleetv1alpha1.Channel)
	return !is || !isToo || was.Status.Version != now.Status.Version || was.Spec.Component != now.Spec.Component
}

// concernsDataObject: whether there is one, not what it has.
func concernsDataObject(of *fleetv1alpha1.Fleet, before, after client.Object) bool {
	return before == nil && after.GetLabels()[v1alpha1.DataObjectContextLabel] == "" &&
		slices.ContainsFunc(of.Spec.Values, func(v fleetv1alpha1.FleetValue) bool { return v.DataObject != "" })
}
