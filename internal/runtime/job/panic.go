package job

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Panic is the error of a step that panicked: a mistake of ours, not of the user.
// Another attempt would end the same way, so it ends the job.
type Panic struct {
	// Problem says what happened and where, without any value of a user.
	Problem string
	// Stack is for the log.
	Stack string
}

// Error implements error.
func (p *Panic) Error() string {
	return "Landscaper itself panicked, which is a mistake in it, not in your objects (" + p.Problem + "); the log of the server has the details"
}

// Panics counts the steps of this process that panicked.
var Panics = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "landscaper_breakdowns_total", Help: "Steps in which Landscaper itself panicked.",
})

// RecoverPanic runs a step and turns a panic into an error that ends the job.
func RecoverPanic(step func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			Panics.Inc()
			broken := newPanic(cause)
			err = Wrap(broken, published.Reconcile, reasons.Panic, "", v1alpha1.ErrorInternalProblem)
		}
	}()
	return step()
}

// newPanic describes a panic that is being recovered. Panics of the Go runtime hold no
// values; any other panic value may hold secrets, so that only its type is shown.
func newPanic(cause any) *Panic {
	var counters [64]uintptr
	came, stack := counters[:runtime.Callers(2, counters[:])], debug.Stack()
	if other, ok := cause.(*parallelize.Panic); ok {
		// It came from a goroutine of its own, whose frames are not among ours.
		cause, came, stack = other.Cause, other.Callers, other.Stack
	}
	what := "panic with " + describePanic(cause)
	var fault runtime.Error
	if err, ok := cause.(error); ok && errors.As(err, &fault) {
		what = fault.Error()
	}
	return &Panic{Problem: what + panicLocation(came), Stack: string(stack)}
}

// describePanic describes a panic in words and without its value.
func describePanic(cause any) string {
	switch cause.(type) {
	case string:
		return "a string"
	case error:
		return "an error"
	case bool, int, int32, int64, uint, uint32, uint64, float32, float64:
		return "a number or boolean"
	}
	return "a value"
}

// panicLocation returns where in our code a panic came from.
func panicLocation(came []uintptr) string {
	frames := runtime.CallersFrames(came)
	for panicking := false; ; {
		frame, more := frames.Next()
		if panicking && strings.HasPrefix(frame.Function, "go.landscaper.dev/") {
			return fmt.Sprintf(" in %s, line %d", strings.TrimPrefix(frame.Function, "go.landscaper.dev/"), frame.Line)
		}
		panicking = panicking || frame.Function == "runtime.gopanic"
		if !more {
			return ""
		}
	}
}

// IsPanic reports whether an error is a step that panicked.
func IsPanic(err error) bool {
	var broken *Panic
	return errors.As(err, &broken)
}
