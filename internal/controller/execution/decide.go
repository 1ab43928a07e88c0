package execution

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/model/validation"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// snapshot is everything that a decision depends on.
type snapshot struct {
	// exec is nil if it does not exist and strays are left of it.
	exec *v1alpha1.Execution
	// strays are items of an earlier Execution of the name that nothing else would release.
	strays []*v1alpha1.DeployItem
	// adopted says that the job was taken over in this attempt, and is not stored yet.
	adopted bool
	// parent is the Installation that the Execution belongs to, or nil.
	parent *v1alpha1.Installation
	// orphaned says that the parent of the Execution no longer exists.
	orphaned bool
	// lineage are the Installations from the root to the parent.
	lineage []*v1alpha1.Installation
	// pause is what stops the tree of a running job.
	pause pause
	// items are the DeployItems of the Execution. They are shared: see own.
	items []*v1alpha1.DeployItem
	// duplicates are further items of names that the Execution wants. No job reaches them.
	duplicates []*v1alpha1.DeployItem
	// templates are the items that the Execution wants; broken says why they cannot be
	// read.
	templates v1alpha1.DeployItemTemplateList
	broken    error
	// underWay are items of which a newer version is about to arrive. They are not written until
	// then.
	underWay map[types.UID]bool
	// pickup limits the time until a deployer picks up an item; 0 means no limit.
	pickup time.Duration
	// unsettled says that the history of the API server was rewound a moment ago: an item that
	// is missing may have been seen in a cache that was not rewound yet.
	unsettled bool
	now       time.Time
	// released says that the finalizer was removed; no decision follows.
	released bool
}

// step is what to do next.
type step string

const (
	// rest means that there is nothing to do until the next reconcile is triggered.
	rest step = engine.Rest
	// adopt takes over the job of the parent.
	adopt step = "adopt"
	// accept stores the job that was requested, and removes the request.
	accept step = "accept"
	// begin starts a job: the items are written.
	begin step = "begin"
	// collect collects the exports and ends a job that deploys nothing here.
	collect step = "collect"
	// beginRemovals starts a removal round.
	beginRemovals step = "begin removals"
	// beginDeletion starts a job that deletes.
	beginDeletion step = "begin deletion"
	// giveUp ends items that an abort has waited for long enough.
	giveUp step = "give up"
	// interrupt fails what is not finished.
	interrupt step = "interrupt"
	// dismiss removes a request for an interruption that has no effect.
	dismiss step = "dismiss"
	// trigger assigns the job to items.
	trigger step = "trigger"
	// expire fails items that no deployer has picked up, or finished, in time.
	expire step = "expire"
	// erase deletes items.
	erase step = "erase"
	// letGo removes the finalizers of items without uninstalling anything.
	letGo step = "let go"
	// complete collects the exports and ends the job.
	complete step = "complete"
	// remove deletes all items.
	remove step = "remove"
	// releaseStrays removes the finalizers of items of an earlier Execution of the name.
	releaseStrays step = "release strays"
	// release removes the finalizer.
	release step = "release"
	// show says in the status what the items wait for.
	show step = "show"
	// sayPause says in the status that the job is paused, or that it goes on.
	sayPause step = "say pause"
	// disown says in the status that the Installation is held, for the deployers that repeat items.
	disown step = "disown"
	// fail ends the job.
	fail step = "fail"
)

// decision is what to do next and what follows it.
type decision struct {
	do step
	// items are the items that the step concerns.
	items []*v1alpha1.DeployItem
	// message is what the status shows about the items.
	message string
	// err is why the job fails.
	err error
	// wake says what triggers the reconcile after the step.
	wake job.Wake
}

func act(do step, items ...*v1alpha1.DeployItem) decision {
	return decision{do: do, items: items, wake: job.Continues()}
}

func failure(err error) decision {
	return decision{do: fail, err: job.AsTerminal(err), wake: job.Continues()}
}

