package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/model/fleet"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
)

// Reconciler rolls Fleets out.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster, Cache reads from them without what
	// they have left out, and Reader reads from the API server.
	Client client.Client
	Cache  client.Reader
	Reader client.Reader
	// Events emits events about what happened.
	Events events.EventRecorder
	// Gates asks the gates of waves.
	Gates Gates
	// Problems records panics; nil records nothing.
	Problems *reporter.Problems
	// Now is the clock.
	Now func() time.Time

	known expectations.Records[memory]
}

// Reconcile brings a Fleet as far as possible.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return engine.Drive(ctx, &attempt{r: r, key: request.NamespacedName}, r.Now)
}

// statusInterval is how often figures in a status are written: those of a thousand jobs are collected.
const statusInterval = time.Second

// step is what to do next.
type step string

const (
	rest step = engine.Rest
	// accept sets the finalizer, and leave removes it.
	accept step = "accept"
	leave  step = "leave"
	// keep reads and stores revisions.
	keep step = "keep"
	// report writes the status.
	report step = "report"
	// ask asks gates.
	ask step = "ask"
	// write changes Installations.
	write step = "write"
	// use removes a permission that has been used.
	use step = "use"
	// fail reports that nothing can be decided.
	fail step = "fail"
)

// attempt drives one Fleet.
type attempt struct {
	r     *Reconciler
	key   types.NamespacedName
	uid   types.UID
	fleet *fleetv1alpha1.Fleet
	known *memory
	seen  *fleet.Observation
	out   fleet.Decision
	err   error
	next  step
}

// Decide implements engine.Attempt.
func (a *attempt) Decide(context.Context) (string, job.Wake) {
	now := a.r.Now()
	a.out, a.err = fleet.Decide(a.seen, now)
	a.next = a.decide(now)
	wake := a.out.Wake
	if a.next == rest && !equality.Semantic.DeepEqual(a.fleet.Status, a.out.Status) && a.accepted() {
		wake = wake.By(a.known.reported.Add(statusInterval))
	}
	return string(a.next), wake
}

func (a *attempt) accepted() bool {
	return controllerutil.ContainsFinalizer(a.fleet, fleetv1alpha1.FleetFinalizer)
}

// decide chooses the next step: what others build on comes first.
func (a *attempt) decide(now time.Time) step {
	deleted, changed := a.fleet.DeletionTimestamp != nil, !equality.Semantic.DeepEqual(a.fleet.Status, a.out.Status)
	switch {
	case deleted && !a.accepted():
		return rest
	case !deleted && !a.accepted():
		return accept
	case a.err != nil:
		return fail
	case a.out.Released:
		return leave
	case len(a.out.Needs) > 0 || a.out.Store != nil:
		return keep
	case a.out.Entered:
		return report
	case a.out.Asks != nil:
		return ask
	case len(a.out.Writes) > 0:
		return write
	case a.out.Used:
		return use
	case changed && now.Sub(a.known.reported) >= statusInterval:
		return report
	}
	return rest
}

// Apply implements engine.Attempt.
func (a *attempt) Apply(ctx context.Context) (job.Wake, error) {
	switch a.next {
	case accept:
		return job.Continues(), a.patch(ctx, func(f *fleetv1alpha1.Fleet) { controllerutil.AddFinalizer(f, fleetv1alpha1.FleetFinalizer) })
	case leave:
		err := a.patch(ctx, func(f *fleetv1alpha1.Fleet) { controllerutil.RemoveFinalizer(f, fleetv1alpha1.FleetFinalizer) })
		if err != nil {
			return job.Wake{}, err
		}
		return job.Deleted(), nil
	case keep:
		return job.Continues(), a.revisions(ctx)
	case report:
		return job.Continues(), a.report(ctx)
	case ask:
		a.seen.Verdicts = a.ask(ctx, a.out.Asks)
		return job.Continues(), nil
	case write:
		return a.write(ctx)
	case use:
		return job.Continues(), a.patch(ctx, func(f *fleetv1alpha1.Fleet) { delete(f.Annotations, fleetv1alpha1.AllowRemovalAnnotation) })
	}
	return job.Wake{}, a.err
}

// patch changes the Fleet itself, in the version that was read.
func (a *attempt) patch(ctx context.Context, change func(*fleetv1alpha1.Fleet)) error {
	changed := a.fleet.DeepCopy()
	change(changed)
	from := client.MergeFromWithOptions(a.fleet, client.MergeFromWithOptimisticLock{})
	if err := a.r.Client.Patch(ctx, changed, from); err != nil {
		return gone(err, "change the Fleet")
	}
	a.known.written.Record(changed)
	a.fleet, a.seen.Fleet = changed, changed
	return nil
}

// report writes the status.
func (a *attempt) report(ctx context.Context) error {
	changed := a.fleet.DeepCopy()
	changed.Status = a.out.Status
	if err := a.r.Client.Status().Update(ctx, changed); err != nil {
		return gone(err, "write the status")
	}
	a.known.written.Record(changed)
	a.known.reported = a.r.Now()
	a.r.emitProgress(changed, &a.fleet.Status, &changed.Status)
	// The API server may have completed it.
	a.fleet, a.seen.Fleet = changed, changed
	return nil
}

// gone says that an object that is written was deleted.
func gone(err error, what string) error {
	if client.IgnoreNotFound(err) == nil {
		return expectations.StaleCacheError{Deleted: true}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// LogValues implements engine.Attempt.
func (a *attempt) LogValues() []any {
	return []any{"generation", a.fleet.Generation, "revision", a.fleet.Status.Revision, "wave", a.fleet.Status.Wave}
}

// Forget implements engine.Attempt.
func (a *attempt) Forget() {
	if a.uid != "" {
		a.r.known.Forget(a.uid)
	}
}

// Report implements engine.Attempt.
func (a *attempt) Report(ctx context.Context, step string, err error) (ctrl.Result, error) {
	if broken, is := errors.AsType[*job.Panic](err); is {
		logger := log.FromContext(ctx)
		logger.Error(errors.New(broken.Problem), "a step panicked", "step", step, "stack", broken.Stack)
		if a.r.Problems != nil {
			if err := a.r.Problems.Record(ctx, "RollOut of "+a.key.String()+": "+broken.Problem); err != nil {
				logger.Error(err, "the problem could not be recorded")
			}
		}
		return ctrl.Result{RequeueAfter: panicPause}, nil
	}
	if job.OutcomeOf(err) == job.Conflict {
		return ctrl.Result{RequeueAfter: reporter.ConflictBackoff}, nil
	}
	return ctrl.Result{}, err
}

// panicPause is the time until the next attempt after a panic.
const panicPause = 5 * time.Minute
