package execution

import (
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

// pickups returns the items that no deployer has taken up in time, and when the next
// one has to be looked at; zero if there is none.
func pickups(s snapshot) (late []*v1alpha1.DeployItem, next time.Time) {
	for _, item := range s.items {
		deadline, waiting := pickupDeadline(item, s.pickup)
		switch {
		case !waiting:
		case !deadline.After(s.now):
			late = append(late, item)
		case next.IsZero() || deadline.Before(next):
			next = deadline
		}
	}
	return late, next
}

// notPickedUp is the error of an item that no deployer has taken up.
func notPickedUp(item *v1alpha1.DeployItem, limit time.Duration) error {
	message := fmt.Sprintf("no deployer has reconciled this deployitem within %d seconds: no running deployer serves type %s", int(limit.Seconds()), item.Spec.Type)
	if item.Spec.Target != nil {
		message += " and Target " + item.Spec.Target.Name
	}
	return job.NewError("WaitingForPickup", "PickupTimeout", message, v1alpha1.ErrorTimeout)
}