// decide chooses the next step. A job that is paused lets no item begin.
func decide(s snapshot) decision {
	switch {
	case len(s.strays) > 0:
		return act(releaseStrays)
	case s.exec == nil:
		return decision{do: rest, wake: job.Settled()}
	}
	next := decideRunning(s)
	switch {
	case next.do == trigger && s.pause.policy != "":
		return halt(s)
	case (next.do == trigger || next.do == rest) && s.pause.policy == "" && delivery.DeferralMessage(s.exec.Status.Conditions) != "":
		return act(sayPause)
	}
	return next
}

// decideRunning chooses the next step of a job that is not paused.
//
// The order of the cases is the protocol. A job is taken over before requests are judged, so that a
// request for this job is not dismissed as one without effect. A job that has not begun has no
// items yet that an interruption could fail: the job begins first. An abort needs no items and ends
// the job there.
func decideRunning(s snapshot) decision {
	interrupted := s.exec.Annotations[v1alpha1.OperationAnnotation] == string(v1alpha1.InterruptOperation)
	running := job.Unfinished(s.exec.Status.JobID, s.exec.Status.JobIDFinished)
	switch {
	case !running && handsOver(s):
		return act(adopt)
	case running && starts(s.exec):
		return decideBeginning(s)
	case running && interrupted:
		return act(interrupt, unfinishedItems(s)...)
	case running && aborted(s):
		return decideAbort(s)
	case (interrupted || aborted(s)) && !awaited(s):
		return act(dismiss)
	case !running && isNewlyHeld(s):
		return act(disown)
	case !running:
		return decision{do: rest, wake: nextJob(s)}
	}
	return decidePhase(s)
}

// decideBeginning chooses the next step of a job that has not begun.
func decideBeginning(s snapshot) decision {
	switch {
	case asked(s):
		return act(accept)
	case aborted(s):
		return failure(abortError("operation was aborted before anything was written"))
	}
	return decideStart(s)
}

// awaited reports whether the parent is about to assign a job. An interruption that arrives before
// its job must not be lost: the request stays until the job arrives.
func awaited(s snapshot) bool { return job.PartOfExecution(s.exec).Awaits(s.parent) }

// handsOver reports whether the parent has a job for the Execution. An Execution whose parent no
// longer exists deletes itself.
func handsOver(s snapshot) bool {
	if s.exec.DeletionTimestamp != nil && s.orphaned {
		return deletesItself(s)
	}
	return siblings.HasJobFor(s.parent, s.exec, job.PartOfExecution(s.exec))
}

// deletesItself reports whether an Execution without a parent begins a deletion of its own. A
// deletion that has failed is not repeated, since it would fail again at once, and for ever: the
// next one begins with a request, or when no item is left.
func deletesItself(s snapshot) bool {
	return controllerutil.ContainsFinalizer(s.exec, v1alpha1.Finalizer) &&
		(!s.exec.Status.ExecutionPhase.Current().IsDeletion() || asked(s) || len(s.items) == 0)
}

// asked reports whether another deletion of an Execution without a parent is requested. With a
// parent, its jobs are those of the parent.
func asked(s snapshot) bool {
	return s.orphaned && s.exec.DeletionTimestamp != nil && s.exec.Annotations[v1alpha1.OperationAnnotation] == string(v1alpha1.ReconcileOperation)
}

// nextJob returns the wake for the next job. Without a parent that has one, only a request leads to
// a job.
func nextJob(s snapshot) job.Wake {
	if awaited(s) {
		return job.OnChange("Installation", s.parent.Name)
	}
	return job.Settled()
}

// starts reports whether the job has not begun, or whether its beginning was cut short. A job in an
// unknown phase begins again.
func starts(exec *v1alpha1.Execution) bool {
	phases := v1alpha1.ExecutionPhases
	switch exec.Status.ExecutionPhase {
	case phases.Progressing, phases.Completing, phases.InitDelete, phases.TriggerDelete, phases.Deleting:
		return false
	}
	return true
}

