package installation

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/landscape/plan/parcel"
	"go.landscaper.dev/internal/model/predicates"
)

// inherit gives a job that the public system began what a job of ours has stored: the
// plan for its exports. It is made from the inputs of now, as the public system would
// have worked out the exports. A job of ours that has lost its plan gets no other one:
// it would mix old inputs with new ones.
func (r *Reconciler) inherit(ctx context.Context, s *snapshot) error {
	if predicates.BroughtUpByUs(s.Inst) {
		return nil
	}
	if _, err := r.keeper().Content(ctx, s.Inst); !errors.Is(err, parcel.ErrNone) {
		// What else is wrong with it is told by those who need it.
		return nil
	}
	if err := r.look(ctx, s); err != nil {
		return err
	}
	if next := decide.ByInputs(s.Situation); next.Do != decide.BringUp {
		return next.Err
	}
	made, err := r.planned(ctx, s)
	if err != nil {
		return err
	}
	if err := r.keeper().Store(ctx, s.Inst, made.stored); err != nil {
		return err
	}
	// Of this job, only the exports are still to be worked out.
	r.forgetPlan(client.ObjectKeyFromObject(s.Inst))
	log.FromContext(ctx).Info("a job that another release has begun works out its exports from the inputs of now", "job", s.Inst.Status.JobID)
	r.noteExports(s, made.stored != nil)
	return nil
}
