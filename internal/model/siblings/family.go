package siblings

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Family is an Installation with its parent and its children.
type Family struct {
	Inst *v1alpha1.Installation
	// Exec is the Execution of the Installation, or nil.
	Exec *v1alpha1.Execution
	// Parent is the Installation that this one is a part of, or nil; Orphaned says that the parent
	// no longer exists.
	Parent   *v1alpha1.Installation
	Orphaned bool
	// Subs are the subinstallations. They are shared and must not be changed.
	Subs []*v1alpha1.Installation
}

// ParentJobPending reports whether the parent has a job that the Installation does not have
// yet, or is in a round that the Installation does not have.
func ParentJobPending(f Family) bool { return job.PartOfSub(f.Inst, f.Parent).Awaits(f.Parent) }

// ParentHasJob reports whether the parent has a job for the Installation. One that is being deleted
// without our finalizer gets none.
func ParentHasJob(f Family) bool {
	return (!predicates.BeingDeleted(f.Inst) || predicates.HasFinalizer(f.Inst)) && HasJobFor(f.Parent, f.Inst, job.PartOfSub(f.Inst, f.Parent))
}

// HasJobFor reports whether an Installation has a job for one of its children, a subinstallation or the
// Execution. It assigns its job to all children at once, when the last one is written; its phase says
// so. Children that are to be deleted get the job before: the others wait until these no longer exist.
// Another client may have deleted the child: its deletion comes with the next job, of any kind.
func HasJobFor(parent *v1alpha1.Installation, child metav1.Object, part job.Part) bool {
	if !part.Awaits(parent) {
		return false
	}
	phases, phase := v1alpha1.InstallationPhases, parent.Status.InstallationPhase
	if child.GetDeletionTimestamp() != nil {
		return phase == phases.CleanupOrphaned || phase == phases.Progressing || phase == phases.TriggerDelete || phase == phases.Deleting
	}
	return job.Propagates(parent)
}

// DeletedWithNextJob reports whether the deletion of a subinstallation waits for the next job of its
// parent.
func DeletedWithNextJob(f Family) bool {
	return f.Parent != nil && predicates.BeingDeleted(f.Inst) && predicates.HasFinalizer(f.Inst) && !ParentJobPending(f) && !f.Inst.Status.InstallationPhase.Current().IsDeletion()
}

// DeletionCondition is what a deleted subinstallation waits for.
func DeletionCondition(f Family) v1alpha1.Condition {
	return v1alpha1.Condition{
		Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Waiting), ObservedGeneration: f.Inst.Status.ObservedGeneration,
		Message: fmt.Sprintf("the deletion begins with the next job of Installation %s: ask its root for one with the annotation %s: reconcile", f.Parent.Name, v1alpha1.OperationAnnotation),
	}
}

// HasDeletionCondition reports whether the status says what a deleted subinstallation waits for.
func HasDeletionCondition(f Family) bool {
	condition := job.GetCondition(f.Inst.Status.Conditions, v1alpha1.ReconcilingCondition)
	return condition != nil && condition.Message == DeletionCondition(f).Message
}

// Terminating returns the subinstallations that are being deleted.
func Terminating(f Family) []*v1alpha1.Installation {
	var subs []*v1alpha1.Installation
	for _, sub := range f.Subs {
		if predicates.BeingDeleted(sub) {
			subs = append(subs, sub)
		}
	}
	return subs
}

// ExecutionTerminating reports whether the Execution is being deleted.
func ExecutionTerminating(f Family) bool { return f.Exec != nil && f.Exec.DeletionTimestamp != nil }

// IsRound reports whether a round of the parent is a removal round for an Installation, and not its
// deletion. One that is terminating although its parent wants it was deleted by a user after its part of
// the job: the next job deletes it, and this one ends with what was kept.
func IsRound(f Family, round string) bool {
	return job.IsRemoval(round) && (!predicates.BeingDeleted(f.Inst) ||
		f.Parent != nil && !f.Parent.Status.InstallationPhase.IsDeletion() && !job.HasDropped(f.Parent, f.Inst.Name))
}

