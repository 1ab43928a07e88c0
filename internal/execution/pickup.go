package execution

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	now := metav1.NewTime(r.Now())
	message := fmt.Sprintf("no deployer has reconciled this deployitem within %d seconds: no running deployer serves type %s", int(r.PickupTimeout.Seconds()), item.Spec.Type)
	if item.Spec.Target != nil {
		message += " and Target " + item.Spec.Target.Name
	}
	status := &item.Status
	status.Phase = v1alpha1.DeployItemPhases.Failed
	if item.DeletionTimestamp != nil {
		status.Phase = v1alpha1.DeployItemPhases.DeleteFailed
	}
	status.PhaseTransitionTime = &now
	status.ObservedGeneration = item.Generation
	status.JobIDFinished = status.JobID
	status.LastError = job.StatusError(job.NewError("WaitingForPickup", "PickupTimeout", message, v1alpha1.ErrorTimeout), status.LastError, now)
	if status.TransitionTimes == nil {
		status.TransitionTimes = job.Triggered(now)
	}
	status.TransitionTimes.FinishedTime = &now
	job.Summarize(&status.Conditions, job.Summary{Phase: string(status.Phase), Generation: item.Generation, Err: job.NewError("WaitingForPickup", "PickupTimeout", message)}, now)
	if err := r.Client.Status().Update(ctx, item); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("report that nobody took DeployItem %s up: %w", item.Name, err)
	}
	r.written.Record(item)
	return nil
}
