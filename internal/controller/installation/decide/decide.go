package decide

import (
	"fmt"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/repeat"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/revision"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Next chooses the next step.
func Next(s Situation) Decision {
	status := &s.Inst.Status
	unfinished := job.Unfinished(status.JobID, status.JobIDFinished)
	switch {
	case !unfinished && siblings.ParentHasJob(s.Family):
		return doing(Adopt)
	case !unfinished && PickedUp(s):
		// Only what comes before it may come first: a later interruption is for this job.
		return decideAfterwards(s)
	case interrupted(s, unfinished):
		return decideInterruption(s, unfinished)
	case !s.Orphaned && predicates.HasIneffectiveRequest(s.Inst):
		return doing(Dismiss)
	case unfinished && predicates.BeingDeleted(s.Inst) && canAbandon(s):
		return failure(job.NewError(published.HandlePhaseInit, reasons.Deleted, "the Installation is being deleted"))
	case !unfinished:
		return decideAfterwards(s)
	}
	return decideJob(s)
}

// decideJob chooses the next step of a job that has not ended.
func decideJob(s Situation) Decision {
	status := &s.Inst.Status
	switch {
	case siblings.IsRound(s.Family, status.JobID) && status.InstallationPhase != v1alpha1.InstallationPhases.Progressing:
		return doing(BeginRemovals)
	case job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase)):
		return doing(Begin)
	case needsAcceptance(s):
		return doing(Accept)
	}
	return decidePhase(s)
}

// decideAfterwards chooses what to do when there is no job.
func decideAfterwards(s Situation) Decision {
	due := repeat.Due(s.Inst)
	next, trigger := nextJob(s, due)
	verdict := s.Verdict(trigger)
	requested := next == Admit && verdict.Permitted()
	switch {
	case requested:
		return with(Admit, verdict)
	case s.Untriggered == nil && predicates.HasDependentsToTrigger(s.Inst):
		return doing(TriggerDependents)
	case revision.SettingOf(s.Policies, s.Inst).OnFailure && revision.MayGoBack(s.Inst):
		return doing(GoBack)
	case next != "" && verdict.Permitted():
		return with(next, verdict)
	case s.CurrentImports == nil && FollowsImports(s):
		return doing(Compare)
	case s.PlanStored && s.CleanUpAt.IsZero():
		return doing(CleanUp)
	case siblings.DeletedWithNextJob(s.Family) && !siblings.HasDeletionCondition(s.Family):
		return doing(Explain)
	}
	return decideDeferral(s, due, verdict)
}

// decideDeferral chooses what to do for a job that may not begin yet, and when no job asks to begin.
func decideDeferral(s Situation, due time.Time, verdict Verdict) Decision {
	switch {
	case !s.says(verdict):
		return with(Defer, verdict)
	case verdict.Work:
		return with(PlanAhead, verdict)
	}
	return resting(s, due, verdict)
}

// with is a step that depends on what the policies say: whether a job may begin, and with which plan.
func with(do Step, verdict Verdict) Decision {
	return Decision{Do: do, Verdict: verdict.Verdict, Wake: job.Continues()}
}

// nextJob returns the step that begins the next job, and what starts it; nothing if nothing asks for
// a job.
func nextJob(s Situation, due time.Time) (Step, v1alpha1.JobTrigger) {
	switch {
	case PickedUp(s):
		return Admit, v1alpha1.TriggeredByReconcile
	case asksForJob(s, v1alpha1.Operation(s.Inst.Annotations[v1alpha1.OperationAnnotation])):
		return Admit, job.TriggerOf(s.Inst)
	case !due.IsZero() && !s.Now.Before(due):
		return Repeat, v1alpha1.TriggeredBySchedule
	case s.CurrentImports != nil && *s.CurrentImports != "" && *s.CurrentImports != s.Inst.Status.ImportsHash:
		return Follow, v1alpha1.TriggeredByImports
	}
	return "", ""
}

// resting says what triggers the next reconcile of an Installation that has nothing to do. A job that
// is deferred is not due before its policies permit it.
func resting(s Situation, due time.Time, verdict Verdict) Decision {
	wake := job.OnChange("Installation", s.Untriggered...).By(s.TriggerAt)
	if verdict.Permitted() {
		wake = wake.By(due)
	} else {
		wake = wake.And(verdict.Wake(s.Now))
	}
	if s.PlanStored {
		wake = wake.By(s.CleanUpAt)
	}
	if siblings.ParentJobPending(s.Family) {
		wake = wake.And(job.OnChange("Installation", s.Parent.Name))
	}
	if !wake.Recorded() {
		wake = job.Settled()
	}
	return Decision{Do: Rest, Wake: wake}
}

// decideInterruption passes an interruption to the children. A job that has not reached its
// children ends with it.
func decideInterruption(s Situation, unfinished bool) Decision {
	d := doing(Interrupt)
	status := &s.Inst.Status
	waits := status.InstallationPhase == v1alpha1.InstallationPhases.InitDelete && len(siblings.Terminating(s.Family)) == 0 && (s.Exec == nil || s.Exec.DeletionTimestamp == nil)
	if unfinished && (waits || canAbandon(s) || removesNext(s) || job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase))) {
		d.Err = job.AsTerminal(endedBy(s.Inst))
	}
	return d
}

// removesNext reports whether the next step of a job is the first one that removes something:
// no child could end the job before.
func removesNext(s Situation) bool {
	if s.Inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Progressing || missesExecution(s) {
		return false
	}
	next := decideChildren(s).Do
	return next == BeginRemovals || next == DeleteHeld
}

