package installation

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// A data update is a job that propagates values which deploy items export anew, without a job of
// theirs. It runs through the tree in the order of the data, as every job does. But an Installation
// that is deployed as it would be now stays as it is: if it is on the path from the root to such an
// item, it renders its exports again; otherwise its part of the job is over at once, and nothing
// below it gets the job. All others, which import another value than before, are deployed as in
// every job.

// noteDeployed notes that the job deploys the Installation. Its Execution reads that with the phase
// that assigns the job.
func noteDeployed(inst *v1alpha1.Installation) {
	if inst.Status.DataUpdate != nil {
		inst.Status.DataUpdate.Unchanged = false
	}
}

// refresh passes the job to the children as they are. The plan for the exports is made from the
// inputs, which are those of the last job.
func (r *Reconciler) refresh(ctx context.Context, s *snapshot) error {
	spec, exporting := &s.Inst.Spec, false
	if len(spec.Exports.Data)+len(spec.Exports.Targets)+len(spec.ExportDataMappings) > 0 {
		made, err := r.planned(ctx, s)
		if err != nil || made == nil {
			return err
		}
		if s.ends, err = r.planStore().Save(ctx, s.Inst, made.stored, s.PendingTrigger == ""); s.ends || err != nil {
			return err
		}
		exporting = made.stored != nil
		// Only the exports of this job are still to be rendered.
		r.forgetPlan(client.ObjectKeyFromObject(s.Inst))
	}
	r.memory.Of(s.Inst.UID).outage.Over()
	s.Inst.Status.SubInstCache = presentSubs(s.Subs)
	r.noteExports(s, exporting)
	s.subject.Status.Wait(metav1.NewTime(r.Now()))
	return r.propagate(ctx, s)
}

// pass ends the part of an Installation in a job that does not concern it. It emits no event.
func (r *Reconciler) pass(ctx context.Context, s *snapshot) error {
	s.Inst.Status.SubInstCache = presentSubs(s.Subs)
	s.unsaved = false
	if err := r.reporter().Pass(ctx, s.subject); err != nil {
		return err // says what was written
	}
	return r.started(ctx, s)
}

// presentSubs lists the subinstallations that exist.
func presentSubs(subs []*v1alpha1.Installation) *v1alpha1.SubInstCache {
	cache := &v1alpha1.SubInstCache{}
	for _, sub := range subs {
		cache.ActiveSubs = append(cache.ActiveSubs, v1alpha1.SubNamePair{SpecName: sub.Annotations[v1alpha1.SubinstallationNameAnnotation], ObjectName: sub.Name})
	}
	return cache
}
