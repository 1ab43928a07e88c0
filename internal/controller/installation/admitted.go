package installation

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
)

// pickUp replaces the request for a first job by a note that the job was requested. A later request
// means that something has changed, and leads to another job; a crash loses none. Only a first job
// can begin so: an Installation without a request and without a phase has had no job that ended.
func (r *Reconciler) pickUp(ctx context.Context, s *snapshot) error {
	err := r.patchOwn(ctx, s, func(inst *v1alpha1.Installation) {
		controllerutil.AddFinalizer(inst, v1alpha1.Finalizer)
		inst.Annotations = merged(inst.Annotations, v1alpha1.AdmittedAnnotation, string(inst.UID))
		removeRequest(inst)
	})
	if err == nil {
		s.PickedUp = true
		r.memory.Of(s.Inst.UID).marks.note(pickedUp, true)
	}
	return err
}
