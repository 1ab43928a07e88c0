package installation

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/runtime/job"
)

// forget drops what is remembered of an Installation that no longer exists.
func (r *Reconciler) forget(uid types.UID) {
	for _, of := range []*marks{&r.unstored, &r.taken, &r.leaving, &r.condemned} {
		of.note(uid, false)
	}
	r.written.Forget(uid)
	r.outages.Over(uid)
	r.plansKept.Forget(uid)
	r.trees.Forget(uid)
	r.created.End(uid)
}

// forgetObject is for the event that reports the deletion of an Installation.
func (r *Reconciler) forgetObject(inst client.Object) {
	r.forget(inst.GetUID())
	r.arrivals.Forget(client.ObjectKeyFromObject(inst))
	if parent, isSub := job.OwnerOf(inst, "Installation"); isSub {
		r.created.Drop(parent.UID, inst.GetName())
	}
}

// forgetExecution drops what is remembered of an Execution that no longer exists.
func (r *Reconciler) forgetExecution(exec client.Object) {
	r.written.Forget(exec.GetUID())
	if parent, isChild := job.OwnerOf(exec, "Installation"); isChild {
		r.created.Drop(parent.UID, exec.GetName())
	}
}
