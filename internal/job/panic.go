package job

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job/published"
)

// Panic is the error of a step that broke down: a mistake of ours, not of the user.
// Another attempt would end the same way, so it ends the job.
type Panic struct {
	// Problem tells what happened and where, without any value of a user.
	Problem string
	// Stack is for the log.
	Stack string
}

// Error implements error.
func (p *Panic) Error() string {
	return "Landscaper itself broke down, which is a mistake in it, not in your objects (" + p.Problem + "); the log of the server has the details"
}

// Breakdowns counts the steps of this process that broke down.
var Breakdowns = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "landscaper_breakdowns_total", Help: "Steps in which Landscaper itself broke down.",
})

// Protect runs a step and turns a panic into an error that ends the job.
func Protect(step func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			Breakdowns.Inc()
			broken := &Panic{Problem: problem(cause), Stack: string(debug.Stack())}
			err = Wrap(broken, published.Reconcile, "Panic", "", v1alpha1.ErrorInternalProblem)
		}
	}()
	return step()
}

// problem describes a panic. What the runtime says holds no values; whatever else is
// thrown may hold anything, so that only its type is told.
func problem(cause any) string {
	what := fmt.Sprintf("panic with a %T", cause)
	var fault runtime.Error
	if err, ok := cause.(error); ok && errors.As(err, &fault) {
		what = fault.Error()
	}
	return what + place()
}

// place returns where in our code the panic came from that is being recovered.
func place() string {
	var counters [64]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(3, counters[:])])
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

// IsPanic reports whether an error is a step that broke down.
func IsPanic(err error) bool {
	var broken *Panic
	return errors.As(err, &broken)
}

// broken does what is left to do after a panic: it is recorded, and the job of the
// object ends.
func (r *Reporter) broken(ctx context.Context, s *Subject, step string, broken *Panic, err error) ctrl.Result {
	where := r.Action
	if s != nil {
		where += " of " + client.ObjectKeyFromObject(s.Object).String()
	}
	logger := log.FromContext(ctx)
	logger.Error(errors.New(broken.Problem), "a step broke down", "step", step, "stack", broken.Stack)
	if r.Problems != nil {
		if recordErr := r.Problems.Record(ctx, where+": "+broken.Problem); recordErr != nil {
			logger.Error(recordErr, "the problem could not be recorded")
		}
	}
	if s == nil {
		return ctrl.Result{RequeueAfter: longestBreak}
	}
	r.breakdowns.note(s.Object, r.Now())
	if !s.Status.Unfinished() {
		return ctrl.Result{}
	}
	var result ctrl.Result
	reportErr := Protect(func() (reportErr error) {
		result, reportErr = r.report(ctx, s, err)
		return reportErr
	})
	if reportErr != nil {
		logger.Error(reportErr, "the end of the job could not be stored")
		return ctrl.Result{RequeueAfter: max(ConflictPause, r.breakdowns.pause(s.Object, r.Now()))}
	}
	return result
}

// Rest returns how long an object is left alone because a look at it broke down
// again and again.
func (r *Reporter) Rest(s *Subject) time.Duration { return r.breakdowns.pause(s.Object, r.Now()) }

// Calm notes that a look at an object did not break down.
func (r *Reporter) Calm(s *Subject) { r.breakdowns.over(s.Object.GetUID()) }

// breakdowns keeps objects on which we break down again and again from being tried
// at once for ever. What has changed is tried at once, a deletion above all: both
// change the generation.
// It is kept in memory only. A restart tries everything once more, which is right: it may
// be a new release.
type breakdowns struct {
	mutex sync.Mutex
	known map[types.UID]breakdown
}

type breakdown struct {
	generation int64
	count      int
	until      time.Time
}

// longestBreak is the longest time that an object is left alone. The public system
// waits as long.
const longestBreak = 5 * time.Minute

func (b *breakdowns) note(object client.Object, now time.Time) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.known == nil {
		b.known = map[types.UID]breakdown{}
	}
	last := b.known[object.GetUID()]
	if last.generation != object.GetGeneration() {
		last = breakdown{generation: object.GetGeneration()}
	}
	last.count++
	// The first one may be the only one: the job has ended with it.
	// 16 seconds after the second one, then 64, then 256, then the longest; the bound on
	// the exponent keeps the shift from overflowing.
	if last.count > 1 {
		last.until = now.Add(min(longestBreak, time.Second<<min(2*last.count, 20)))
	}
	b.known[object.GetUID()] = last
}

func (b *breakdowns) pause(object client.Object, now time.Time) time.Duration {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	last, ok := b.known[object.GetUID()]
	if !ok || last.generation != object.GetGeneration() {
		return 0
	}
	return max(0, last.until.Sub(now))
}

func (b *breakdowns) over(uid types.UID) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.known, uid)
}
