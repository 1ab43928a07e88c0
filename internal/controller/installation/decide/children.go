package decide

import (
	"cmp"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/cause"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// decideTerminating looks at children that are being deleted: subinstallations that are no longer
// wanted, and children that another client has deleted. The others get the job when these do not
// exist any more, because they may deploy the same objects.
func decideTerminating(s Situation) Decision {
	subs := siblings.Terminating(s.Family)
	if sub, running := siblings.FirstUnfinished(subs, s.Inst.Status.JobID); running {
		return awaitChildren(s, job.OnChange("Installation", sub.Name))
	}
	leaves := siblings.ExecutionTerminating(s.Family)
	switch {
	case leaves && s.Exec.Status.JobIDFinished != s.Inst.Status.JobID:
		return awaitChildren(s, job.OnChange("Execution", s.Exec.Name))
	case len(subs) > 0 && traceable(s):
		return doing(Trace)
	case leaves || len(subs) > 0:
		return failure(job.NewError(published.HandlePhaseCleanupOrphaned, reasons.AllOrphanedSubinstallationsFailed, whyFailed(s, "subinstallations that are no longer wanted could not be deleted"), v1alpha1.ErrorForInfoOnly))
	case hasWritten(s.Inst):
		return doing(Propagate)
	}
	return ByInputs(s)
}

// hasWritten reports whether this job has written all children, and what its exports need. Upstream
// stores no plan for the exports: a job of upstream begins again.
func hasWritten(inst *v1alpha1.Installation) bool {
	return inst.Status.SubInstCache != nil && (predicates.ExportsArePending(inst) || !predicates.Exporting(inst))
}

// decideChildren looks at the children of a running job. All of them end before it does. In the
// removal round, children that have kept something end a second time, and held ones are deleted.
func decideChildren(s Situation) Decision {
	status := &s.Inst.Status
	if s.Unsettled && !siblings.IsRemoving(s.Inst) && len(siblings.Removed(s.Family)) > 0 {
		return doing(Begin)
	}
	if siblings.IsRemoving(s.Inst) && len(siblings.Held(s.Family)) > 0 {
		return doing(DeleteHeld)
	}
	if sub, running := siblings.FirstUnfinishedSub(s.Family); running {
		return awaitChildren(s, job.OnChange("Installation", sub.Name))
	}
	if status.ExecutionReference != nil && s.Exec != nil && !job.PartOfExecution(s.Exec).Done(job.Round(s.Inst)) {
		return awaitChildren(s, job.OnChange("Execution", s.Inst.Name))
	}
	switch err := childrenError(s); {
	case err == nil:
		return decideCompletion(s)
	case traceable(s):
		return doing(Trace)
	default:
		return failure(err)
	}
}

// awaitChildren lets a job rest until its children continue, and shows what blocks them: the root
// has to name the blocker through all levels.
func awaitChildren(s Situation, wake job.Wake) Decision {
	status := &s.Inst.Status
	shows := job.ShowingOf(&status.Conditions, string(status.InstallationPhase), status.ObservedGeneration, status.PhaseTransitionTime)
	found, again := siblings.Obstacles(tree(s), job.Round(s.Inst), s.Now)
	due, later := shows.Due(cause.List(found), s.Now)
	switch {
	case due && traceable(s):
		return doing(Trace)
	case due:
		return Decision{Do: Show, Message: cause.List(found), Wake: job.Continues()}
	}
	return Decision{Do: Rest, Wake: wake.By(again).By(later)}
}

// traceable reports whether causes are below children, and were not read yet.
func traceable(s Situation) bool {
	return s.Below == nil && slices.ContainsFunc(s.Subs, func(sub *v1alpha1.Installation) bool { return siblings.HidesCause(sub, job.Round(s.Inst)) })
}

// tree is what is known of the objects below the Installation.
func tree(s Situation) siblings.Tree {
	if s.Below != nil {
		return *s.Below
	}
	return siblings.Shallow(s.Family)
}

// childrenError says why children have failed: the causes first, each followed by the path to it.
// It is nil if all have succeeded.
func childrenError(s Situation) error {
	failed := len(siblings.Removed(s.Family)) > 0 || s.Inst.Status.ExecutionReference != nil && s.Exec.Status.ExecutionPhase != v1alpha1.ExecutionPhases.Succeeded ||
		slices.ContainsFunc(siblings.WithoutHeld(s.Family), func(sub *v1alpha1.Installation) bool {
			return sub.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded
		})
	if !failed {
		return nil
	}
	message := cmp.Or(cause.List(siblings.Failures(tree(s), job.Round(s.Inst))), "children have failed without a cause")
	return job.NewError(published.BuildErrorIfFailedChild, failureOf(s), message, v1alpha1.ErrorForInfoOnly)
}

// whyFailed says why children have failed, or returns the other text if they give no cause.
func whyFailed(s Situation, otherwise string) string {
	return cmp.Or(cause.List(siblings.Failures(tree(s), job.Round(s.Inst))), otherwise)
}

// decideCompletion ends a job whose children are done. A change during the job would be missing in
// its results. The root removes first what was kept anywhere below it; the others have published
// their results before their removals.
func decideCompletion(s Situation) Decision {
	if job.IsRemoval(s.Inst.Status.JobID) {
		return doing(EndRemovals)
	}
	if s.Inst.Generation != s.Inst.Status.ObservedGeneration {
		return failure(job.NewError(published.HandlePhaseCompleting, reasons.CheckObservedGeneration, "installation spec has been changed: request another job with the annotation "+v1alpha1.OperationAnnotation+": reconcile"))
	}
	if s.Parent == nil && !siblings.IsRemoving(s.Inst) && siblings.HasPendingRemovals(s.Family) {
		return doing(BeginRemovals)
	}
	return decideExports(s)
}

// decideExports chooses how a job ends. One that another release has begun has not stored a plan for its
// exports: it gets one from the present inputs, as that release would have rendered the exports. A job
// of ours that has lost its plan gets no other one, which would mix old inputs with new ones.
func decideExports(s Situation) Decision {
	switch {
	case !predicates.Exporting(s.Inst), predicates.BroughtUpByUs(s.Inst), s.PlanMissing != nil && !*s.PlanMissing:
		return doing(Complete)
	case s.PlanMissing == nil:
		return doing(FindPlan)
	}
	switch next := ByInputs(s); next.Do {
	case WriteChildren:
		return doing(Inherit)
	case Refresh, Pass:
		return doing(Complete)
	default:
		return next
	}
}

// decideRemoval looks at the siblings that have to be deleted before the children.
func decideRemoval(s Situation) Decision {
	switch {
	case s.Turn == nil && siblings.MustAwaitImporters(s.Inst):
		return doing(CheckSiblings)
	case s.Turn != nil && s.Turn.Err != nil:
		return failure(s.Turn.Err)
	case s.Turn != nil && len(s.Turn.WaitsFor) > 0:
		return awaiting(job.OnChange("Installation", s.Turn.WaitsFor...), published.CheckSuccessorSibling, reasons.SiblingImport,
			"a sibling still imports some of the exports: waiting until "+siblings.Phrase(s.Turn.WaitsFor, "Installation %s is deleted: delete it, or let this Installation go before it", "Installations %s are deleted: delete them, or let this Installation go before them")+" with the annotation "+v1alpha1.DeleteIgnoreSuccessorsAnnotation+"=true")
	case s.Exec == nil && s.Inst.Status.ExecutionReference == nil && len(s.Subs) == 0:
		return doing(Release)
	}
	return doing(Remove)
}

// decideDeletion looks at what is left of the children. The cache may be behind, so that the API
// server decides whether the Execution still exists; and the cache may show the Execution only now,
// which was not deleted then.
func decideDeletion(s Situation) Decision {
	jobID := s.Inst.Status.JobID
	if len(siblings.Terminating(s.Family)) < len(s.Subs) || s.Exec != nil && s.Exec.DeletionTimestamp == nil && (s.ExecutionAbsent || !s.ExecutionDeleted) {
		return doing(Remove)
	}
	if sub, running := siblings.FirstUnfinished(s.Subs, jobID); running {
		return awaitChildren(s, job.OnChange("Installation", sub.Name))
	}
	switch {
	case s.Exec == nil && s.Inst.Status.ExecutionReference != nil && !s.ExecutionAbsent:
		return doing(Confirm)
	case s.Exec == nil && len(s.Subs) == 0:
		return doing(Release)
	case s.Exec != nil && s.Exec.Status.JobIDFinished != jobID:
		return awaitChildren(s, job.OnChange("Execution", s.Exec.Name))
	}
	if traceable(s) {
		return doing(Trace)
	}
	return failure(job.NewError(published.HandleReconcilePhase, reasons.UndeletedSubobjects, whyFailed(s, "not all sub objects were deleted")))
}

// failureOf is the reason of a failure that follows from those of children: an abort is reported up
// to the root.
func failureOf(s Situation) reasons.Reason {
	for _, sub := range siblings.WithoutHeld(s.Family) {
		if reasons.WasAborted(sub.Status.LastError) {
			return reasons.Aborted
		}
	}
	if s.Exec != nil && reasons.WasAborted(s.Exec.Status.LastError) {
		return reasons.Aborted
	}
	return reasons.ChildrenFailed
}