// IsRemoving reports whether the removal round of a job is under way.
func IsRemoving(inst *v1alpha1.Installation) bool { return job.IsRemoval(job.Round(inst)) }

// Held returns the subinstallations that are not wanted any more, and stay until the removal
// round.
func Held(f Family) []*v1alpha1.Installation {
	var subs []*v1alpha1.Installation
	for _, sub := range f.Subs {
		if job.PartOfSub(sub, f.Inst).Held {
			subs = append(subs, sub)
		}
	}
	return subs
}

// WithoutHeld returns the subinstallations that count for the job: all but those that are held.
func WithoutHeld(f Family) []*v1alpha1.Installation {
	subs := make([]*v1alpha1.Installation, 0, len(f.Subs))
	for _, sub := range f.Subs {
		if !job.PartOfSub(sub, f.Inst).Held {
			subs = append(subs, sub)
		}
	}
	return subs
}

// FirstUnfinishedSub returns the first subinstallation that has not ended the round that the job is in.
func FirstUnfinishedSub(f Family) (*v1alpha1.Installation, bool) {
	round := job.Round(f.Inst)
	for _, sub := range WithoutHeld(f) {
		if !job.PartOfSub(sub, f.Inst).Done(round) {
			return sub, true
		}
	}
	return nil, false
}

// HasPendingRemovals reports whether something below an Installation is kept until the removal round.
func HasPendingRemovals(f Family) bool {
	return f.Exec != nil && job.Pending(f.Exec.Status.Conditions) != nil || slices.ContainsFunc(f.Subs, func(sub *v1alpha1.Installation) bool {
		return job.HasDropped(f.Inst, sub.Name) || job.Pending(sub.Status.Conditions) != nil
	})
}

// Wanted returns siblings without those that their parent does not want any more: these export
// nothing, and no sibling waits for them.
func Wanted(self, parent *v1alpha1.Installation, siblings []*v1alpha1.Installation) []*v1alpha1.Installation {
	return slices.DeleteFunc(slices.Clone(siblings), func(sibling *v1alpha1.Installation) bool {
		return sibling.Name != self.Name && job.HasDropped(parent, sibling.Name)
	})
}

// FirstUnfinished returns the first of some children that has not finished a job.
func FirstUnfinished(subs []*v1alpha1.Installation, jobID string) (*v1alpha1.Installation, bool) {
	for _, sub := range subs {
		if sub.Status.JobIDFinished != jobID {
			return sub, true
		}
	}
	return nil, false
}

// Absent returns the subinstallations that the job has written and that no longer exist. The cache
// is not behind: it shows the status that names them.
func Absent(f Family) []string {
	if f.Inst.Status.SubInstCache == nil {
		return nil
	}
	there := make(map[string]bool, len(f.Subs))
	for _, sub := range f.Subs {
		there[sub.Name] = true
	}
	var names []string
	for _, pair := range f.Inst.Status.SubInstCache.ActiveSubs {
		if !there[pair.ObjectName] {
			names = append(names, pair.ObjectName)
		}
	}
	return names
}

// Removed returns the children that another client has removed during the job. An Execution
// counts when the job has begun to wait for it: see decide.
func Removed(f Family) []string {
	var children []string
	phases, phase := v1alpha1.InstallationPhases, f.Inst.Status.InstallationPhase
	if phase.Current().IsDeletion() {
		return nil
	}
	if f.Exec == nil && f.Inst.Status.ExecutionReference != nil && (phase == phases.Progressing || phase == phases.Failed) {
		children = append(children, "Execution "+f.Inst.Name)
	}
	for _, name := range Absent(f) {
		children = append(children, "Installation "+name)
	}
	return children
}

// AreDeployed reports whether all children are deployed as they are specified. An attempt
// of which only the children were stored may have written something else into them.
func AreDeployed(f Family) bool {
	changed := func(sub *v1alpha1.Installation) bool { return sub.Generation != sub.Status.ObservedGeneration }
	return !slices.ContainsFunc(f.Subs, changed) && (f.Exec == nil || f.Exec.Generation == f.Exec.Status.ObservedGeneration)
}
