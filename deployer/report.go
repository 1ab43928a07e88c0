package deployer

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// report stores the result of an attempt and returns when to continue.
func (r *reconciler) report(ctx context.Context, item *Item, ended status.Verdict, err error) (job.Wake, error) {
	if ended == status.Succeeded && item.Status.Phase.IsDeletion() {
		removeErr := item.writeMetadata(ctx, func(stored *v1alpha1.DeployItem) { controllerutil.RemoveFinalizer(stored, v1alpha1.Finalizer) })
		if removeErr == nil {
			// The run itself ends when the item is deleted in the cache, too.
			item.run.forget()
			return untilChange(item.key), nil
		}
		if item.outdated {
			return item.again(), nil
		}
		ended, err = item.judge(Done(), job.Wrap(removeErr, published.DeleteItem, reasons.RemoveFinalizer, ""))
	}
	isNew := status.Conclude(item.DeployItem, ended, err, status.Stamp(r.now()))
	if ended == status.Succeeded {
		forgetDrift(item.DeployItem, r.now())
	}
	reportAt := item.run.nextReport(r.now(), item.stored, item.DeployItem)
	if reportAt.IsZero() {
		if writeErr := item.write(ctx); writeErr != nil {
			return item.afterWrite(writeErr)
		}
	}
	if isNew {
		r.announce(ctx, item, ended)
	}
	switch ended {
	case status.Waiting:
		// The wait ends by a trigger, or by the time of the next report.
		item.run.failures = 0
		item.run.notBefore = item.atMost(cmp.Or(reportAt, r.now().Add(never)))
	case status.Retrying:
		item.run.notBefore = item.atMost(r.now().Add(item.run.backoff()))
	default:
		r.memory.end(item.key)
		return untilChange(item.key), nil
	}
	// After a trigger in the middle of the attempt, the item is in the queue already.
	return untilChange(item.key).By(item.run.notBefore), nil
}

// atMost returns a time, or the end of the job if that is earlier.
func (i *Item) atMost(at time.Time) time.Time {
	if !i.deadline.IsZero() && at.After(i.deadline) {
		return i.deadline
	}
	return at
}

// never is the requeue time of a job without a time limit: only a trigger continues it.
const never = 100 * 365 * 24 * time.Hour

// afterWrite returns when to continue after a failed write.
func (i *Item) afterWrite(err error) (job.Wake, error) {
	if i.outdated {
		return i.again(), nil
	}
	// The attempt has consumed its trigger without storing a result.
	i.run.triggered.Store(true)
	return job.Wake{}, err
}

// again requeues the item after a conflict. The event of a newer version enqueues the item before;
// the timer is for a conflict without a newer version.
func (i *Item) again() job.Wake {
	i.run.triggered.Store(true)
	return untilChange(i.key).By(i.reconciler.now().Add(i.run.conflictBackoff()))
}

// announce emits an event about an error that the job did not have before.
func (r *reconciler) announce(ctx context.Context, item *Item, ended status.Verdict) {
	shown := item.Status.LastError
	reason := shown.Reason
	if reason == "" {
		reason = string(reasons.Error)
	}
	r.events.Eventf(item.DeployItem, nil, corev1.EventTypeWarning, reason, "ReconcileDeployItem", "%s", job.EventMessage(shown.Message))
	log.FromContext(ctx).Info("an attempt did not succeed", "final", ended == status.Failed, "operation", shown.Operation, "reason", shown.Reason, "message", shown.Message)
}
