package execution

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

// snapshot is everything that a decision depends on.
type snapshot struct {
	exec *v1alpha1.Execution
	// parent is the Installation that the Execution belongs to, or nil.
	parent *v1alpha1.Installation
	// orphaned says that the Execution had a parent which is gone.
	orphaned bool
	// items are the DeployItems of the Execution.
	items []*v1alpha1.DeployItem
}

// step is what to do next.
type step string

const (
	// rest means that there is nothing to do until something changes.
	rest step = "rest"
	// interrupt fails what is not finished.
	interrupt step = "interrupt"
	// adopt takes the job of the parent over and begins with it.
	adopt step = "adopt"
	// begin starts a job that somebody handed over.
	begin step = "begin"
	// advance triggers items and looks whether all are done.
	advance step = "advance"
	// complete collects the exports.
	complete step = "complete"
	// remove deletes the items.
	remove step = "remove"
	// drain triggers items of a deletion and looks whether all are gone.
	drain step = "drain"
)

// decide chooses the next step.
func decide(s snapshot) step {
	status := &s.exec.Status
	interrupted := s.exec.Annotations[v1alpha1.OperationAnnotation] == string(v1alpha1.InterruptOperation)
	running := job.Unfinished(status.JobID, status.JobIDFinished)
	switch {
	case running && interrupted:
		return interrupt
	case !running && handsOver(s):
		return adopt
	case interrupted && !awaited(s):
		return interrupt
	case !running:
		return rest
	case job.Starting(status.JobID, status.JobIDFinished, string(status.ExecutionPhase)):
		return begin
	}
	phases := v1alpha1.ExecutionPhases
	switch status.ExecutionPhase {
	case phases.Init:
		return begin
	case phases.Progressing:
		return advance
	case phases.Completing:
		return complete
	case phases.InitDelete:
		return remove
	case phases.TriggerDelete, phases.Deleting:
		return drain
	}
	return rest
}

// awaited reports whether the parent is about to hand a job over. An interruption
// that arrives before its job must not be lost: it stays until the job is there.
func awaited(s snapshot) bool {
	if s.parent == nil {
		return false
	}
	parent := &s.parent.Status
	return parent.JobID != s.exec.Status.JobID && job.Unfinished(parent.JobID, parent.JobIDFinished)
}

// handsOver reports whether the parent has a job for the Execution. A parent hands
// its job to all children at once, when the last one is written; it says so with
// its phase. An Execution whose parent is gone deletes itself.
func handsOver(s snapshot) bool {
	if s.exec.DeletionTimestamp != nil && s.orphaned {
		return true
	}
	if s.parent == nil {
		return false
	}
	parent := &s.parent.Status
	if parent.JobID == s.exec.Status.JobID || !job.Unfinished(parent.JobID, parent.JobIDFinished) {
		return false
	}
	phases := v1alpha1.InstallationPhases
	if s.exec.DeletionTimestamp != nil {
		return parent.InstallationPhase == phases.TriggerDelete || parent.InstallationPhase == phases.Deleting
	}
	return parent.InstallationPhase == phases.Progressing
}
