package execution

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

// conflictPause is the time after which we look again when somebody was faster.
// Usually the newer version arrives before and wakes us.
const conflictPause = 250 * time.Millisecond

// report writes what an error means: the end of the job, a wait, or another
// attempt. It returns the error if the queue shall try again.
func (r *Reconciler) report(ctx context.Context, s *snapshot, failed step, err error) (ctrl.Result, error) {
	outcome := job.OutcomeOf(err)
	if outcome == job.Conflict {
		log.FromContext(ctx).V(1).Info("somebody was faster", "step", failed, "conflict", err.Error())
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	before := s.exec.Status.DeepCopy()
	phase := s.exec.Status.ExecutionPhase
	if outcome == job.Terminal {
		phase = failedPhase(s.exec)
	}
	r.setPhase(s.exec, phase, err)
	if !equality.Semantic.DeepEqual(before, &s.exec.Status) {
		switch writeErr := r.writeStatus(ctx, s.exec); {
		case errors.Is(writeErr, errGone):
			return ctrl.Result{}, nil
		case job.OutcomeOf(writeErr) == job.Conflict:
			return ctrl.Result{RequeueAfter: conflictPause}, nil
		case writeErr != nil:
			return ctrl.Result{}, errors.Join(err, writeErr)
		}
	}
	if outcome == job.Transient {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

// failedPhase returns the final phase of a job that fails.
func failedPhase(exec *v1alpha1.Execution) v1alpha1.ExecutionPhase {
	if exec.Status.ExecutionPhase.IsDeletion() || exec.DeletionTimestamp != nil {
		return v1alpha1.ExecutionPhases.DeleteFailed
	}
	return v1alpha1.ExecutionPhases.Failed
}

// setPhase enters a phase and writes down what follows from it.
func (r *Reconciler) setPhase(exec *v1alpha1.Execution, phase v1alpha1.ExecutionPhase, err error) {
	now := metav1.NewTime(r.Now())
	status := &exec.Status
	if status.ExecutionPhase != phase {
		status.ExecutionPhase, status.PhaseTransitionTime = phase, &now
	}
	status.LastError = job.StatusError(err, status.LastError, now)
	if phase.IsFinal() && status.JobIDFinished != status.JobID {
		status.JobIDFinished = status.JobID
		if status.TransitionTimes == nil {
			status.TransitionTimes = &v1alpha1.TransitionTimes{}
		}
		status.TransitionTimes.FinishedTime = &now
	}
	job.Summarize(&status.Conditions, job.Summary{Phase: string(phase), Generation: status.ObservedGeneration, Err: err}, now)
}

// writeStatus writes the status of the version that was read.
func (r *Reconciler) writeStatus(ctx context.Context, exec *v1alpha1.Execution) error {
	err := r.Client.Status().Update(ctx, exec)
	if apierrors.IsNotFound(err) {
		return errGone
	}
	if err != nil {
		return fmt.Errorf("write the status of Execution %s/%s: %w", exec.Namespace, exec.Name, err)
	}
	r.written.Record(exec)
	return nil
}
