package deployer

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Repeating is implemented by deployers that look at finished items again.
type Repeating interface {
	// Repetition says when a finished item is due. It is called often and looks at the item only.
	// An invalid configuration asks for nothing: the next job reports it.
	Repetition(item *v1alpha1.DeployItem) Repetition
	// Drift returns what another deployment of the item would change, object by object
	// and without values. It changes nothing.
	Drift(ctx context.Context, item *Item) ([]string, error)
	// ExportWatcher watches the values that the item has exported, and enqueues the item when they
	// change.
	ExportWatcher(ctx context.Context, item *Item) (ExportWatcher, error)
}

// Repetition says when a finished item is looked at again, and what happens then.
type Repetition struct {
	// Next returns the time after a given one, or zero for never. Nil means never.
	Next func(after time.Time) time.Time
	// Compare asks for Drift first; without it, the item is deployed again.
	Compare bool
	// Correct deploys the item again if there is drift.
	Correct bool
	// Watch asks for an ExportWatcher.
	Watch bool
}

// repeats reports whether a finished item may be looked at again at all: it has been deployed as it
// is now, and repetition is not switched off.
func repeats(item *v1alpha1.DeployItem) bool {
	return item.DeletionTimestamp == nil && !asksForWork(item) && item.Status.Phase.Current() == v1alpha1.DeployItemPhases.Succeeded &&
		item.Generation == item.Status.ObservedGeneration && item.Annotations[v1alpha1.ContinuousReconcileActiveAnnotation] != "false"
}

// repetition finds out when an item is due; the time is zero for never.
func (r *reconciler) repetition(ctx context.Context, item *v1alpha1.DeployItem) (due time.Time, repetition Repetition, err error) {
	repeating, ok := r.options.Deployer.(Repeating)
	if !ok || !repeats(item) {
		return due, repetition, nil
	}
	if repetition = repeating.Repetition(item); repetition.Next == nil {
		return due, repetition, nil
	}
	var last time.Time
	if item.Status.LastReconcileTime != nil {
		last = item.Status.LastReconcileTime.Time
	}
	if looked := r.memory.of(item).looked; looked.After(last) {
		last = looked
	}
	due = repetition.Next(last)
	if due.IsZero() || r.now().Before(due) {
		return due, repetition, nil
	}
	owner, err := r.owner(ctx, item)
	if owner != nil && job.Unfinished(owner.Status.JobID, owner.Status.JobIDFinished) || isHeld(item, owner) {
		// The job of the Execution has deployed the item, or will, or the item is going to be
		// deleted: this time is skipped.
		return r.skip(item, repetition), repetition, err
	}
	if err != nil {
		return due, repetition, err
	}
	deferred, err := r.isDeferred(ctx, item)
	switch {
	case deferred && repetition.Compare:
		repetition.Correct = false
	case deferred:
		return r.skip(item, repetition), repetition, nil
	}
	return due, repetition, err
}

// isDeferred reports whether an item must not be deployed again at present.
func (r *reconciler) isDeferred(ctx context.Context, item *v1alpha1.DeployItem) (bool, error) {
	if r.options.Deferred == nil {
		return false, nil
	}
	deferred, err := r.options.Deferred(ctx, item)
	if err != nil {
		return false, fmt.Errorf("ask whether DeployItem %s/%s may be deployed again: %w", item.Namespace, item.Name, err)
	}
	return deferred, nil
}

// skip leaves out the time at which an item is due, and returns the next one.
func (r *reconciler) skip(item *v1alpha1.DeployItem, repetition Repetition) time.Time {
	r.memory.of(item).looked = r.now()
	return repetition.Next(r.now())
}

// ownerBusy reports whether the Execution of an item has a job. A job that the item starts itself
// would look to the Execution as if the item had not picked up the job of the Execution.
func (r *reconciler) ownerBusy(ctx context.Context, item *v1alpha1.DeployItem) (bool, error) {
	owner, err := r.owner(ctx, item)
	return owner != nil && job.Unfinished(owner.Status.JobID, owner.Status.JobIDFinished), err
}

// isHeld reports whether the Execution of an item does not want the item any more, or is itself not
// wanted. The item is held until others have taken over its objects, and would take them back.
func isHeld(item *v1alpha1.DeployItem, owner *v1alpha1.Execution) bool {
	if owner == nil {
		return false
	}
	if reasons.IsNotWanted(job.Pending(owner.Status.Conditions)) {
		return true
	}
	_, wanted := parentOf(owner).wants(item)
	return !wanted
}

