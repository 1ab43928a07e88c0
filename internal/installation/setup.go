package installation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
)

// The pauses between attempts after an error. A registry or an API server that is
// back is used soon after.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 30 * time.Second
)

// SetupWithManager watches Installations and what wakes them: their Execution, and
// the default Context that they may wait for.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, options controller.Options) error {
	for _, kind := range []client.Object{&v1alpha1.DataObject{}, &v1alpha1.Target{}} {
		if err := manager.GetFieldIndexer().IndexField(ctx, kind, copiesByScope, scopeOf); err != nil {
			return fmt.Errorf("index copies of imports: %w", err)
		}
	}
	if options.RateLimiter == nil {
		options.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstPause, longestPause)
	}
	ofExecution := handler.EnqueueRequestForOwner(manager.GetScheme(), manager.GetRESTMapper(), &v1alpha1.Installation{}, handler.OnlyControllerOwner())
	return ctrl.NewControllerManagedBy(manager).
		Named("installation").
		Watches(&v1alpha1.Installation{}, r.Order.Handler(&handler.EnqueueRequestForObject{})).
		Watches(&v1alpha1.Execution{}, r.Order.Handler(ofExecution)).
		Watches(&v1alpha1.Context{}, handler.EnqueueRequestsFromMapFunc(r.waitingForContext)).
		WithOptions(options).
		Complete(r)
}

// waitingForContext returns the Installations that a new Context lets go on.
func (r *Reconciler) waitingForContext(ctx context.Context, object client.Object) []reconcile.Request {
	if object.GetName() != v1alpha1.DefaultContextName {
		return nil
	}
	list := &v1alpha1.InstallationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(object.GetNamespace())); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Status.InstallationPhase == v1alpha1.InstallationPhases.Init {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: list.Items[i].Namespace, Name: list.Items[i].Name}})
		}
	}
	return requests
}

func hasFinalizer(inst *v1alpha1.Installation) bool {
	return controllerutil.ContainsFinalizer(inst, v1alpha1.Finalizer)
}

func ownedBy(inst *v1alpha1.Installation) func(metav1.OwnerReference) bool {
	return func(owner metav1.OwnerReference) bool { return owner.UID == inst.UID }
}

// changesMore reports whether a merge patch changes anything but asserts the
// version.
func changesMore(patch []byte) bool {
	var fields map[string]map[string]any
	if json.Unmarshal(patch, &fields) != nil {
		return true
	}
	delete(fields["metadata"], "resourceVersion")
	return len(fields) > 1 || len(fields["metadata"]) > 0
}
