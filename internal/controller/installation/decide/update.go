package decide

import (
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
)

// RequestedUpdate is the data update that a job of a root does; nil if the job deploys everything.
func RequestedUpdate(s Situation, trigger v1alpha1.JobTrigger) *v1alpha1.DataUpdate {
	if trigger != v1alpha1.TriggeredByExports {
		return nil
	}
	named := s.Inst.Annotations[v1alpha1.ChangedExportsAnnotation]
	return updateOf(s, slices.DeleteFunc(strings.Split(named, ","), func(name string) bool { return name == "" }))
}

// InheritedUpdate is the data update that the job of the parent does; nil if the job deploys
// everything.
func InheritedUpdate(s Situation) *v1alpha1.DataUpdate {
	if s.Parent.Status.DataUpdate == nil || predicates.BeingDeleted(s.Inst) {
		return nil
	}
	return updateOf(s, s.Parent.Status.DataUpdate.Installations)
}

// updateOf notes whether the last job has left everything as it should be. It is called before the
// job begins: the status still describes the last job then.
func updateOf(s Situation, changed []string) *v1alpha1.DataUpdate {
	status := &s.Inst.Status
	complete := status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded && s.Inst.Generation == status.ObservedGeneration &&
		len(siblings.Terminating(s.Family)) == 0 && len(siblings.Absent(s.Family)) == 0 && !siblings.ExecutionTerminating(s.Family) && (status.ExecutionReference == nil) == (s.Exec == nil) && siblings.AreDeployed(s.Family) &&
		job.Pending(status.Conditions) == nil && !siblings.HasPendingRemovals(s.Family)
	return &v1alpha1.DataUpdate{Installations: slices.Clone(changed), Unchanged: complete}
}

// Unchanged reports whether the running job leaves an Installation as it is.
func Unchanged(inst *v1alpha1.Installation) bool {
	return inst.Status.DataUpdate != nil && inst.Status.DataUpdate.Unchanged
}

// isAsBefore reports whether the last job has deployed what this one would.
func isAsBefore(s Situation) bool {
	return Unchanged(s.Inst) && s.Inputs.Hash != "" && s.Inputs.Hash == s.Inst.Status.ImportsHash
}

// isConcerned reports whether something that an Installation or a part of it has exported
// has changed.
func isConcerned(inst *v1alpha1.Installation) bool {
	return slices.Contains(inst.Status.DataUpdate.Installations, inst.Name)
}
