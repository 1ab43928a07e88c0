package execution

import (
	"fmt"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/targets"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// grace is how much longer than a deployer we wait for the end of its job: the message of a live
// deployer says more than ours.
const grace = time.Minute

// isPickedUp reports whether a deployer has picked up the job of an item.
//
// Both times are stored in whole seconds: a deployer that begins in the second of the trigger has
// begun after it.
func isPickedUp(status *v1alpha1.DeployItemStatus) bool {
	return status.LastReconcileTime != nil && !status.LastReconcileTime.Before(status.JobIDGenerationTime)
}

// deadlineOf returns when the job of an item has to be picked up, or has to end if a deployer has
// it. It returns false if there is nothing to wait for, or no limit.
func deadlineOf(item *v1alpha1.DeployItem, pickup time.Duration) (time.Time, bool) {
	status := &item.Status
	limit := item.Spec.TimeLimit()
	// A deployer that does not say when it has begun may do so at any time.
	begun := status.LastReconcileTime
	if times := status.TransitionTimes; times != nil && times.InitTime != nil && !times.InitTime.Before(status.JobIDGenerationTime) {
		begun = times.InitTime
	}
	switch {
	case !job.Unfinished(status.JobID, status.JobIDFinished) || status.JobIDGenerationTime == nil:
		return time.Time{}, false
	case !isPickedUp(status):
		return status.JobIDGenerationTime.Add(pickup), pickup > 0
	}
	return begun.Add(limit + grace), limit != 0
}

// overdue returns the items whose time is over, and the deadline of the next one; zero without a
// next one.
func overdue(s snapshot) (late []*v1alpha1.DeployItem, next time.Time) {
	for _, item := range s.items {
		deadline, waiting := deadlineOf(item, s.pickup)
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

// lateError is the error of an item whose time is over.
func lateError(item *v1alpha1.DeployItem, s snapshot) error {
	if isPickedUp(&item.Status) {
		return abandoned(item)
	}
	message := fmt.Sprintf("no deployer has reconciled this deployitem within %d seconds: no running deployer serves type %s", int(s.pickup.Seconds()), item.Spec.Type)
	if item.Spec.Target != nil {
		message += " and Target " + targets.NameOf(s.lineage, item.Spec.Target.Name)
	}
	message += ": start one, or correct the type or the Target's labels"
	return job.NewError(published.WaitingForPickup, reasons.PickupTimeout, message, v1alpha1.ErrorTimeout)
}

// abandoned is the error of an item whose deployer picked up its job and stopped reporting.
func abandoned(item *v1alpha1.DeployItem) error {
	who := "its deployer"
	if name := item.Status.Deployer.Name; name != "" {
		who = "deployer " + name
	}
	return job.NewError(published.WaitingForDeployer, reasons.ProgressingTimeout,
		fmt.Sprintf("%s picked this deployitem up and has not ended the job within %s, nor in the minute after: check that it runs", who, item.Spec.TimeLimit()), v1alpha1.ErrorTimeout)
}
