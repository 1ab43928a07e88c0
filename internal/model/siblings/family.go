package siblings

import (
	"fmt"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
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

// Awaited reports whether the parent has a job that the Installation does not have
// yet, or is in a round that the Installation does not have.
func Awaited(f Family) bool { return job.PartOfSub(f.Inst, f.Parent).Awaits(f.Parent) }

// HandsOver reports whether the parent has a job for the Installation. A parent assigns its job to
// all children at once, when the last one is written; its phase says so. Children that are to be
// deleted get the job before: the others wait until these no longer exist.
func HandsOver(f Family) bool {
	if !Awaited(f) {
		return false
	}
	phases := v1alpha1.InstallationPhases
	phase := f.Parent.Status.InstallationPhase
	if predicates.BeingDeleted(f.Inst) {
		return predicates.HasFinalizer(f.Inst) && (phase == phases.CleanupOrphaned || phase == phases.Progressing || phase == phases.TriggerDelete || phase == phases.Deleting)
	}
	return job.HandsDown(f.Parent)
}

// StaysUntilNext reports whether the deletion of a subinstallation waits for the next job of its
// parent.
func StaysUntilNext(f Family) bool {
	return f.Parent != nil && predicates.BeingDeleted(f.Inst) && predicates.HasFinalizer(f.Inst) && !Awaited(f) && !f.Inst.Status.InstallationPhase.Current().IsDeletion()
}

// Explanation is what a deleted subinstallation waits for.
func Explanation(f Family) v1alpha1.Condition {
	return v1alpha1.Condition{
		Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: "Waiting", ObservedGeneration: f.Inst.Status.ObservedGeneration,
		Message: fmt.Sprintf("the deletion begins with the next job of Installation %s: ask its root for one with the annotation %s: reconcile", f.Parent.Name, v1alpha1.OperationAnnotation),
	}
}

// Explained reports whether the status says what a deleted subinstallation waits for.
func Explained(f Family) bool {
	condition := job.GetCondition(f.Inst.Status.Conditions, v1alpha1.ReconcilingCondition)
	return condition != nil && condition.Message == Explanation(f).Message
}

// Leaving returns the subinstallations that are being deleted.
func Leaving(f Family) []*v1alpha1.Installation {
	var subs []*v1alpha1.Installation
	for _, sub := range f.Subs {
		if predicates.BeingDeleted(sub) {
			subs = append(subs, sub)
		}
	}
	return subs
}

// ExecutionLeaves reports whether the Execution is being deleted.
func ExecutionLeaves(f Family) bool { return f.Exec != nil && f.Exec.DeletionTimestamp != nil }

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

// Counting returns the subinstallations that count for the job: all but those that are held.
func Counting(f Family) []*v1alpha1.Installation {
	subs := make([]*v1alpha1.Installation, 0, len(f.Subs))
	for _, sub := range f.Subs {
		if !job.PartOfSub(sub, f.Inst).Held {
			subs = append(subs, sub)
		}
	}
	return subs
}

// Open returns the first subinstallation that has not ended the round that the job is in.
func Open(f Family) (*v1alpha1.Installation, bool) {
	round := job.Round(f.Inst)
	for _, sub := range Counting(f) {
		if !job.PartOfSub(sub, f.Inst).Done(round) {
			return sub, true
		}
	}
	return nil, false
}

// Keeps reports whether something below an Installation is kept until the removal round.
func Keeps(f Family) bool {
	return f.Exec != nil && job.Pending(f.Exec.Status.Conditions) != nil || slices.ContainsFunc(f.Subs, func(sub *v1alpha1.Installation) bool {
		return job.Leaves(f.Inst, sub.Name) || job.Pending(sub.Status.Conditions) != nil
	})
}

// Staying returns siblings without those that their parent does not want any more: these export
// nothing, and no sibling waits for them.
func Staying(self, parent *v1alpha1.Installation, siblings []*v1alpha1.Installation) []*v1alpha1.Installation {
	return slices.DeleteFunc(slices.Clone(siblings), func(sibling *v1alpha1.Installation) bool {
		return sibling.Name != self.Name && job.Leaves(parent, sibling.Name)
	})
}

// Busy returns the first of some children that has not finished a job.
func Busy(subs []*v1alpha1.Installation, jobID string) (*v1alpha1.Installation, bool) {
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
