package installation

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/dependents"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// noteDependents notes at the end of a job which roots it concerns.
func (r *Reconciler) noteDependents(ctx context.Context, s *snapshot, written dataflow.Exports) error {
	concerned, err := r.dependents().ConcernedBy(ctx, s.Family, written)
	if err != nil {
		return err // names what could not be read
	}
	s.Inst.Status.DependentsToTrigger = concerned
	return nil
}

// dependents are those that may get a job because of another one.
func (r *Reconciler) dependents() dependents.Finder {
	return dependents.Finder{Reader: r.reader(), Await: func(ctx context.Context, inst *v1alpha1.Installation) error {
		return r.memory.await(ctx, r.Reader, inst)
	}, Request: r.requestJob}
}

// requestJob requests a job of an Installation because another one has exported something.
func (r *Reconciler) requestJob(ctx context.Context, dependent, by *v1alpha1.Installation) error {
	err := r.patchMetadata(ctx, dependent, func(inst *v1alpha1.Installation) {
		inst.Annotations = merged(inst.Annotations, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation))
		inst.Annotations[v1alpha1.ReconcileReasonAnnotation] = v1alpha1.ReconcileReasonExporter
	})
	if apierrors.IsNotFound(err) {
		return nil // it was deleted meanwhile
	}
	if err == nil {
		r.reporter().Emit(reporter.Installation(dependent), corev1.EventTypeNormal, reasons.JobRequested, "a job is requested because Installation "+by.Name+" has exported other values than the last job has imported")
	}
	return err
}

// triggerDependents requests jobs of the roots that the last job concerns. A root at work gets the request
// later, if it has not used the new values by then. The job has succeeded already, so that a
// failure here only leads to a retry.
func (r *Reconciler) triggerDependents(ctx context.Context, s *snapshot) error {
	all := s.Inst.Status.DependentsToTrigger
	var left []v1alpha1.DependentToTrigger
	s.Untriggered = []string{}
	reader := r.reader().AfterWrites(observe.ExportsOf(s.Inst))
	for _, dependent := range all {
		done, err := r.dependents().Trigger(ctx, s.Inst, dependent.Name, reader)
		if pause, behind := expectations.RetryAfter(err); behind {
			s.TriggerAt = earliest(s.TriggerAt, r.Now().Add(pause))
		} else if err != nil {
			r.retryTrigger(ctx, s, fmt.Errorf("request a job of Installation %s: %w", dependent.Name, err))
		}
		if !done || err != nil {
			left, s.Untriggered = append(left, dependent), append(s.Untriggered, dependent.Name)
		}
	}
	if len(left) == len(all) {
		return nil
	}
	s.Inst.Status.DependentsToTrigger = left
	err := r.reporter().Save(ctx, s.subject)
	if err == nil || job.OutcomeOf(err) == job.Conflict {
		return err // says what was written
	}
	s.Inst.Status.DependentsToTrigger = all
	r.retryTrigger(ctx, s, err)
	return nil
}

// retryTrigger notes when the requests to dependents are retried.
func (r *Reconciler) retryTrigger(ctx context.Context, s *snapshot, cause error) {
	log.FromContext(ctx).Info("dependents are not triggered yet", "cause", cause.Error())
	s.TriggerAt = earliest(s.TriggerAt, r.Now().Add(cleanUpRetry))
}

// earliest returns the earlier of two times, of which the first may be zero.
func earliest(known, other time.Time) time.Time {
	if known.IsZero() || other.Before(known) {
		return other
	}
	return known
}
