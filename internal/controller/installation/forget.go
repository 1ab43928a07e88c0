package installation

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/runtime/job"
)

// forget drops what is remembered of an Installation that no longer exists.
func (r *Reconciler) forget(uid types.UID) {
	for _, of := range []*marks{&r.unstored, &r.pickedUp, &r.terminating, &r.executionDeleted} {
		of.note(uid, false)
	}
	r.written.Forget(uid)
	r.outages.Forget(uid)
	r.planCache.Forget(uid)
	r.trees.Forget(uid)
	r.created.ForgetOwner(uid)
}

// forgetObject is for the event that reports the deletion of an Installation.
func (r *Reconciler) forgetObject(inst client.Object) {
	r.forget(inst.GetUID())
	r.arrivals.Forget(client.ObjectKeyFromObject(inst))
	if parent, isSub := job.OwnerOf(inst, "Installation"); isSub {
		r.created.Forget(parent.UID, inst.GetName())
	}
}

// forgetExecution drops what is remembered of an Execution that no longer exists.
func (r *Reconciler) forgetExecution(exec client.Object) {
	r.written.Forget(exec.GetUID())
	if parent, isChild := job.OwnerOf(exec, "Installation"); isChild {
		r.created.Forget(parent.UID, exec.GetName())
	}
}
