package installation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/plan"
)

// admit starts a job. The job's ID is stored before the request for it is
// removed, so that a crash in between repeats a job rather than losing one.
func (r *Reconciler) admit(ctx context.Context, s *snapshot) error {
	s.subject.Status.Trigger(r.NewJobID(), metav1.NewTime(r.Now()))
	if err := r.begin(ctx, s); err != nil {
		return err
	}
	return r.accept(ctx, s)
}

// begin enters the first phase of a job.
func (r *Reconciler) begin(ctx context.Context, s *snapshot) error {
	phase := v1alpha1.PhaseStringInit
	if deleted(s.inst) {
		phase = v1alpha1.PhaseStringInitDelete
	}
	s.subject.Status.Begin(s.inst.Generation, metav1.NewTime(r.Now()))
	s.inst.Status.SubInstCache = nil
	return r.enter(ctx, s, phase)
}

// enter stores the status in a new phase.
func (r *Reconciler) enter(ctx context.Context, s *snapshot, phase string) error {
	return r.reporter().Enter(ctx, s.subject, phase)
}

// accept sets the finalizer and removes the request for the job. It is bound to
// the version that was read: a request that comes meanwhile stays.
func (r *Reconciler) accept(ctx context.Context, s *snapshot) error {
	return r.patchMetadata(ctx, s.inst, func(inst *v1alpha1.Installation) {
		if !deleted(inst) {
			controllerutil.AddFinalizer(inst, v1alpha1.Finalizer)
		}
		delete(inst.Annotations, v1alpha1.OperationAnnotation)
		delete(inst.Annotations, v1alpha1.ReconcileReasonAnnotation)
	})
}

// dismiss removes a request that has no effect on a subinstallation.
func (r *Reconciler) dismiss(ctx context.Context, s *snapshot) error {
	return r.patchMetadata(ctx, s.inst, func(inst *v1alpha1.Installation) {
		delete(inst.Annotations, v1alpha1.OperationAnnotation)
		delete(inst.Annotations, v1alpha1.ReconcileReasonAnnotation)
	})
}

// interrupt hands an interruption down and removes the request for it.
func (r *Reconciler) interrupt(ctx context.Context, s *snapshot) error {
	if s.subject.Status.Unfinished() && s.exec != nil {
		if err := r.annotate(ctx, s.exec, v1alpha1.OperationAnnotation, string(v1alpha1.InterruptOperation)); err != nil {
			return err
		}
	}
	return r.dismiss(ctx, s)
}

// remove deletes the Execution. What must not be uninstalled is marked first.
func (r *Reconciler) remove(ctx context.Context, s *snapshot) error {
	if s.exec != nil && s.exec.DeletionTimestamp == nil {
		if s.inst.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == "true" {
			if err := r.annotate(ctx, s.exec, v1alpha1.DeleteWithoutUninstallAnnotation, "true"); err != nil {
				return err
			}
		}
		if err := r.Client.Delete(ctx, s.exec, client.Preconditions{UID: &s.exec.UID}); client.IgnoreNotFound(err) != nil {
			return job.Wrap(err, "handlePhaseInitDelete", "DeleteExecution", "delete Execution "+s.exec.Name)
		}
		now := metav1.NewTime(r.Now())
		s.exec.DeletionTimestamp = &now
	}
	return r.enter(ctx, s, v1alpha1.PhaseStringDeleting)
}

// confirm asks the API server whether the Execution is gone: the cache may be behind.
func (r *Reconciler) confirm(ctx context.Context, s *snapshot) error {
	exec := &v1alpha1.Execution{}
	reference := s.inst.Status.ExecutionReference
	switch err := r.Reader.Get(ctx, reference.NamespacedName(), exec); {
	case err == nil && asOwner(s.inst).Owns(exec):
		s.exec = exec
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("read Execution %s: %w", reference.Name, err)
	}
	s.gone = true
	return nil
}

// release removes the finalizer, so that the object disappears.
func (r *Reconciler) release(ctx context.Context, s *snapshot) error {
	err := r.patchMetadata(ctx, s.inst, func(inst *v1alpha1.Installation) {
		controllerutil.RemoveFinalizer(inst, v1alpha1.Finalizer)
	})
	if err != nil {
		return err
	}
	r.written.Forget(s.inst.UID)
	r.kept.note(s.inst.UID, false)
	return job.ErrGone
}

// complete collects the results of the children and ends the job. What earlier jobs
// have exported goes only when all that this one exports is there.
func (r *Reconciler) complete(ctx context.Context, s *snapshot) error {
	exports := &plan.Exports{}
	if exporting(s.inst) {
		var err error
		if exports, err = r.exported(ctx, s); err != nil {
			return err
		}
		if err := r.publish(ctx, s, exports); err != nil {
			return err
		}
		r.outages.over(s.inst.UID)
	}
	if err := r.dropCopies(ctx, s.inst); err != nil {
		return err
	}
	if err := r.dropExports(ctx, s.inst, exports.Exports); err != nil {
		return err
	}
	s.leftover = r.kept.has(s.inst.UID)
	s.subject.Status.True(v1alpha1.CreateExportsCondition, "DataObjectsCreated", "DataObjects successfully created", metav1.NewTime(r.Now()))
	return r.enter(ctx, s, v1alpha1.PhaseStringSucceeded)
}

// patchMetadata changes the metadata of the version that was read, if there is
// anything to change.
func (r *Reconciler) patchMetadata(ctx context.Context, inst *v1alpha1.Installation, change func(*v1alpha1.Installation)) error {
	changed := inst.DeepCopy()
	change(changed)
	patch := client.MergeFromWithOptions(inst.DeepCopy(), client.MergeFromWithOptimisticLock{})
	data, err := patch.Data(changed)
	if err != nil {
		return fmt.Errorf("compare metadata: %w", err)
	}
	if !changesMore(data) {
		return nil
	}
	// The status is not part of the answer's meaning: it is what we know already.
	status := inst.Status
	if err := r.Client.Patch(ctx, changed, client.RawPatch(patch.Type(), data)); err != nil {
		if apierrors.IsNotFound(err) {
			return job.ErrGone
		}
		return fmt.Errorf("change the metadata of Installation %s/%s: %w", inst.Namespace, inst.Name, err)
	}
	*inst = *changed
	inst.Status = status
	r.written.Record(inst)
	return nil
}

// annotate sets an annotation on an Execution.
func (r *Reconciler) annotate(ctx context.Context, exec *v1alpha1.Execution, key, value string) error {
	if exec.Annotations[key] == value {
		return nil
	}
	patch := client.MergeFrom(exec.DeepCopy())
	changed := exec.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[key] = value
	if err := r.Client.Patch(ctx, changed, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("annotate Execution %s/%s: %w", exec.Namespace, exec.Name, err)
	}
	return nil
}