// asksForJob reports whether an Installation is to get a job of its own. A terminating Installation
// whose parent no longer exists deletes itself.
func asksForJob(s Situation, operation v1alpha1.Operation) bool {
	if !s.Orphaned {
		return predicates.RequestsJob(s.Inst, operation, s.Triggers)
	}
	return predicates.BeingDeleted(s.Inst) && predicates.HasFinalizer(s.Inst) &&
		(operation == v1alpha1.ReconcileOperation || !s.Inst.Status.InstallationPhase.Current().IsDeletion())
}

// interrupted reports whether a request ends the job. A request for a job that is about to be
// stored does not; and a request that comes before the parent assigns a job is for that job.
func interrupted(s Situation, unfinished bool) bool {
	return s.PendingTrigger == "" && predicates.IsInterrupted(s.Inst, unfinished) && (unfinished || !siblings.ParentJobPending(s.Family))
}

// needsAcceptance reports whether the admission of the running job was cut short
// before the finalizer was set. The children wait for that.
func needsAcceptance(s Situation) bool {
	return s.PendingTrigger == "" && !predicates.BeingDeleted(s.Inst) && !predicates.HasFinalizer(s.Inst)
}

// decidePhase chooses the step of a running job. From a phase that we do not know,
// the job begins again.
func decidePhase(s Situation) Decision {
	phases := v1alpha1.InstallationPhases
	if missesExecution(s) {
		return doing(Confirm)
	}
	switch s.Inst.Status.InstallationPhase {
	case phases.Init, phases.ObjectsCreated:
		if len(siblings.Terminating(s.Family)) > 0 || siblings.ExecutionTerminating(s.Family) {
			return doing(Clear)
		}
		return ByInputs(s)
	case phases.CleanupOrphaned:
		return decideTerminating(s)
	case phases.Progressing:
		return decideChildren(s)
	case phases.Completing:
		return decideCompletion(s)
	case phases.InitDelete, phases.TriggerDelete:
		return decideRemoval(s)
	case phases.Deleting:
		return decideDeletion(s)
	}
	return doing(Begin)
}

// missesExecution reports whether a job that deploys has an Execution that no cache shows. The job
// would wait without end for one that another client has deleted, so that the API server decides.
func missesExecution(s Situation) bool {
	phases := v1alpha1.InstallationPhases
	switch s.Inst.Status.InstallationPhase {
	case phases.Init, phases.ObjectsCreated, phases.CleanupOrphaned, phases.Progressing:
		return s.Inst.Status.ExecutionReference != nil && s.Exec == nil && !s.ExecutionAbsent
	}
	return false
}

// ByInputs chooses what to do before anything is rendered.
func ByInputs(s Situation) Decision {
	in := s.Inputs
	switch {
	case in == nil:
		return doing(ReadInputs)
	case len(in.Invalid) > 0:
		return failure(job.Wrap(in.Invalid.ToAggregate(), published.InitPrerequisites, reasons.ValidateInstallation, "the Installation is not valid", v1alpha1.ErrorForInfoOnly))
	case in.Turn.Err != nil:
		return failure(in.Turn.Err)
	case len(in.Turn.WaitsFor) > 0:
		return awaiting(job.OnChange("Installation", in.Turn.WaitsFor...), published.Init, reasons.AllPredecessorsFinished, siblings.Phrase(in.Turn.WaitsFor, "waiting for Installation %s, whose exports are imported", "waiting for Installations %s, whose exports are imported"))
	case in.Context == nil:
		return decideWithoutContext(s.Inst)
	case in.ImportsErr != nil:
		return failure(job.Wrap(in.ImportsErr, published.Init, reasons.ImportsSatisfied, ""))
	case len(in.Missing) > 0:
		return ByMissing(s.Parent, in, s.Now)
	case isAsBefore(s) && isConcerned(s.Inst):
		return doing(Refresh)
	case isAsBefore(s):
		return doing(Pass)
	}
	return doing(WriteChildren)
}

// decideWithoutContext waits for the default Context, which the server makes. Any
// other one is up to the user.
func decideWithoutContext(inst *v1alpha1.Installation) Decision {
	name := predicates.ContextOf(inst)
	if name != v1alpha1.DefaultContextName {
		return failure(job.NewError(published.InitPrerequisites, reasons.CalculateContext, fmt.Sprintf("spec.context: there is no Context %q in namespace %s: create it, or name another one", name, inst.Namespace)))
	}
	return awaiting(job.OnChange("Context", name), published.InitPrerequisites, reasons.CalculateContext, "waiting for Context default of namespace "+inst.Namespace+", which the server makes unless the administrator has switched that off: create it, or name another one in spec.context")
}

// canAbandon reports whether a job has not reached any child.
func canAbandon(s Situation) bool {
	switch s.Inst.Status.InstallationPhase {
	case v1alpha1.InstallationPhases.Init:
		return true
	case v1alpha1.InstallationPhases.CleanupOrphaned:
		return len(siblings.Terminating(s.Family)) == 0 && !siblings.ExecutionTerminating(s.Family)
	}
	return false
}

// PickedUp reports whether the request for the first job of a root is removed, and the job is not
// stored yet.
func PickedUp(s Situation) bool { return s.PickedUp || predicates.Admitted(s.Inst) }

// FollowsImports reports whether a root without a job gets one when its imports change. Imports do
// not start the first job.
func FollowsImports(s Situation) bool {
	return s.Triggers.OnImportChange && predicates.Follows(s.Inst) && s.Inst.Status.JobID != "" && s.Inst.Annotations[v1alpha1.OperationAnnotation] == ""
}

// endedBy is why a job ends that has not reached its children.
func endedBy(inst *v1alpha1.Installation) error {
	if predicates.IsAborting(inst) {
		return job.NewError(published.AbortOperation, reasons.Aborted, "operation was aborted")
	}
	return job.Interrupted(inst.Status.Conditions, inst.Status.LastError)
}
