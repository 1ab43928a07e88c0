package targetsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
	"go.landscaper.dev/internal/runtime/reporter"
	"go.landscaper.dev/internal/runtime/workpool"
)

// Reconciler keeps the Targets of TargetSyncs up to date.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster, Reader reads from its
	// API server.
	Client client.Client
	Reader client.Reader
	// Events emits events about what happened.
	Events events.EventRecorder
	// Pool has the connections to sources.
	Pool *cluster.Pool
	// Problems records panics; nil records nothing.
	Problems *reporter.Problems
	// Now is the clock, Spread a random number between 0 and 1.
	Now    func() time.Time
	Spread func() float64
	// Parallelizer makes the requests for several Targets; nil makes some of them at the same time.
	Parallelizer parallelize.Parallelizer

	// metadata reads the metadata of Secrets from the cache of the manager. Client does not:
	// its manager may have switched the cache off for Secrets, which counts for both.
	metadata client.Reader
	memories memories
	runs     *workpool.Pool[*outcome]
	// wake enqueues a TargetSync.
	wake func(types.NamespacedName)
}

// Reconcile starts a run if one is due, and reports the one that has ended.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return engine.Drive(ctx, &attempt{r: r, key: request.NamespacedName}, r.Now)
}

// attempt drives one TargetSync.
type attempt struct {
	r     *Reconciler
	key   types.NamespacedName
	sync  *v1alpha1.TargetSync
	known *memory
	// several says that there is another TargetSync in the namespace.
	several bool
	// due says that a run has to begin.
	due  bool
	next step
}

// Observe implements engine.Attempt.
func (a *attempt) Observe(ctx context.Context) (job.Wake, error) {
	r, sync := a.r, &v1alpha1.TargetSync{}
	if err := r.Client.Get(ctx, a.key, sync); err != nil {
		return job.Deleted(), client.IgnoreNotFound(err)
	}
	a.sync, a.known = sync, r.memories.of(a.key, sync.UID)
	err := a.known.written.Await(ctx, r.Reader, sync)
	if pause, behind := expectations.RetryAfter(err); behind {
		// A status write triggers no reconcile.
		return job.Wake{}.By(r.Now().Add(min(pause, reporter.ConflictBackoff))), nil
	}
	if err != nil {
		return job.Wake{}, err // says what was read
	}
	a.due = a.known.due(sync, r.Now())
	a.several, err = r.several(ctx, sync)
	return job.Continues(), err
}

// Decide implements engine.Attempt.
func (a *attempt) Decide(context.Context) (string, job.Wake) {
	runs := a.r.runs
	a.next = decide(situation{
		sync: a.sync, several: a.several,
		current: runs.Has(a.key, versionOf(a.sync)), busy: runs.Busy(a.key) || a.known.running.Load() > 0,
		due: a.due,
	})
	return string(a.next), job.OnChange("TargetSync", a.key.Name).By(a.known.next)
}

// Apply implements engine.Attempt.
func (a *attempt) Apply(ctx context.Context) (job.Wake, error) {
	r := a.r
	switch a.next {
	case cancel:
		r.runs.Forget(a.key)
		if a.known.running.Load() > 0 {
			return a.within(reporter.ConflictBackoff), nil
		}
		return job.Continues(), nil
	case remove:
		return a.remove(ctx)
	case accept:
		err := r.patch(ctx, a.sync, a.known, func(changed *v1alpha1.TargetSync) { controllerutil.AddFinalizer(changed, v1alpha1.Finalizer) })
		if err != nil {
			return job.Wake{}, fmt.Errorf("add the finalizer: %w", err)
		}
		return job.Continues(), nil
	case refuse:
		a.known.starts(a.sync)
		_, err := r.report(ctx, a.sync, a.known, (&outcome{several: true}).ended(reasons.SeveralTargetSyncs, errSeveral))
		// Its end triggers a reconcile, and makes a run due.
		a.known.next = time.Time{}
		return a.within(interval), err
	case begin:
		a.known.starts(a.sync)
	}
	return a.fetch(ctx)
}

// LogValues implements engine.Attempt.
func (a *attempt) LogValues() []any { return []any{"generation", a.sync.Generation} }

