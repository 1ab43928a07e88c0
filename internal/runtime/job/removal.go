package job

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// A job has two rounds where objects may move. In the first one, everything that is wanted is
// applied, and objects that another part of the same tree might still take over are kept. The
// second one, the removal round, reaches only those parts of the tree that have kept something,
// and removes what no part has taken over. Its ID is that of the job with a suffix, so that the
// levels below the root get the round in the same way as a job. The root keeps the ID of the
// job, and a condition on it shows that the round has begun.

// removalSuffix marks the ID of a removal round.
const removalSuffix = "-removal"

// NotWanted is what is said of a part of a tree that is not wanted any more and kept.
const NotWanted = "not wanted any more: removed at the end of the job unless another part takes its objects over"

// RemovalOf returns the ID of the removal round of a job.
func RemovalOf(jobID string) string { return BaseOf(jobID) + removalSuffix }

// BaseOf returns the ID of the job that a round belongs to.
func BaseOf(jobID string) string { return strings.TrimSuffix(jobID, removalSuffix) }

// IsRemoval reports whether an ID is that of a removal round.
func IsRemoval(jobID string) bool { return strings.HasSuffix(jobID, removalSuffix) }

// Pending returns the condition PendingRemovals; nil if nothing is kept.
func Pending(conditions []v1alpha1.Condition) *v1alpha1.Condition {
	found := GetCondition(conditions, v1alpha1.PendingRemovalsCondition)
	if found == nil || found.Status != v1alpha1.ConditionTrue {
		return nil
	}
	return found
}

// IsNotWanted reports whether an Installation says that its parent keeps it only until the end
// of a job.
func IsNotWanted(inst *v1alpha1.Installation) bool {
	return reasons.IsNotWanted(Pending(inst.Status.Conditions))
}

// Round returns the ID of the round that the job of an Installation is in: that of the job, or
// of its removal round. The round ends with the phase that it is in.
func Round(inst *v1alpha1.Installation) string {
	status := &inst.Status
	if reasons.IsRemoving(Pending(status.Conditions)) && status.InstallationPhase == v1alpha1.InstallationPhases.Progressing {
		return RemovalOf(status.JobID)
	}
	return status.JobID
}

// HasDropped reports whether an Installation does not want one of its subinstallations any more.
func HasDropped(parent *v1alpha1.Installation, sub string) bool {
	return parent != nil && parent.Status.SubInstCache != nil && slices.Contains(parent.Status.SubInstCache.OrphanedSubs, sub)
}

// HasOtherParts reports whether the tree of an Installation has more Installations than this
// one: what they want is not known before they are rendered.
func HasOtherParts(inst *v1alpha1.Installation) bool {
	_, isSub := OwnerOf(inst, "Installation")
	subs := inst.Status.SubInstCache
	// One that was restored may have lost its owner.
	isSub = isSub || inst.Labels[v1alpha1.EncompassedByLabel] != ""
	return isSub || subs != nil && len(subs.ActiveSubs)+len(subs.OrphanedSubs) > 0
}

// RemovesFirst reports whether an Installation asks that nothing be kept.
func RemovesFirst(inst *v1alpha1.Installation) bool {
	return inst.Annotations[v1alpha1.RemoveFirstAnnotation] == "true"
}

// Part is what an object shows about its part in the job of the object above it.
type Part struct {
	// JobID and Finished are the job that it has, and the last one that has ended.
	JobID, Finished string
	// Pending says that it keeps something for the removal round.
	Pending bool
	// Unwanted says that it is not wanted any more, and Held that it is kept nevertheless.
	Unwanted, Held bool
}

// PartOfSub returns the part of a subinstallation in the job of its parent.
func PartOfSub(sub, parent *v1alpha1.Installation) Part {
	status, leaving := &sub.Status, HasDropped(parent, sub.Name)
	return Part{
		JobID: status.JobID, Finished: status.JobIDFinished, Pending: Pending(status.Conditions) != nil,
		Unwanted: leaving, Held: leaving && sub.DeletionTimestamp == nil,
	}
}

// PartOfExecution returns the part of an Execution in the job of its Installation.
func PartOfExecution(exec *v1alpha1.Execution) Part {
	status := &exec.Status
	return Part{JobID: status.JobID, Finished: status.JobIDFinished, Pending: Pending(status.Conditions) != nil}
}

// PartOfItem returns the part of a DeployItem in the job of its Execution.
func PartOfItem(item *v1alpha1.DeployItem) Part {
	status := &item.Status
	return Part{JobID: status.JobID, Finished: status.JobIDFinished, Pending: Pending(status.Conditions) != nil}
}

// Due reports whether an object is to get a round that it does not have yet. What is held gets
// none, and a removal round concerns nothing that has ended the job and kept nothing.
func (p Part) Due(round string) bool {
	concerned := !IsRemoval(round) || p.JobID != BaseOf(round) || p.Pending || p.Unwanted
	return p.JobID != round && concerned && !p.Held
}

// Done reports whether an object has ended a round, or has nothing to do in it.
func (p Part) Done(round string) bool {
	nothing := IsRemoval(round) && p.JobID != round && p.Finished == BaseOf(round) && !p.Pending && !p.Unwanted
	return p.Finished == round || nothing
}

// Awaits reports whether an object does not have the job of its parent yet, or not the round
// that the job is in.
func (p Part) Awaits(parent *v1alpha1.Installation) bool {
	if parent == nil || !Unfinished(parent.Status.JobID, parent.Status.JobIDFinished) {
		return false
	}
	if parent.Status.InstallationPhase.IsDeletion() {
		// All objects are deleted, kept or not.
		return p.JobID != parent.Status.JobID
	}
	return p.Due(Round(parent))
}

// NotePending replaces what the status of an Execution or Installation says of what is kept; an
// empty message says that nothing is.
func NotePending(conditions *[]v1alpha1.Condition, message string, generation int64, now metav1.Time) {
	if message == "" {
		DropCondition(conditions, v1alpha1.PendingRemovalsCondition)
		return
	}
	SetCondition(conditions, v1alpha1.Condition{
		Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Kept), Message: truncate(message), ObservedGeneration: generation,
	}, now)
}
