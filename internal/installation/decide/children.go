package decide

import (
	"errors"
	"fmt"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/job/published"
)

// decideLeaving looks at subinstallations that are being deleted: those that are no
// longer wanted, and those that somebody has deleted. The others get the job when they
// are gone, because they may bring up the same.
func decideLeaving(s Situation) Decision {
	subs := kin.Leaving(s.Family)
	if sub, running := kin.Busy(subs, s.Inst.Status.JobID); running {
		return Decision{Do: Rest, Wake: job.OnChange("Installation", sub.Name)}
	}
	switch {
	case len(subs) > 0:
		return failure(job.Wrap(subErrors(subs), published.HandlePhaseCleanupOrphaned, "AllOrphanedSubinstallationsFailed", "subinstallations that are no longer wanted could not be deleted", v1alpha1.ErrorForInfoOnly))
	case hasWritten(s.Inst):
		return doing(HandOver)
	}
	return ByInputs(s)
}

// hasWritten reports whether this job has written all children, and what its exports
// need. The public system has no plan for them: its job begins again.
func hasWritten(inst *v1alpha1.Installation) bool {
	return inst.Status.SubInstCache != nil && (facts.ExportsArePending(inst) || !facts.Exporting(inst))
}

// decideChildren looks at the children of a running job. All of them end before it
// does.
func decideChildren(s Situation) Decision {
	status := &s.Inst.Status
	if sub, running := kin.Busy(s.Subs, status.JobID); running {
		return Decision{Do: Rest, Wake: job.OnChange("Installation", sub.Name)}
	}
	if status.ExecutionReference != nil && (s.Exec == nil || s.Exec.Status.JobIDFinished != status.JobID) {
		return Decision{Do: Rest, Wake: job.OnChange("Execution", s.Inst.Name)}
	}
	if err := childrenError(s); err != nil {
		return failure(err)
	}
	return decideCompletion(s)
}

// childrenError says which children have failed, and why: those that only follow from
// the failure of a sibling are named, and no cause. It is nil if all have succeeded.
func childrenError(s Situation) error {
	var said, failed []string
	var causes []error
	for _, sub := range s.Subs {
		if sub.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
			failed = append(failed, sub.Name)
		}
	}
	gone := kin.Absent(s.Family)
	if failed = append(failed, gone...); len(failed) > 0 {
		said = append(said, "Failed sub-installation(s): "+kin.Listed(failed))
		causes = append(causes, subErrors(s.Subs), absentError(gone))
	}
	if s.Inst.Status.ExecutionReference != nil && s.Exec.Status.ExecutionPhase != v1alpha1.ExecutionPhases.Succeeded {
		said = append(said, "Execution is failed")
		causes = append(causes, execError(s.Exec))
	}
	if len(said) == 0 {
		return nil
	}
	return job.Wrap(errors.Join(causes...), published.BuildErrorIfFailedChild, failureOf(s), strings.Join(said, ", "), v1alpha1.ErrorForInfoOnly)
}

func absentError(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("somebody has deleted %s during the job: start another job with the annotation %s: reconcile", kin.Listed(names), v1alpha1.OperationAnnotation)
}

const (
	// mostCauses is how many failures of subinstallations their parent repeats, and
	// longestCause how much of each: the root has to name the cause through all levels.
	mostCauses   = 3
	longestCause = 1000
)

// subErrors returns why subinstallations have failed. A failure that follows from that
// of a sibling is no cause.
func subErrors(subs []*v1alpha1.Installation) error {
	var causes []error
	more := 0
	for _, sub := range subs {
		last := sub.Status.LastError
		switch {
		case last == nil, !sub.Status.InstallationPhase.IsFailed(), last.Reason == kin.PredecessorFailed, last.Reason == kin.SiblingNotDeleted:
		case len(causes) == mostCauses:
			more++
		default:
			causes = append(causes, fmt.Errorf("%s: %s", sub.Name, shortened(last.Message)))
		}
	}
	if more > 0 {
		causes = append(causes, fmt.Errorf("and %d more", more))
	}
	return errors.Join(causes...)
}

// shortened cuts a message.
func shortened(message string) string {
	if len(message) <= longestCause {
		return message
	}
	return strings.ToValidUTF8(message[:longestCause], "") + " ..."
}

// decideCompletion ends a job whose children are done. What was changed meanwhile
// would be missing in its results.
func decideCompletion(s Situation) Decision {
	if s.Inst.Generation != s.Inst.Status.ObservedGeneration {
		return failure(job.NewError(published.HandlePhaseCompleting, "CheckObservedGeneration", "installation spec has been changed: request another job with the annotation "+v1alpha1.OperationAnnotation+": reconcile"))
	}
	return doing(Complete)
}

// decideRemoval looks at what has to go before a deletion reaches the children.
func decideRemoval(s Situation) Decision {
	switch {
	case s.Turn == nil && kin.MindsImporters(s.Inst):
		return doing(Survey)
	case s.Turn != nil && s.Turn.Never != nil:
		return failure(s.Turn.Never)
	case s.Turn != nil && len(s.Turn.Waits) > 0:
		return awaiting(job.OnChange("Installation", s.Turn.Waits...), published.CheckSuccessorSibling, "SiblingImport",
			"a sibling still imports some of the exports: waiting until Installations "+kin.Listed(s.Turn.Waits)+" are deleted: delete them, or let this Installation go before them with the annotation "+v1alpha1.DeleteIgnoreSuccessorsAnnotation+"=true")
	case s.Exec == nil && s.Inst.Status.ExecutionReference == nil && len(s.Subs) == 0:
		return doing(Release)
	}
	return doing(Remove)
}

// decideDeletion looks at what is left of the children. The cache may be behind, so
// that the API server has the last word on whether the Execution is gone; and it may
// show the Execution only now, which nobody has deleted then.
func decideDeletion(s Situation) Decision {
	jobID := s.Inst.Status.JobID
	if len(kin.Leaving(s.Family)) < len(s.Subs) || s.Exec != nil && s.Exec.DeletionTimestamp == nil && (s.Gone || !s.Condemned) {
		return doing(Remove)
	}
	if sub, running := kin.Busy(s.Subs, jobID); running {
		return Decision{Do: Rest, Wake: job.OnChange("Installation", sub.Name)}
	}
	switch {
	case s.Exec == nil && s.Inst.Status.ExecutionReference != nil && !s.Gone:
		return doing(Confirm)
	case s.Exec == nil && len(s.Subs) == 0:
		return doing(Release)
	case s.Exec != nil && s.Exec.Status.JobIDFinished != jobID:
		return Decision{Do: Rest, Wake: job.OnChange("Execution", s.Exec.Name)}
	}
	return failure(job.Wrap(errors.Join(subErrors(s.Subs), execError(s.Exec)), published.HandleReconcilePhase, "UndeletedSubobjects", "not all sub objects were deleted"))
}

// execError returns what an Execution says about its failure.
func execError(exec *v1alpha1.Execution) error {
	if exec == nil || exec.Status.LastError == nil {
		return nil
	}
	return errors.New(exec.Status.LastError.Message)
}

// failureOf is the reason of a failure that follows from those of children: an abort is
// told up to the root.
func failureOf(s Situation) string {
	for _, sub := range s.Subs {
		if last := sub.Status.LastError; last != nil && last.Reason == v1alpha1.AbortedReason {
			return v1alpha1.AbortedReason
		}
	}
	if s.Exec != nil && s.Exec.Status.LastError != nil && s.Exec.Status.LastError.Reason == v1alpha1.AbortedReason {
		return v1alpha1.AbortedReason
	}
	return "children failed"
}
