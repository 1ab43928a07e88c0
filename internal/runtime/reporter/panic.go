package reporter

import (
	"context"
	"errors"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/internal/runtime/job"
)

// panicked handles a panic: the panic is recorded, and the job of the object ends.
func (r *Reporter) panicked(ctx context.Context, s *Subject, step string, broken *job.Panic, err error) ctrl.Result {
	where := r.Action
	if s != nil {
		where += " of " + client.ObjectKeyFromObject(s.Object).String()
	}
	logger := log.FromContext(ctx)
	logger.Error(errors.New(broken.Problem), "a step panicked", "step", step, "stack", broken.Stack)
	if r.Problems != nil {
		if recordErr := r.Problems.Record(ctx, where+": "+broken.Problem); recordErr != nil {
			logger.Error(recordErr, "the problem could not be recorded")
		}
	}
	if s == nil {
		return ctrl.Result{RequeueAfter: maxPanicBackoff}
	}
	panics := &r.Known(s.Object.GetUID()).panics
	panics.note(s.Object, r.Now())
	if !s.Status.Unfinished() {
		return ctrl.Result{}
	}
	var result ctrl.Result
	reportErr := job.RecoverPanic(func() (reportErr error) {
		result, reportErr = r.report(ctx, s, err)
		return reportErr
	})
	if reportErr != nil {
		logger.Error(reportErr, "the end of the job could not be stored")
		return ctrl.Result{RequeueAfter: max(ConflictBackoff, panics.pause(s.Object, r.Now()))}
	}
	return result
}

// PanicBackoff returns how long an object is left alone because its reconciles panicked again and
// again.
func (r *Reporter) PanicBackoff(s *Subject) time.Duration {
	return r.Known(s.Object.GetUID()).panics.pause(s.Object, r.Now())
}

// ResetPanics notes that a reconcile of an object did not panic.
func (r *Reporter) ResetPanics(s *Subject) { r.Known(s.Object.GetUID()).panics.reset() }

// panicBackoff delays the attempts on an object whose reconciles panic again and again. A
// changed object is tried at once, above all one that is being deleted: both change the
// generation.
// It is kept in memory only. A restart tries all objects once more, which is right: it may
// be a new release.
type panicBackoff struct {
	mutex      sync.Mutex
	generation int64
	count      int
	until      time.Time
}

// maxPanicBackoff is the longest time that an object is left alone. Upstream waits as long.
const maxPanicBackoff = 5 * time.Minute

// note counts a panic of the reconcile of the object.
func (b *panicBackoff) note(object client.Object, now time.Time) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.generation != object.GetGeneration() {
		b.generation, b.count, b.until = object.GetGeneration(), 0, time.Time{}
	}
	b.count++
	// The first one may be the only one: the job has ended with it.
	// 16 seconds after the second one, then 64, then 256, then the longest; the bound on
	// the exponent keeps the shift from overflowing.
	if b.count > 1 {
		b.until = now.Add(min(maxPanicBackoff, time.Second<<min(2*b.count, 20)))
	}
}

func (b *panicBackoff) pause(object client.Object, now time.Time) time.Duration {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.generation != object.GetGeneration() {
		return 0
	}
	return max(0, b.until.Sub(now))
}

func (b *panicBackoff) reset() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.generation, b.count, b.until = 0, 0, time.Time{}
}
