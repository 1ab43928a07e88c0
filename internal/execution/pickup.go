package execution

import (
	"context"
	"fmt"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

// pickupDeadline returns when a deployer must have taken an item up, or false if
// there is nothing to wait for: the item is not at work, or a deployer has it.
func pickupDeadline(item *v1alpha1.DeployItem, limit time.Duration) (time.Time, bool) {
	status := &item.Status
	if limit <= 0 || !job.Unfinished(status.JobID, status.JobIDFinished) || status.JobIDGenerationTime == nil {
		return time.Time{}, false
	}
	if status.LastReconcileTime != nil && !status.LastReconcileTime.Before(status.JobIDGenerationTime) {
		return time.Time{}, false
	}
	return status.JobIDGenerationTime.Add(limit), true
}

// watchPickup fails the items that no deployer has taken up in time and returns
// how long to wait until the next one has to be looked at; 0 means for ever.
func (r *Reconciler) watchPickup(ctx context.Context, s *snapshot) (time.Duration, error) {
	now := r.Now()
	var next time.Duration
	for _, item := range s.items {
		deadline, waiting := pickupDeadline(item, r.PickupTimeout)
		if !waiting {
			continue
		}
		if left := deadline.Sub(now); left > 0 {
			if next == 0 || left < next {
				next = left
			}
			continue
		}
		if err := r.failPickup(ctx, item); err != nil {
			return 0, err
		}
	}
	return next, nil
}

// failPickup ends the job of an item that no deployer has taken up.
func (r *Reconciler) failPickup(ctx context.Context, item *v1alpha1.DeployItem) error {
	message := fmt.Sprintf("no deployer has reconciled this deployitem within %d seconds: no running deployer serves type %s", int(r.PickupTimeout.Seconds()), item.Spec.Type)
	if item.Spec.Target != nil {
		message += " and Target " + item.Spec.Target.Name
	}
	return r.endItem(ctx, item, item.Status.JobID, job.NewError("WaitingForPickup", "PickupTimeout", message, v1alpha1.ErrorTimeout))
}
