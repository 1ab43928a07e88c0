package installation

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	if outcome != job.Transient {
		r.outages.over(s.inst.UID)
	}
	before := s.inst.Status.DeepCopy()
	phase := s.inst.Status.InstallationPhase
	if outcome == job.Terminal {
		phase = failedPhase(phase)
	}
	r.setPhase(s.inst, phase, err)
	if outcome == job.Transient && shown(before.LastError, s.inst.Status.LastError) {
		return ctrl.Result{}, err
	}
	if !equality.Semantic.DeepEqual(before, &s.inst.Status) {
		if before.LastError == nil || before.LastError.Message != s.inst.Status.LastError.Message {
			r.Events.Eventf(s.inst, nil, corev1.EventTypeWarning, reason(s.inst.Status.LastError), "ReconcileInstallation", "%s", eventNote(s.inst.Status.LastError.Message))
		}
		if writeErr := r.writeStatus(ctx, s.inst); writeErr != nil {
			return writeFailed(err, writeErr)
		}
	}
	if outcome == job.Terminal {
		r.warn(s)
	}
	if outcome == job.Transient {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

// silence is how long details of a failure that goes on are not written again: each
// write wakes us, and would end the pause between two attempts.
const silence = 10 * time.Second

// shown reports whether the status already tells of a failure. Details of its
// message may differ, such as the port of a connection.
func shown(before, now *v1alpha1.Error) bool {
	return before != nil && before.Operation == now.Operation && before.Reason == now.Reason &&
		now.LastUpdateTime.Sub(before.LastUpdateTime.Time) < silence
}

// writeFailed says what to do if the status could not be written.
func writeFailed(err, writeErr error) (ctrl.Result, error) {
	switch {
	case errors.Is(writeErr, errGone):
		return ctrl.Result{}, nil
	case job.OutcomeOf(writeErr) == job.Conflict:
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	return ctrl.Result{}, errors.Join(err, writeErr)
}

// failedPhase returns the final phase of a job that fails in a phase.
func failedPhase(phase v1alpha1.InstallationPhase) v1alpha1.InstallationPhase {
	if phase.IsDeletion() {
		return v1alpha1.InstallationPhases.DeleteFailed
	}
	return v1alpha1.InstallationPhases.Failed
}

// setPhase enters a phase and writes down what follows from it: the error of the
// last step, the times, the end of the job, and the summary conditions.
func (r *Reconciler) setPhase(inst *v1alpha1.Installation, phase v1alpha1.InstallationPhase, err error) {
	now := metav1.NewTime(r.Now())
	status := &inst.Status
	if status.InstallationPhase != phase {
		status.InstallationPhase, status.PhaseTransitionTime = phase, &now
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
func (r *Reconciler) writeStatus(ctx context.Context, inst *v1alpha1.Installation) error {
	err := r.Client.Status().Update(ctx, inst)
	if apierrors.IsNotFound(err) {
		return errGone
	}
	if err != nil {
		return fmt.Errorf("write the status of Installation %s/%s: %w", inst.Namespace, inst.Name, err)
	}
	r.written.Record(inst)
	return nil
}

func reason(lastError *v1alpha1.Error) string {
	if lastError.Reason == "" {
		return "Error"
	}
	return lastError.Reason
}

// eventNote cuts a message to what an event can hold.
func eventNote(message string) string {
	const limit = 1000
	if len(message) <= limit {
		return message
	}
	return message[:limit] + " ..."
}
