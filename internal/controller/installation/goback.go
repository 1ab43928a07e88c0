package installation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/requests"
	"go.landscaper.dev/internal/model/revision"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// keepRevision keeps the specification with which a job of a root begins, if a policy asks for it. It does
// so before the job is stored: an attempt after a crash finds it.
func (r *Reconciler) keepRevision(ctx context.Context, s *snapshot) error {
	r.noteBack(s)
	setting := revision.SettingOf(s.Policies, s.Inst)
	known := &r.memory.Of(s.Inst.UID).kept
	if setting.Keep == 0 || known.Load() == s.Inst.Generation {
		return nil
	}
	err := r.storeRevision(ctx, s.Inst, setting.Keep)
	switch {
	case lastsLong(err):
		// The way back is not worth a job.
		log.FromContext(ctx).Info("the specification is not kept", "generation", s.Inst.Generation, "cause", err.Error())
		r.reporter().Emit(s.subject, corev1.EventTypeWarning, reasons.RevisionNotKept, fmt.Sprintf("the specification of generation %d is not kept: %v", s.Inst.Generation, err))
	case err != nil:
		return err
	}
	known.Store(s.Inst.Generation)
	return nil
}

// lastsLong reports whether an error is still there when the request is repeated.
func lastsLong(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err) || apierrors.IsAlreadyExists(err)
}

// storeRevision creates the revision of the present generation, and deletes those that are too many.
func (r *Reconciler) storeRevision(ctx context.Context, inst *v1alpha1.Installation, keep int) error {
	others, err := requests.Revisions(ctx, r.Reader, inst)
	if err != nil {
		return err // says what was read
	}
	present, err := revision.Of(inst, others)
	if err != nil {
		return err // says what is wrong
	}
	for _, other := range others {
		if other.Name == present.Name && other.Spec.Digest == present.Spec.Digest {
			return nil
		}
	}
	if err := r.Client.Create(ctx, present); err != nil {
		return fmt.Errorf("create DeliveryRevision %s: %w", present.Name, err)
	}
	for _, surplus := range revision.Surplus(inst, present, others, keep) {
		if err := r.Client.Delete(ctx, surplus, client.Preconditions{UID: &surplus.UID}); client.IgnoreNotFound(err) != nil {
			// The next generation tries it again.
			log.FromContext(ctx).Info("a DeliveryRevision that is too much is still there", "revision", surplus.Name, "cause", err.Error())
		}
	}
	return nil
}

// isNewlyBack reports whether the specification of an earlier generation is back, and had no job since.
func isNewlyBack(inst *v1alpha1.Installation) bool {
	return inst.Status.ObservedGeneration != inst.Generation && revision.BackOf(inst) != nil
}

// noteBack says in the status that the server has gone back to the specification of the job that begins.
// It follows from the Installation, which was written at once with the specification: nothing that the
// process knew has to survive. What was said about an earlier generation is dropped.
func (r *Reconciler) noteBack(s *snapshot) {
	conditions := &s.Inst.Status.Conditions
	if said := job.GetCondition(*conditions, deliveryv1alpha1.RolledBackCondition); said != nil && said.ObservedGeneration == s.Inst.Generation {
		return
	}
	back := revision.BackOf(s.Inst)
	if back == nil || back.Mode != revision.OnFailure {
		job.DropCondition(conditions, deliveryv1alpha1.RolledBackCondition)
		return
	}
	job.SetCondition(conditions, v1alpha1.Condition{
		Type: deliveryv1alpha1.RolledBackCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.RolledBack),
		Message:            fmt.Sprintf("the job of generation %d has failed, and the specification is that of generation %d again", back.From, back.To),
		ObservedGeneration: s.Inst.Generation,
	}, metav1.NewTime(r.Now()))
}

// noteStopped notes with the removal of the request that a user has stopped a job: the failures of the
// children do not say so any more.
func noteStopped(inst *v1alpha1.Installation, s *snapshot) {
	if s.subject.Status.Unfinished() && revision.SettingOf(s.Policies, s.Inst).OnFailure {
		inst.Annotations = merged(inst.Annotations, deliveryv1alpha1.StoppedAnnotation, s.Inst.Status.JobID)
	}
}

// goBack replaces a specification whose job has failed by the last one that has succeeded, or says why not.
// The specification and the request for its job are one write, bound to the version that was read: before
// it nothing has happened, and after it the generation is another one.
func (r *Reconciler) goBack(ctx context.Context, s *snapshot) error {
	all, err := requests.Revisions(ctx, r.Reader, s.Inst)
	if lastsLong(err) {
		return r.stay(ctx, s, "earlier ones cannot be read: "+err.Error())
	}
	if err != nil {
		return err // says what was read
	}
	verdict := revision.AfterFailure(s.Inst, all)
	if verdict.To == nil {
		return r.stay(ctx, s, verdict.Message)
	}
	back := revision.Back{From: s.Inst.Generation, To: verdict.To.Spec.Generation, Mode: revision.OnFailure}
	changed, err := requests.GoBack(ctx, r.Client, s.Inst, verdict.To, back)
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
		return r.stay(ctx, s, "the specification of generation "+fmt.Sprint(back.To)+" is refused now: "+err.Error())
	}
	if err != nil {
		return err // says what was written
	}
	failed := s.Inst.Generation
	changed.Status = s.Inst.Status
	*s.Inst = *changed
	r.memory.Of(s.Inst.UID).Written.Record(s.Inst)
	if s.Inst.Generation == failed {
		// Such as after a new default of the schema: without this, the same job would fail again and again.
		return r.stay(ctx, s, "that of generation "+fmt.Sprint(back.To)+" is the same for the API server")
	}
	log.FromContext(ctx).Info("an earlier specification is back", "from", back.From, "to", back.To, "job", s.Inst.Status.JobID)
	r.reporter().Emit(s.subject, corev1.EventTypeWarning, verdict.Reason, verdict.Message)
	// The next attempt sees the new generation.
	s.ends = true
	return nil
}

// stay says in the status why the specification stays.
func (r *Reconciler) stay(ctx context.Context, s *snapshot, message string) error {
	job.SetCondition(&s.Inst.Status.Conditions, v1alpha1.Condition{
		Type: deliveryv1alpha1.RolledBackCondition, Status: v1alpha1.ConditionFalse, Reason: string(reasons.NotRolledBack), Message: message,
		ObservedGeneration: s.Inst.Generation,
	}, metav1.NewTime(r.Now()))
	return r.reporter().Save(ctx, s.subject) // says what was written
}
