package installation

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/runtime/job"
)

// forget ends what is remembered of an Installation that is gone, however it went.
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

// forgetObject is for the event that tells of the end of an Installation.
func (r *Reconciler) forgetObject(inst client.Object) {
	r.forget(inst.GetUID())
	r.arrivals.Forget(client.ObjectKeyFromObject(inst))
	if parent, isSub := job.OwnerOf(inst, "Installation"); isSub {
		r.created.Drop(parent.UID, inst.GetName())
	}
}

// forgetExecution ends what is remembered of an Execution that is gone.
func (r *Reconciler) forgetExecution(exec client.Object) {
	r.written.Forget(exec.GetUID())
	if parent, isChild := job.OwnerOf(exec, "Installation"); isChild {
		r.created.Drop(parent.UID, exec.GetName())
	}
}
