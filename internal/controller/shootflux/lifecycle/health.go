package lifecycle

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"time"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/state"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// conditionHealthy is the condition that gardenlet adds to that of the Shoot.
const conditionHealthy = "SystemComponentsHealthy"

// Health reports the health of an Extension's objects in its shoot. It reads from caches only, when
// an object there changes.
type Health struct {
	*Reconciler
}

// Reconcile implements reconcile.Reconciler.
//
// It writes conditions, and the Reconciler the rest of the same status: both writes are bound to
// the version that was read, so that the later one is retried.
func (h *Health) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	e := &gardener.Extension{}
	if err := h.extensionsNow.Get(ctx, request.NamespacedName, e); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !ours(e) || e.DeletionTimestamp != nil || migrated(e) || e.Status.LastOperation == nil {
		return ctrl.Result{}, nil
	}
	if last := e.Status.LastOperation; last.Type == gardener.Create && last.State == gardener.Processing {
		return ctrl.Result{}, nil // the operation reports the progress
	}
	var pieces []piece
	for _, name := range []string{InstallName, DataName} {
		resource, err := h.writer.Get(ctx, e.Namespace, name)
		if err != nil {
			return ctrl.Result{}, err
		}
		pieces = append(pieces, piece{name, managed.Judge(resource)})
	}
	e = e.DeepCopy()
	remembered, err := state.Read(e)
	found := healthOf(pieces, err == nil && remembered.Bootstrapped)
	err = h.report(ctx, e, func(status *gardener.ExtensionStatus) {
		status.Conditions = gardener.SetCondition(status.Conditions, found, h.now())
	})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}

// piece is a ManagedResource and its state.
type piece struct {
	name     string
	standing managed.Standing
}

// healthOf sums up the pieces. A shoot that has not come up yet is progressing, not unhealthy.
func healthOf(pieces []piece, bootstrapped bool) gardener.Condition {
	condition := gardener.Condition{
		Type: conditionHealthy, Status: gardener.ConditionTrue, Reason: string(reasons.HealthCheckSuccessful), Message: "All health checks successful",
	}
	for _, p := range pieces {
		if p.standing.Healthy {
			continue
		}
		if !p.standing.Exists && bootstrapped && p.name == InstallName {
			continue // another tool has installed it
		}
		condition.Status, condition.Reason = gardener.ConditionFalse, p.standing.Reason
		if !bootstrapped || p.standing.Unseen {
			condition.Status = gardener.ConditionProgressing
		}
		condition.Message = "ManagedResource " + p.name + ": " + p.standing.Message
		if p.name == DataName {
			// The message about a Secret may quote it.
			condition.Message = "ManagedResource " + p.name + " is not healthy: " + p.standing.Reason
		}
		return condition
	}
	return condition
}
