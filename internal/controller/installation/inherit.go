package installation

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// findPlan looks whether the plan for the exports of the job is stored.
func (r *Reconciler) findPlan(ctx context.Context, s *snapshot) error {
	missing := r.planStore().IsMissing(ctx, s.Inst)
	s.PlanMissing = &missing
	return nil
}

// inherit gives a job that another release has begun what a job of ours has stored: the plan for its
// exports.
func (r *Reconciler) inherit(ctx context.Context, s *snapshot) error {
	made, err := r.planned(ctx, s)
	if err != nil || made == nil {
		return err
	}
	if _, err := r.planStore().Save(ctx, s.Inst, made.stored, true); err != nil {
		return err
	}
	// Only the exports of this job are still to be rendered.
	r.forgetPlan(client.ObjectKeyFromObject(s.Inst))
	log.FromContext(ctx).Info("a job that another release has begun renders its exports from the present inputs", "job", s.Inst.Status.JobID)
	r.noteExports(s, made.stored != nil)
	missing := false
	s.PlanMissing = &missing
	return nil
}
