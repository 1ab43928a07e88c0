package installation

import (
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

// ChangeTally counts what jobs change on clusters.
type ChangeTally interface {
	// Begin begins to count a job of a root, in the place of the one before.
	Begin(root types.UID, jobID string)
	// Of returns what a job has changed; nil if it is not counted.
	Of(jobID string) *v1alpha1.ObjectCounts
	// Forget forgets a job of a root. It does nothing for another job, or another Installation.
	Forget(root types.UID, jobID string)
}

// countChanges lets the record of a job take its numbers. When a cache shows the end of the job, the
// record is stored, and the numbers are not needed any more.
func (r *Reconciler) countChanges(s *snapshot) {
	if r.Changes == nil {
		return
	}
	s.subject.Objects = r.Changes.Of
	if s.Inst.Status.JobID == s.Inst.Status.JobIDFinished {
		r.forgetChanges(s.Inst)
	}
}

// forgetChanges forgets the numbers of the job of a root. A subinstallation has the same job.
func (r *Reconciler) forgetChanges(inst *v1alpha1.Installation) {
	if r.Changes != nil {
		r.Changes.Forget(inst.UID, inst.Status.JobID)
	}
}