// Forget implements engine.Attempt.
func (a *attempt) Forget() {
	a.r.runs.Forget(a.key)
	a.r.memories.forget(a.key)
}

// Report implements engine.Attempt. What a run fails with is a part of its outcome.
func (a *attempt) Report(ctx context.Context, _ string, err error) (ctrl.Result, error) {
	if broken, is := errors.AsType[*job.Panic](err); is {
		a.r.broken(ctx, a.key, broken.Problem, broken.Stack)
		return ctrl.Result{RequeueAfter: interval}, nil
	}
	if job.OutcomeOf(err) == job.Conflict {
		return ctrl.Result{RequeueAfter: reporter.ConflictBackoff}, nil
	}
	return ctrl.Result{}, err
}

// within is the wake of a TargetSync that is looked at again after a time.
func (a *attempt) within(pause time.Duration) job.Wake {
	return job.OnChange("TargetSync", a.key.Name).By(a.r.Now().Add(pause))
}

func (r *Reconciler) broken(ctx context.Context, key types.NamespacedName, problem, stack string) {
	logger := log.FromContext(ctx)
	logger.Error(errors.New(problem), "a step panicked", "stack", stack)
	if r.Problems == nil {
		return
	}
	if err := r.Problems.Record(ctx, "SynchronizeTargets of "+key.String()+": "+problem); err != nil {
		logger.Error(err, "the problem could not be recorded")
	}
}

// versionOf is the state that a run is for.
func versionOf(sync *v1alpha1.TargetSync) workpool.Version {
	return workpool.Version{UID: sync.UID, Generation: sync.Generation}
}

// fetch starts a run in the work pool, or reports the one that has ended.
func (a *attempt) fetch(ctx context.Context) (job.Wake, error) {
	r, known, now := a.r, a.known, a.r.Now()
	own, logger := a.sync.DeepCopy(), log.FromContext(ctx)
	o, how, err := r.runs.Fetch(a.key, versionOf(a.sync), func(ctx context.Context) (*outcome, error) {
		known.running.Add(1)
		defer known.running.Add(-1)
		if err := ctx.Err(); err != nil {
			return nil, err // the run was cancelled earlier: its results may be written now
		}
		var done *outcome
		err := job.RecoverPanic(func() error {
			work := &run{Reconciler: r, sync: own, memory: known, gate: newGate()}
			done = work.do(log.IntoContext(ctx, logger))
			return ctx.Err()
		})
		return done, err
	})
	var broken *job.Panic
	switch {
	case how == workpool.Working:
		return job.OnChange("TargetSync", a.key.Name), nil // the end of the run enqueues it
	case errors.As(err, &broken):
		r.broken(ctx, a.key, broken.Problem, broken.Stack)
		o = (&outcome{suspects: known.suspects}).ended(reasons.RunEnded, err)
	case how == workpool.Preempted:
		r.madeRoom(a.sync, known, o)
		return a.within(0), nil // it is due, and has its turn after the others
	case err != nil:
		// What the run has done stays; the rest is not a failure of the user's.
		o = (&outcome{suspects: known.suspects}).ended(reasons.RunEnded, errNoRest)
	}
	o.count()
	pause, err := r.report(ctx, a.sync, known, o)
	if err == nil && known.due(a.sync, now) {
		pause = 0
	}
	return a.within(pause), err
}

// madeRoom restarts a run that was preempted: it has not failed. What the run has written is
// reported now, since the next run finds it unchanged; the next run reports the rest.
func (r *Reconciler) madeRoom(sync *v1alpha1.TargetSync, known *memory, o *outcome) {
	if o == nil {
		return
	}
	known.suspects = o.suspects
	// A renewal that was requested is reported when the request is answered.
	o.rotatedNow = o.rotatedNow && !known.sawRotation
	r.emitWritten(sync, o)
}

// several reports whether there is another TargetSync in the namespace.
func (r *Reconciler) several(ctx context.Context, sync *v1alpha1.TargetSync) (bool, error) {
	all := &v1alpha1.TargetSyncList{}
	if err := r.Client.List(ctx, all, client.InNamespace(sync.Namespace)); err != nil {
		return false, fmt.Errorf("list TargetSyncs: %w", err)
	}
	return len(all.Items) > 1, nil
}

