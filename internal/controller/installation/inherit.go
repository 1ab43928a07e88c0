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

// inherit gives a job that upstream began what a job of ours has stored: the plan for its exports.
// The plan is made from the present inputs, as upstream would have rendered the exports. A job of
// ours that has lost its plan gets no other one: that would mix old inputs with new ones.
func (r *Reconciler) inherit(ctx context.Context, s *snapshot) error {
	if predicates.BroughtUpByUs(s.Inst) {
		return nil
	}
	if _, err := r.planStore().Load(ctx, s.Inst); !errors.Is(err, parcel.ErrNone) {
		// Other errors in it are reported where it is needed.
		return nil
	}
	if err := r.readInputs(ctx, s); err != nil {
		return err
	}
	if next := decide.ByInputs(s.Situation); next.Do != decide.WriteChildren {
		return next.Err
	}
	made, err := r.planned(ctx, s)
	if err != nil || made == nil {
		return err
	}
	if err := r.planStore().Save(ctx, s.Inst, made.stored, true); err != nil {
		return err
	}
	// Only the exports of this job are still to be rendered.
	r.forgetPlan(client.ObjectKeyFromObject(s.Inst))
	log.FromContext(ctx).Info("a job that another release has begun renders its exports from the present inputs", "job", s.Inst.Status.JobID)
	r.noteExports(s, made.stored != nil)
	return nil
}