// owner returns the Execution of an item, or nil.
func (r *reconciler) owner(ctx context.Context, item *v1alpha1.DeployItem) (*v1alpha1.Execution, error) {
	name := item.Labels[v1alpha1.ExecutionManagedByLabel]
	if name == "" {
		return nil, nil
	}
	owner := &v1alpha1.Execution{}
	err := r.live.Get(ctx, client.ObjectKey{Namespace: item.Namespace, Name: name}, owner)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Execution %s/%s, whose item is due: %w", item.Namespace, name, err)
	}
	return owner, nil
}

// compare looks for drift, and reports it. The item is due again after that.
func (r *reconciler) compare(ctx context.Context, seen *snapshot) (job.Wake, error) {
	r.memory.of(seen.item).looked = seen.now
	item := &Item{DeployItem: seen.item.DeepCopy(), Target: seen.target, reconciler: r, run: &run{}, key: keyOf(seen.item), stored: seen.item}
	var drift []string
	err := r.noted(ctx, item, func(ctx context.Context) error {
		return job.RecoverPanic(func() (err error) {
			if item.Target == nil && hasTarget(item.DeployItem) {
				return item.noTarget()
			}
			repeating, _ := r.options.Deployer.(Repeating) // only then an item is due
			drift, err = repeating.Drift(ctx, item)
			return err
		})
	})
	if job.IsShutdown(ctx, err) {
		return untilChange(item.key), nil
	}
	if job.IsPanic(err) {
		r.notePanic(ctx, item.key, err)
	}
	isNew := noteDrift(item.DeployItem, drift, err, r.now())
	if writeErr := item.write(ctx); writeErr != nil {
		// The result was not stored, so this look does not count.
		r.memory.of(item.DeployItem).looked = time.Time{}
		if item.outdated {
			// The event of the newer version enqueues the item; the timer is for a conflict without
			// one.
			return untilChange(item.key).By(r.now().Add(maxBackoff)), nil
		}
		return job.Wake{}, writeErr
	}
	if isNew {
		found := job.GetCondition(item.Status.Conditions, v1alpha1.DriftedCondition)
		r.events.Eventf(item.DeployItem, nil, corev1.EventTypeWarning, string(reasons.Drifted), "CompareDeployItem", "%s", job.EventMessage(found.Message))
		log.FromContext(ctx).Info("another client has changed what was deployed", "drift", found.Message)
	}
	seen.item, seen.stored, seen.drifted = item.DeployItem, item.DeployItem, len(drift) > 0
	if corrects(*seen) {
		// Once the job is stored, its time says when the item was looked at. If the job is lost
		// before, the item is still due.
		r.memory.of(item.DeployItem).looked = time.Time{}
	}
	seen.due = seen.repetition.Next(seen.now)
	if soonest := seen.now.Add(time.Second); seen.due.Before(soonest) {
		seen.due = soonest
	}
	return job.Continues(), nil
}

// noteDrift writes the result of a comparison into the condition, and reports whether there is new
// drift.
func noteDrift(item *v1alpha1.DeployItem, drift []string, err error, now time.Time) (isNew bool) {
	condition := v1alpha1.Condition{
		Type: v1alpha1.DriftedCondition, Status: v1alpha1.ConditionFalse, Reason: string(reasons.InStep), Message: "everything is as it was deployed",
		ObservedGeneration: item.Generation,
	}
	switch {
	case err != nil:
		condition.Status, condition.Reason, condition.Message = v1alpha1.ConditionUnknown, string(reasons.NotCompared), job.StatusMessage(err)
	case len(drift) > 0:
		condition.Status, condition.Reason, condition.Message = v1alpha1.ConditionTrue, string(reasons.ChangedByOthers), "another client has changed "+listing(drift)
	}
	last := job.GetCondition(item.Status.Conditions, v1alpha1.DriftedCondition)
	isNew = condition.Status == v1alpha1.ConditionTrue && (last == nil || last.Status != condition.Status || last.Message != condition.Message)
	job.SetCondition(&item.Status.Conditions, condition, status.Stamp(now))
	return isNew
}

// forgetDrift records after a deployment that there is no drift any more.
func forgetDrift(item *v1alpha1.DeployItem, now time.Time) {
	if job.GetCondition(item.Status.Conditions, v1alpha1.DriftedCondition) != nil {
		noteDrift(item, nil, nil, now)
	}
}
