package siblings

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/cause"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Tree is an Installation with its children, read as far down as these have failed or are blocked.
type Tree struct {
	Inst *v1alpha1.Installation
	Exec *v1alpha1.Execution
	Subs []Tree
	// Removed are the children that another client has removed.
	Removed []string
}

// Shallow is what a family shows without reading below the children.
func Shallow(f Family) Tree {
	tree := Tree{Inst: f.Inst, Exec: f.Exec, Subs: make([]Tree, len(f.Subs)), Removed: Removed(f)}
	for i, sub := range f.Subs {
		tree.Subs[i].Inst = sub
	}
	return tree
}

// HasFailed reports whether a subinstallation has failed in a job.
func HasFailed(sub *v1alpha1.Installation, jobID string) bool {
	return sub.Status.JobIDFinished == jobID && sub.Status.InstallationPhase.IsFailed()
}

// IsStuck reports whether a subinstallation says that it is blocked in a job. One that waits for a
// sibling has no cause of its own.
func IsStuck(sub *v1alpha1.Installation, jobID string) bool {
	status := &sub.Status
	return status.JobID == jobID && status.JobIDFinished != jobID && job.Obstacle(status.Conditions) != "" &&
		!reasons.FollowsSibling(status.LastError)
}

// HidesCause reports whether the cause of a subinstallation's message is below it.
func HidesCause(sub *v1alpha1.Installation, jobID string) bool {
	return HasFailed(sub, jobID) || IsStuck(sub, jobID) && job.IsBlocked(sub.Status.Conditions)
}

// Failures returns why children have failed in a job. A failure that follows from that of a
// sibling counts only if there is no other.
func Failures(tree Tree, jobID string) []cause.Cause {
	causes, following := removals(tree), []cause.Cause(nil)
	for _, sub := range tree.Subs {
		switch last := sub.Inst.Status.LastError; {
		case !HasFailed(sub.Inst, jobID):
		case reasons.FollowsSibling(last):
			following = append(following, reportedCause(sub.Inst, last))
		default:
			causes = append(causes, failure(sub, jobID)...)
		}
	}
	if exec := tree.Exec; exec != nil && exec.Status.JobIDFinished == jobID && exec.Status.ExecutionPhase.IsFailed() && exec.Status.LastError != nil {
		causes = append(causes, cause.Cause{Message: exec.Status.LastError.Message})
	}
	if len(causes) == 0 {
		return following
	}
	return causes
}

// removals are the causes of children that another client has removed.
func removals(tree Tree) []cause.Cause {
	var causes []cause.Cause
	for _, child := range tree.Removed {
		causes = append(causes, cause.Cause{Message: job.Removed(child)})
	}
	return causes
}

// failure is why one subinstallation has failed: because of an object below it, or itself.
func failure(sub Tree, jobID string) []cause.Cause {
	below := Failures(sub, jobID)
	for i := range below {
		below[i] = below[i].Below(NameOf(sub.Inst))
	}
	if len(below) == 0 && sub.Inst.Status.LastError != nil {
		below = append(below, reportedCause(sub.Inst, sub.Inst.Status.LastError))
	}
	return below
}

func reportedCause(sub *v1alpha1.Installation, last *v1alpha1.Error) cause.Cause {
	return cause.Cause{Message: last.Message}.Below(NameOf(sub))
}

// NameOf is the name of a subinstallation in the blueprint of its parent.
func NameOf(sub *v1alpha1.Installation) string {
	return cmp.Or(sub.Annotations[v1alpha1.SubinstallationNameAnnotation], sub.Name)
}

// Obstacles returns why a job does not continue: children that have failed, wait, or were removed.
// Again is when to check one that does not count yet.
func Obstacles(tree Tree, jobID string, now time.Time) (found []cause.Cause, again time.Time) {
	counts := func(since *metav1.Time) bool {
		settled := job.SettledAt(since)
		if settled.After(now) && (again.IsZero() || settled.Before(again)) {
			again = settled
		}
		return !settled.After(now)
	}
	found = removals(tree)
	for _, sub := range tree.Subs {
		status := &sub.Inst.Status
		failed := HasFailed(sub.Inst, jobID) && !reasons.FollowsSibling(status.LastError)
		switch {
		case !failed && !IsStuck(sub.Inst, jobID), !counts(status.PhaseTransitionTime):
		case failed:
			found = append(found, failure(sub, jobID)...)
		default:
			found = append(found, obstacle(sub, jobID, now)...)
		}
	}
	if message := obstacleOfItems(tree.Exec, jobID); message != "" && counts(tree.Exec.Status.PhaseTransitionTime) {
		found = append(found, cause.Cause{Message: message})
	}
	return found, again
}

// obstacleOfItems is why the Execution of a job does not continue, or has failed; empty if it
// continues, or does not have the job.
func obstacleOfItems(exec *v1alpha1.Execution, jobID string) string {
	switch {
	case exec == nil || exec.Status.JobID != jobID:
		return ""
	case exec.Status.JobIDFinished != jobID:
		return job.Obstacle(exec.Status.Conditions)
	case exec.Status.LastError != nil && exec.Status.ExecutionPhase.IsFailed():
		return exec.Status.LastError.Message
	}
	return ""
}

// obstacle is why one subinstallation does not continue.
func obstacle(sub Tree, jobID string, now time.Time) []cause.Cause {
	var below []cause.Cause
	if job.IsBlocked(sub.Inst.Status.Conditions) {
		below, _ = Obstacles(sub, jobID, now)
	}
	if len(below) == 0 {
		below = []cause.Cause{{Message: job.Obstacle(sub.Inst.Status.Conditions)}}
	}
	for i := range below {
		below[i] = below[i].Below(NameOf(sub.Inst))
	}
	return below
}
