package installation

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

// admit starts a job. The job's ID is stored before the request for it is
// removed, so that a crash in between repeats a job rather than losing one.
func (r *Reconciler) admit(ctx context.Context, s *snapshot) error {
	s.inst.Status.JobID = r.NewJobID()
	s.inst.Status.TransitionTimes = job.Triggered(metav1.NewTime(r.Now()))
	if err := r.begin(ctx, s); err != nil {
		return err
	}
	return r.accept(ctx, s)
}

// begin enters the first phase of a job.
func (r *Reconciler) begin(ctx context.Context, s *snapshot) error {
	now := metav1.NewTime(r.Now())
	status := &s.inst.Status
	phase := v1alpha1.InstallationPhases.Init
	if deleted(s.inst) {
		phase = v1alpha1.InstallationPhases.InitDelete
	}
	if status.TransitionTimes == nil {
		status.TransitionTimes = job.Triggered(now)
	}
	status.TransitionTimes.InitTime = &now
	status.ObservedGeneration = s.inst.Generation
	status.SubInstCache = nil
	r.setPhase(s.inst, phase, nil)
	return r.writeStatus(ctx, s.inst)
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

// interrupt hands an interruption down. A job that has not reached its children
// ends here.
func (r *Reconciler) interrupt(ctx context.Context, s *snapshot) error {
	status := &s.inst.Status
	running := job.Unfinished(status.JobID, status.JobIDFinished)
	if running && s.exec != nil {
		if err := r.annotate(ctx, s.exec, v1alpha1.OperationAnnotation, string(v1alpha1.InterruptOperation)); err != nil {
			return err
		}
	}
	if err := r.dismiss(ctx, s); err != nil {
		return err
	}
	if running && canAbandon(status.InstallationPhase) {
		return job.Terminally(job.NewError("InterruptOperation", "InterruptOperation", "operation was interrupted"))
	}
	return nil
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
	}
	if s.exec == nil && s.inst.Status.ExecutionReference == nil {
		return r.release(ctx, s)
	}
	r.setPhase(s.inst, v1alpha1.InstallationPhases.Deleting, nil)
	return r.writeStatus(ctx, s.inst)
}

// release removes the finalizer, so that the object disappears. The API server has
// the last word on whether the Execution is gone: the cache may be behind.
func (r *Reconciler) release(ctx context.Context, s *snapshot) error {
	if reference := s.inst.Status.ExecutionReference; reference != nil {
		exec := &v1alpha1.Execution{}
		err := r.Reader.Get(ctx, reference.NamespacedName(), exec)
		if err == nil && owns(s.inst, exec) {
			s.exec = exec
			return r.remove(ctx, s)
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read Execution %s: %w", reference.Name, err)
		}
	}
	err := r.patchMetadata(ctx, s.inst, func(inst *v1alpha1.Installation) {
		controllerutil.RemoveFinalizer(inst, v1alpha1.Finalizer)
	})
	if err != nil {
		return err
	}
	r.written.Forget(s.inst.UID)
	return errGone
}

// complete ends the job.
func (r *Reconciler) complete(ctx context.Context, s *snapshot) error {
	now := metav1.NewTime(r.Now())
	if s.inst.Generation != s.inst.Status.ObservedGeneration {
		return job.Terminally(job.NewError("handlePhaseCompleting", "CheckObservedGeneration", "installation spec has been changed: request another job with the annotation "+v1alpha1.OperationAnnotation+": reconcile"))
	}
	if err := r.dropCopies(ctx, s.inst); err != nil {
		return err
	}
	r.condition(s.inst, v1alpha1.CreateExportsCondition, "DataObjectsCreated", "DataObjects successfully created", now)
	r.setPhase(s.inst, v1alpha1.InstallationPhases.Succeeded, nil)
	if err := r.writeStatus(ctx, s.inst); err != nil {
		return err
	}
	r.Events.Eventf(s.inst, nil, corev1.EventTypeNormal, "Succeeded", "ReconcileInstallation", "job %s has succeeded", s.inst.Status.JobID)
	return nil
}

// failedChild returns the error of a job whose Execution has failed.
func failedChild(s *snapshot) error {
	return job.Wrap(childError(s), "buildErrorIfFailedChild", "children failed", "Execution is failed", v1alpha1.ErrorForInfoOnly)
}

// childError returns what the Execution says about its failure.
func childError(s *snapshot) error {
	if s.exec == nil || s.exec.Status.LastError == nil {
		return nil
	}
	return errors.New(s.exec.Status.LastError.Message)
}

func (r *Reconciler) condition(inst *v1alpha1.Installation, conditionType v1alpha1.ConditionType, reason, message string, now metav1.Time) {
	job.SetCondition(&inst.Status.Conditions, v1alpha1.Condition{Type: conditionType, Status: v1alpha1.ConditionTrue, Reason: reason, Message: message}, now)
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
			return errGone
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
