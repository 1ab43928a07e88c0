// Package engine is the loop of the controllers: observe, decide, apply, report. What differs between
// them is what they read, decide and do.
package engine

import (
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
)

// Rest is the step of an object that has nothing to do until something triggers a reconcile.
const Rest = "rest"

// Attempt drives one object as far as possible without waiting.
type Attempt interface {
	// Observe reads what decisions are made from. If the wake does not continue, there is nothing to
	// decide yet.
	Observe(ctx context.Context) (job.Wake, error)
	// Decide chooses the next step, and says what triggers the reconcile after it. It neither reads nor
	// writes objects.
	Decide(ctx context.Context) (step string, wake job.Wake)
	// Apply carries out the step that was decided. If the wake does not continue, the attempt ends with
	// it.
	Apply(ctx context.Context) (job.Wake, error)
	// LogValues are keys and values that describe the object in logs: its phase and job.
	LogValues() []any
	// Forget drops what is remembered of an object that does not exist any more: a wake of Observe or
	// Apply has said so, or a write.
	Forget()
	// Report says what an error, or a panic, of a step means, and when the next attempt is made. An
	// error of Observe comes here only as a panic, without a step.
	Report(ctx context.Context, step string, err error) (ctrl.Result, error)
}

// maxSteps is more than any object needs without waiting. A decision that is repeated without end would
// be a bug, which then backs off like any other error instead of keeping a worker busy.
const maxSteps = 100

// Drive makes an attempt.
func Drive(ctx context.Context, a Attempt, now func() time.Time) (ctrl.Result, error) {
	var step string
	var wake job.Wake
	err := job.RecoverPanic(func() (err error) {
		wake, err = drive(ctx, a, &step)
		return err
	})
	wake, err = wakeOf(wake, err, now)
	if err == nil {
		return rest(a, wake, now), nil
	}
	if step == "" && !job.IsPanic(err) {
		// The reads have failed, which says nothing about the object. The queue tries again.
		return ctrl.Result{}, err
	}
	result, err := a.Report(ctx, step, err)
	if wake, failed := wakeOf(job.Wake{}, err, now); err != nil && failed == nil {
		return rest(a, wake, now), nil
	}
	return result, err
}

// wakeOf returns the wake of an attempt. One that has ended because a cache is behind has a wake, and no
// error.
func wakeOf(wake job.Wake, err error, now func() time.Time) (job.Wake, error) {
	if expectations.IsDeleted(err) {
		return job.Deleted(), nil
	}
	if pause, behind := expectations.RetryAfter(err); behind {
		// Most often the event of the newer version comes before.
		return job.Wake{}.By(now().Add(pause)), nil
	}
	return wake, err
}

// rest ends an attempt until its wake.
func rest(a Attempt, wake job.Wake, now func() time.Time) ctrl.Result {
	if wake.IsDeleted() {
		a.Forget()
	}
	return ctrl.Result{RequeueAfter: wake.Pause(now())}
}

// drive observes, decides and applies until there is something to wait for. Step is the one that was
// decided last.
func drive(ctx context.Context, a Attempt, step *string) (job.Wake, error) {
	wake, err := a.Observe(ctx)
	if err != nil || !wake.ContinuesAtOnce() {
		return wake, err
	}
	// What is not logged is not put together: most attempts find nothing to do.
	logger := log.FromContext(ctx).V(1)
	for range maxSteps {
		if *step, wake = a.Decide(ctx); *step == Rest {
			if logger.Enabled() {
				logger.Info("rest", "wake", wake.String())
			}
			return wake, nil
		}
		if logger.Enabled() {
			logger.Info("step", append([]any{"step", *step}, a.LogValues()...)...)
		}
		wake, err := a.Apply(ctx)
		if err != nil || !wake.ContinuesAtOnce() {
			return wake, err
		}
	}
	return job.Wake{}, fmt.Errorf("the job does not come to rest: step %q is repeated", *step)
}