// decideStart chooses how a job begins.
func decideStart(s snapshot) decision {
	if s.exec.DeletionTimestamp != nil && !isRound(s) {
		if len(s.items) == 0 {
			return act(release)
		}
		return act(beginDeletion)
	}
	if s.broken != nil {
		return failure(job.Wrap(s.broken, published.HandleReconcilePhase, reasons.HandlePhaseInit, "", v1alpha1.ErrorConfigurationProblem))
	}
	if job.IsRemoval(s.exec.Status.JobID) {
		return act(beginRemovals)
	}
	if errs := validation.Execution(s.exec); len(errs) > 0 {
		return failure(job.Wrap(errs.ToAggregate(), published.HandleReconcilePhase, reasons.HandlePhaseInit, "the Execution is not valid", v1alpha1.ErrorConfigurationProblem))
	}
	if staysAsItIs(s) {
		return act(collect)
	}
	return act(begin)
}

// isRound reports whether the job of a terminating Execution is a removal round of its Installation, and
// not its deletion. A user has deleted the Execution after its part of the job: the next job deletes it,
// and this one ends with what was kept.
func isRound(s snapshot) bool {
	return job.IsRemoval(s.exec.Status.JobID) && s.parent != nil && !s.parent.Status.InstallationPhase.IsDeletion()
}

// staysAsItIs reports whether the job of the Installation only propagates new exports of items, and
// every item exists.
func staysAsItIs(s snapshot) bool {
	if s.parent == nil || s.parent.Status.JobID != s.exec.Status.JobID || s.parent.Status.DataUpdate == nil || !s.parent.Status.DataUpdate.Unchanged {
		return false
	}
	wanted, orphans := itemorder.Members(s.templates, s.items)
	missing := slices.ContainsFunc(wanted, func(m itemorder.Member) bool {
		return m.Item == nil || m.Item.DeletionTimestamp != nil || job.Pending(m.Item.Status.Conditions) != nil
	})
	return s.exec.Status.ExecutionPhase == v1alpha1.ExecutionPhases.Succeeded && s.exec.Generation == s.exec.Status.ObservedGeneration && !missing && len(orphans) == 0
}

// decidePhase chooses the step of a running job.
func decidePhase(s snapshot) decision {
	phases := v1alpha1.ExecutionPhases
	switch s.exec.Status.ExecutionPhase {
	case phases.Completing:
		return act(complete)
	case phases.InitDelete:
		return act(remove)
	case phases.TriggerDelete, phases.Deleting:
		return decideDeletion(s)
	}
	return decideItems(s)
}

// failedItems ends a job because of its items. The message has the cause first, then the item.
func failedItems(s snapshot, reason reasons.Reason, items []itemorder.Member) decision {
	return failure(job.NewError(published.HandleReconcilePhase, reason, itemErrors(s, items), v1alpha1.ErrorForInfoOnly))
}

// decideItems judges the items of a job that deploys.
//
// Late items are failed first, and the decision is made anew with what they are then: a dead
// deployer ends a job in the same way as one that reports a failure.
func decideItems(s snapshot) decision {
	if s.broken != nil {
		return failure(job.Wrap(s.broken, published.HandleReconcilePhase, reasons.HandlePhaseProgressing, "", v1alpha1.ErrorConfigurationProblem))
	}
	late, deadline := overdue(s)
	if len(late) > 0 {
		return act(expire, late...)
	}
	wanted, orphans := itemorder.Members(s.templates, s.items)
	if job.IsRemoval(s.exec.Status.JobID) {
		return decideRemovals(s, wanted, orphans, deadline)
	}
	held, removed := holds(s, orphans), unwritten(s.exec, wanted, isTerminating)
	if !held {
		// New items wait until the old ones are deleted, unless objects of the old ones may be
		// taken over: see holds.
		removed = append(removed, orphans...)
	}
	if len(removed) > 0 {
		return decideOrphans(s, removed, deadline)
	}
	if s.unsettled && slices.ContainsFunc(wanted, isMissing) || len(unwritten(s.exec, wanted, isMissing)) > 0 {
		return act(begin)
	}
	order := itemorder.ToDeploy(s.exec.Status.JobID, wanted)
	switch order.Verdict() {
	case itemorder.GoOn:
		return act(trigger, itemorder.Items(order.Of(itemorder.Runnable))...)
	case itemorder.AllDone:
		if held && s.parent == nil {
			// No root begins a removal round.
			return decideOrphans(s, orphans, deadline)
		}
		return act(complete)
	case itemorder.SomeFailed:
		return failedItems(s, reasons.HandlePhaseProgressing, order.Of(itemorder.Failed))
	case itemorder.Stuck:
		return failure(job.NewError(published.HandleReconcilePhase, reasons.HandlePhaseProgressing, "items could not be started: "+strings.Join(itemorder.Names(order.Of(itemorder.Pending)), ", ")+" wait for each other", v1alpha1.ErrorForInfoOnly))
	}
	return resting(s, itemorder.ChangeOf(order.Of(itemorder.Running)).By(deadline), order)
}

