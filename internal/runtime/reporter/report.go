package reporter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// ConflictBackoff is the time until the next attempt when another writer was faster.
	// Usually the newer version arrives before and triggers a reconcile.
	ConflictBackoff = 250 * time.Millisecond
	// statusInterval is how long details of a failure that goes on are not written again:
	// each write triggers a reconcile, and would end the pause between two attempts.
	statusInterval = 10 * time.Second
	// The pauses between attempts after an error double from the first to the longest.
	// A registry or an API server that is back is used soon after.
	minBackoff = 5 * time.Millisecond
	maxBackoff = 30 * time.Second
)

// NewRateLimiter returns the growing pauses between attempts after an error.
func NewRateLimiter() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minBackoff, maxBackoff)
}

// Reporter writes the progress of jobs into the status of their objects, and emits events.
// Controllers state facts; what follows from them is here.
//
// One write of the status is one transition. It is an update of the version that was read,
// so that of two workers or processes that report at the same time the second one learns
// that it was late; a patch would mix the two.
type Reporter struct {
	Client client.Client
	Recorders
	// Action is the action of the events, for example ReconcileInstallation.
	Action string
	// EmitSuccess emits an event for the success of a job, too.
	EmitSuccess bool
	// Now is the clock.
	Now func() time.Time
	// Known returns what the process remembers of an object.
	Known func(types.UID) *Known
}

// Recorders take what reaches people beyond the status.
type Recorders struct {
	// Events reports to users what happened; nil reports nothing.
	Events events.EventRecorder
	// Problems records panics; nil only logs them.
	Problems *Problems
}

// Known is what a process remembers of an object that has reports.
type Known struct {
	// Written is the last write.
	Written expectations.Write
	panics  panicBackoff
}

// Enter enters a phase after a step that went well, and stores the status. What the notes add to it
// is stored with the phase, or not at all.
func (r *Reporter) Enter(ctx context.Context, s *Subject, phase string, notes ...func(now metav1.Time)) error {
	undo, now := s.backup(), metav1.NewTime(r.Now())
	for _, note := range notes {
		note(now)
	}
	s.enter(phase, nil, now)
	if err := r.store(ctx, s); err != nil {
		// The report of the error must not store the phase with it, above all a final one.
		undo()
		return err
	}
	r.emitWarnings(s)
	if r.EmitSuccess && phase == v1alpha1.PhaseStringSucceeded {
		r.Emit(s, corev1.EventTypeNormal, reasons.Succeeded, "job "+*s.Status.JobID+" has succeeded")
	}
	return nil
}

// Pass ends a job well in which nothing was done, so that there is nothing to report.
func (r *Reporter) Pass(ctx context.Context, s *Subject) error {
	undo := s.backup()
	s.enter(v1alpha1.PhaseStringSucceeded, nil, metav1.NewTime(r.Now()))
	if err := r.store(ctx, s); err != nil {
		undo()
		return err
	}
	return nil
}

// Save stores the status as it is.
func (r *Reporter) Save(ctx context.Context, s *Subject) error { return r.store(ctx, s) }

// Report writes what an error means: the end of the job, a wait, or another
// attempt. It returns the error if the queue shall try again. Subject is nil if the
// error came before the object was known.
func (r *Reporter) Report(ctx context.Context, s *Subject, step string, err error) (ctrl.Result, error) {
	// An error that ends a job is written here. One that only delays the job writes nothing:
	// a cache is behind, the object is deleted, the process ends, another writer was faster.
	var broken *job.Panic
	_, stale := expectations.RetryAfter(err)
	switch {
	case stale:
		return ctrl.Result{}, err // the engine knows what follows
	case job.IsShutdown(ctx, err):
		return ctrl.Result{}, nil
	case errors.As(err, &broken):
		return r.panicked(ctx, s, step, broken, err), nil
	case s == nil:
		return ctrl.Result{}, err
	case job.OutcomeOf(err) == job.Conflict:
		log.FromContext(ctx).V(1).Info("another writer was faster", "step", step, "conflict", err.Error())
		return ctrl.Result{RequeueAfter: ConflictBackoff}, nil
	}
	return r.report(ctx, s, err)
}

func (r *Reporter) report(ctx context.Context, s *Subject, err error) (ctrl.Result, error) {
	outcome := job.OutcomeOf(err)
	before := s.Status.snapshot()
	phase := *s.Status.Phase
	switch {
	case outcome == job.Terminal:
		phase = s.failedPhase()
	case job.Starting(*s.Status.JobID, *s.Status.JobIDFinished, phase):
		// The phase is that of the job before. It is final, and would end this one.
		phase = s.firstPhase()
	}
	s.enter(phase, err, metav1.NewTime(r.Now()))
	// The status shows this failure already. The queue's pause goes on, and no write triggers
	// an early reconcile.
	if outcome == job.Transient && isReported(before.LastError, *s.Status.LastError) {
		return ctrl.Result{}, err
	}
	if !equality.Semantic.DeepEqual(before, s.Status.snapshot()) {
		if writeErr := r.store(ctx, s); writeErr != nil {
			return notStored(err, writeErr)
		}
		if outcome != job.Waiting {
			// A wait is not an error, and the status shows it.
			r.emitError(s, before.LastError)
		}
	}
	switch outcome {
	case job.Terminal:
		r.emitWarnings(s)
	case job.Transient:
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

// isReported reports whether the status already shows a failure. Details of its message may
// differ, such as the port of a connection.
func isReported(before, now *v1alpha1.Error) bool {
	return before != nil && before.Operation == now.Operation && before.Reason == now.Reason &&
		now.LastUpdateTime.Sub(before.LastUpdateTime.Time) < statusInterval
}

// notStored returns the result for a status that could not be written.
func notStored(err, writeErr error) (ctrl.Result, error) {
	switch {
	case expectations.IsDeleted(writeErr):
		return ctrl.Result{}, writeErr
	case job.OutcomeOf(writeErr) == job.Conflict:
		return ctrl.Result{RequeueAfter: ConflictBackoff}, nil
	}
	return ctrl.Result{}, errors.Join(err, writeErr)
}

// store writes the status of the version that was read.
func (r *Reporter) store(ctx context.Context, s *Subject) error {
	err := r.Client.Status().Update(ctx, s.Object)
	if apierrors.IsNotFound(err) {
		return expectations.StaleCacheError{Deleted: true}
	}
	if err != nil {
		return fmt.Errorf("write the status of %s: %w", client.ObjectKeyFromObject(s.Object), err)
	}
	r.Known(s.Object.GetUID()).Written.Record(s.Object)
	return nil
}

// emitError emits an event for an error that the status did not show before.
func (r *Reporter) emitError(s *Subject, before *v1alpha1.Error) {
	now := *s.Status.LastError
	if before != nil && before.Message == now.Message {
		return
	}
	reason := reasons.Reason(now.Reason)
	if reason == "" {
		reason = reasons.Error
	}
	r.Emit(s, corev1.EventTypeWarning, reason, now.Message)
}

// emitWarnings emits the noted warnings: one event for each kind.
func (r *Reporter) emitWarnings(s *Subject) {
	for _, w := range s.warnings {
		r.Emit(s, corev1.EventTypeWarning, w.reason, strings.Join(w.messages, "; "))
	}
	s.warnings = nil
}

// Emit emits an event.
func (r *Reporter) Emit(s *Subject, eventType string, reason reasons.Reason, message string) {
	if r.Events != nil {
		r.Events.Eventf(s.Object, nil, eventType, string(reason), r.Action, "%s", job.EventMessage(message))
	}
}
