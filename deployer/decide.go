package deployer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// snapshot is all that a decision depends on.
type snapshot struct {
	// item is nil if it does not exist. It has its job also if the job is not stored yet.
	item *v1alpha1.DeployItem
	// absent says that the cache has no item of the name, seen which version it had shown before
	// the read, and placed which item had a place in the queue then; no decision depends on them.
	absent bool
	seen   string
	placed types.UID
	// stored is the item as it was read; no decision depends on it.
	stored *v1alpha1.DeployItem
	// target is nil if the item has none, or if it does not exist.
	target *v1alpha1.Target
	// responsible says that the selectors of this process match the target.
	responsible bool
	// notBefore is when the running job continues; zero if it does not wait, or if a trigger came.
	notBefore time.Time
	// due is when a finished item is looked at again; zero for never.
	due time.Time
	// repetition says what happens then.
	repetition Repetition
	// drifted says that the comparison of this attempt has found changes by other clients.
	drifted bool
	now     time.Time
}

// action is what to do about an item.
type action string

const (
	// leave means that there is nothing to do now, and that all work ends.
	leave action = "leave"
	// sleep means that the work continues later.
	sleep action = "sleep"
	// awaitLook means that there is nothing to do before the item is looked at again.
	awaitLook action = "await the next look"
	// compare means that the deployer looks for changes by other clients.
	compare action = "compare"
	// work means that the deployer is called.
	work action = "work"
	// finishUnchanged means that the job is done because nothing has changed.
	finishUnchanged action = "finish unchanged"
	// awaitTarget means that the job waits for its Target, which is missing.
	awaitTarget action = "await the target"
	// failSuperseded means that the job fails because the item is being deleted.
	failSuperseded action = "fail superseded"
	// release means that the item may be deleted without an uninstallation.
	release action = "release"
)

// decision says what to do about an item.
type decision struct {
	do action
	// start says that a new job is picked up.
	start bool
	// ownJob says that the deployer starts the job itself.
	ownJob bool
	// consumeOperation says that the annotation that asked for a test is to be removed.
	consumeOperation bool
}

// decide says what to do about an item of this type.
func decide(s snapshot) decision {
	if s.item == nil || !s.responsible || waitsForOthers(s.item) {
		return decision{do: leave}
	}
	if !asksForWork(s.item) {
		return decideRepetition(s)
	}
	d := decision{
		start:            starts(s.item),
		ownJob:           !unfinished(s.item),
		consumeOperation: wantsTest(s.item),
	}
	switch {
	case s.item.DeletionTimestamp != nil:
		d.do = decideDeletion(s, d.start)
	case d.start && !wantsTest(s.item) && unchanged(s.item):
		d.do = finishUnchanged
	default:
		d.do = decideWork(s, d.start)
	}
	return d
}

// decideRepetition says what to do about an item without a job.
func decideRepetition(s snapshot) decision {
	switch {
	case s.due.IsZero():
		return decision{do: leave}
	case corrects(s):
		return decision{do: work, start: true, ownJob: true}
	case s.now.Before(s.due):
		return decision{do: awaitLook}
	case s.repetition.Compare:
		return decision{do: compare}
	}
	return decision{do: decideWork(s, true), start: true, ownJob: true}
}

// corrects reports whether a job undoes what the comparison has found.
func corrects(s snapshot) bool { return s.drifted && s.repetition.Correct }

func decideDeletion(s snapshot, start bool) action {
	switch {
	case s.item.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == "true":
		return release
	case !start && !s.item.Status.Phase.IsDeletion():
		// The deletion assigns the item another job when it is its turn, so the job that still runs
		// must neither continue to deploy nor begin to remove.
		return failSuperseded
	case !start && s.now.Before(s.notBefore):
		return sleep
	}
	// Where nothing was deployed, the deployer needs no Target.
	return work
}

func decideWork(s snapshot, start bool) action {
	switch {
	case !start && s.now.Before(s.notBefore):
		return sleep
	case s.target == nil && hasTarget(s.item):
		return awaitTarget
	}
	return work
}

// waitsForOthers reports whether an item is being deleted and waits only for the finalizers of
// others.
func waitsForOthers(item *v1alpha1.DeployItem) bool {
	return item.DeletionTimestamp != nil && !controllerutil.ContainsFinalizer(item, v1alpha1.Finalizer)
}

// asksForWork reports whether an item has a job, or asks for one. An item without a job must not be
// touched.
func asksForWork(item *v1alpha1.DeployItem) bool { return unfinished(item) || wantsTest(item) }

func unfinished(item *v1alpha1.DeployItem) bool {
	return job.Unfinished(item.Status.JobID, item.Status.JobIDFinished)
}

func wantsTest(item *v1alpha1.DeployItem) bool {
	return item.Annotations[v1alpha1.OperationAnnotation] == string(v1alpha1.TestReconcileOperation)
}

// starts reports whether the job of an item has not been picked up yet. A job that was dispatched
// while another one ran has reset the times.
func starts(item *v1alpha1.DeployItem) bool {
	status := item.Status
	return !unfinished(item) || job.Starting(status.JobID, status.JobIDFinished, status.Phase.String()) ||
		status.TransitionTimes == nil || status.TransitionTimes.InitTime == nil
}

// unchanged reports whether the last success is still valid for an item that is only to be deployed
// after a change. In a removal round there is something to remove.
func unchanged(item *v1alpha1.DeployItem) bool {
	return !job.IsRemoval(item.Status.JobID) && item.Spec.UpdateOnChangeOnly && item.Generation == item.Status.ObservedGeneration &&
		item.Status.Phase.Current() == v1alpha1.DeployItemPhases.Succeeded
}

func hasTarget(item *v1alpha1.DeployItem) bool {
	return item.Spec.Target != nil && item.Spec.Target.Name != ""
}