func isMissing(m itemorder.Member) bool { return m.Item == nil }

func isTerminating(m itemorder.Member) bool { return m.Item != nil && m.Item.DeletionTimestamp != nil }

// unwritten returns the wanted items in a state that the job has not written, because they were
// terminating when it began. They are deleted in the order of a deletion, and written then. The order is
// the one that was noted when they were created.
func unwritten(exec *v1alpha1.Execution, wanted []itemorder.Member, in func(itemorder.Member) bool) []itemorder.Member {
	cache := exec.Status.DeployItemCache
	if cache == nil {
		return nil // a job of another release notes its items later
	}
	var found []itemorder.Member
	for _, m := range wanted {
		if in(m) && !slices.ContainsFunc(cache.ActiveDIs, func(pair v1alpha1.DiNamePair) bool { return pair.SpecName == m.Name }) {
			if m.Item != nil {
				m.DependsOn = itemorder.DependsOn(m.Item)
			}
			found = append(found, m)
		}
	}
	return found
}

// decideOrphans judges items that are no longer wanted, or that were terminating when the job began.
func decideOrphans(s snapshot, orphans []itemorder.Member, deadline time.Time) decision {
	order := itemorder.ToDelete(s.exec.Status.JobID, orphans, s.underWay)
	switch order.Verdict() {
	case itemorder.GoOn:
		return uninstall(itemorder.Items(order.Of(itemorder.Runnable)))
	case itemorder.SomeFailed, itemorder.Stuck:
		return failedItems(s, reasons.HandlePhaseProgressing, order.Of(itemorder.Failed))
	}
	return resting(s, itemorder.ChangeOf(order.Of(itemorder.Running)).By(deadline), order)
}

// decideDeletion judges the remaining items. They are deleted in the reverse order of their
// creation.
func decideDeletion(s snapshot) decision {
	late, deadline := overdue(s)
	if len(late) > 0 {
		return act(expire, late...)
	}
	all := itemorder.Noted(s.items)
	order := itemorder.ToDelete(s.exec.Status.JobID, all, s.underWay)
	switch order.Verdict() {
	case itemorder.GoOn:
		return uninstall(itemorder.Items(order.Of(itemorder.Runnable)))
	case itemorder.AllDone:
		return act(release)
	case itemorder.SomeFailed:
		return failedItems(s, reasons.HandlePhaseDeleting, order.Of(itemorder.Failed))
	case itemorder.Stuck:
		return failure(job.NewError(published.HandleReconcilePhase, reasons.HandlePhaseDeleting, "has pending items: "+strings.Join(itemorder.Names(order.Of(itemorder.Pending)), ", "), v1alpha1.ErrorForInfoOnly))
	}
	return resting(s, itemorder.ChangeOf(order.Of(itemorder.Running)).By(deadline), order)
}

// uninstall chooses how to delete items whose turn has come. An item has to be deleted before it
// gets the job for that; one that must not be uninstalled needs no deployer.
func uninstall(items []*v1alpha1.DeployItem) decision {
	var alive, kept, others []*v1alpha1.DeployItem
	for _, item := range items {
		switch {
		case item.DeletionTimestamp == nil:
			alive = append(alive, item)
		case itemorder.StaysInstalled(item):
			kept = append(kept, item)
		default:
			others = append(others, item)
		}
	}
	switch {
	case len(alive) > 0:
		return act(erase, alive...)
	case len(kept) > 0:
		return act(letGo, kept...)
	}
	return act(trigger, others...)
}