// report stores the outcome of a run, and returns how long to wait for the next one.
func (r *Reconciler) report(ctx context.Context, sync *v1alpha1.TargetSync, known *memory, o *outcome) (time.Duration, error) {
	now := r.Now()
	known.suspects = o.suspects
	if o.ok() {
		known.failures, known.success = 0, now
	} else {
		known.failures++
	}
	pause := nextRun(o, known.failures, now, r.Spread())
	known.next = now.Add(pause)
	status, changed := statusAfter(sync, o, known.success, now)
	if changed {
		updated := sync.DeepCopy()
		updated.Status = status
		if err := r.Client.Status().Update(ctx, updated); err != nil {
			known.next = now
			return 0, fmt.Errorf("update the status: %w", err)
		}
		known.written.Record(updated)
		r.emitEvents(ctx, sync, updated, o)
		*sync = *updated
	}
	return pause, r.answer(ctx, sync, known, o)
}

// answer removes the requests that the run has served. A later request stays.
func (r *Reconciler) answer(ctx context.Context, sync *v1alpha1.TargetSync, known *memory, o *outcome) error {
	reconciled, rotated := known.sawReconcile && wantsRun(sync), known.sawRotation && o.rotatedNow
	if !reconciled && !rotated {
		return nil
	}
	err := r.patch(ctx, sync, known, func(changed *v1alpha1.TargetSync) {
		if reconciled {
			delete(changed.Annotations, v1alpha1.OperationAnnotation)
		}
		if rotated {
			delete(changed.Annotations, v1alpha1.RotateTokenAnnotation)
		}
	})
	if err != nil {
		return fmt.Errorf("remove the annotations that were served: %w", err)
	}
	known.sawReconcile = false
	if rotated {
		known.sawRotation, known.renewed = false, false
	}
	return nil
}

// patch changes the metadata of a TargetSync in the version that was read.
func (r *Reconciler) patch(ctx context.Context, sync *v1alpha1.TargetSync, known *memory, change func(*v1alpha1.TargetSync)) error {
	changed := sync.DeepCopy()
	change(changed)
	if err := r.Client.Patch(ctx, changed, client.MergeFromWithOptions(sync, client.MergeFromWithOptimisticLock{})); err != nil {
		return err // the caller wraps the error
	}
	known.written.Record(changed)
	*sync = *changed
	return nil
}

// emitEvents emits events about what has changed.
func (r *Reconciler) emitEvents(ctx context.Context, before, after *v1alpha1.TargetSync, o *outcome) {
	event := func(kind, reason, message string) {
		r.Events.Eventf(after, nil, kind, reason, "SynchronizeTargets", "%s", job.EventMessage(message))
	}
	ready := readiness(o)
	was := conditionOf(before.Status.Conditions, v1alpha1.TargetSyncReady)
	if was.Status != ready.Status || was.Reason != ready.Reason || was.Message != ready.Message {
		kind := corev1.EventTypeNormal
		if ready.Status != v1alpha1.ConditionTrue {
			kind = corev1.EventTypeWarning
			log.FromContext(ctx).Info("a synchronisation did not succeed", "reason", ready.Reason, "message", ready.Message)
		}
		event(kind, ready.Reason, ready.Message)
	}
	r.emitWritten(after, o)
}

// emitWritten emits events about what a run has written.
func (r *Reconciler) emitWritten(sync *v1alpha1.TargetSync, o *outcome) {
	event := func(reason reasons.Reason, message string) {
		r.Events.Eventf(sync, nil, corev1.EventTypeNormal, string(reason), "SynchronizeTargets", "%s", job.EventMessage(message))
	}
	if len(o.created) > 0 {
		event(reasons.TargetsCreated, fmt.Sprintf("created %d Targets: %s", len(o.created), named(o.created)))
	}
	if len(o.removed) > 0 {
		event(reasons.TargetsRemoved, fmt.Sprintf("removed %d Targets that the source no longer has: %s", len(o.removed), named(o.removed)))
	}
	if o.rotatedNow {
		event(reasons.TokenRotated, "the token of the source was renewed")
	}
}

func conditionOf(conditions []v1alpha1.Condition, kind v1alpha1.ConditionType) v1alpha1.Condition {
	for _, condition := range conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return v1alpha1.Condition{}
}
