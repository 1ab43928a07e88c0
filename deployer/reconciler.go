package deployer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/responsibility"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/model/validation"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/overtime"
)

// reconciler carries out the items of one type.
type reconciler struct {
	options   Options
	selectors []responsibility.Selector
	// client reads from the caches; live asks the API server.
	client client.Client
	live   client.Reader
	events events.EventRecorder
	now    func() time.Time
	// queue is the queue of enqueue; nil before the controller starts, which looks at all items
	// then.
	queue atomic.Pointer[func(types.NamespacedName)]
	// line has the places of items in the queue; may be nil.
	line Line
	// followContexts starts the watch of Contexts.
	followContexts func(context.Context) error

	memory memory
	// lot is where work goes on that takes longer than a worker waits, because a target cluster
	// answers late.
	lot *overtime.Lot
}

// Reconcile reconciles an item as far as a worker waits for it.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return r.lot.Do(ctx, request, r.reconcileItem)
}

// reconcileItem makes an attempt.
func (r *reconciler) reconcileItem(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return engine.Drive(ctx, &attempt{r: r, key: request.NamespacedName}, r.now)
}

// attempt drives one item. It has one step: a deployer works as far as it can.
type attempt struct {
	r    *reconciler
	key  types.NamespacedName
	seen *snapshot
	next decision
}

// Observe implements engine.Attempt.
func (a *attempt) Observe(ctx context.Context) (wake job.Wake, err error) {
	a.seen, err = a.r.observe(ctx, a.key)
	return job.Continues(), err
}

// Decide implements engine.Attempt.
func (a *attempt) Decide(context.Context) (string, job.Wake) {
	a.next = decide(*a.seen)
	if !a.seen.repetition.Watch || !a.seen.responsible {
		a.r.memory.dropExportWatch(a.key)
	}
	return string(a.next.do), job.Continues()
}

// Apply implements engine.Attempt.
func (a *attempt) Apply(ctx context.Context) (job.Wake, error) {
	switch a.next.do {
	case leave, awaitLook:
		if a.seen.item == nil {
			return job.Deleted(), nil
		}
		return a.r.endWork(ctx, a.key, a.seen, a.next)
	case sleep:
		return untilChange(a.key).By(a.seen.notBefore), nil
	case compare:
		return a.r.compare(ctx, a.seen)
	}
	return a.r.attempt(ctx, a.seen, a.next)
}

// LogValues implements engine.Attempt.
func (a *attempt) LogValues() []any {
	if a.seen.item == nil {
		return nil
	}
	return []any{"phase", a.seen.item.Status.Phase, "job", a.seen.item.Status.JobID}
}

// Forget implements engine.Attempt.
func (a *attempt) Forget() {
	r := a.r
	r.memory.forget(a.key)
	if a.seen.absent && r.options.Dispatcher.ObserveAbsence(a.key, a.seen.seen) && r.line != nil {
		// A dispatched job may have got its place after the item was deleted.
		r.line.Forget(a.key, a.seen.placed)
	}
}

// Report implements engine.Attempt. What a step fails with is reported by the step, unless it is a panic
// of this library, which ends the job of the item.
func (a *attempt) Report(ctx context.Context, _ string, err error) (ctrl.Result, error) {
	if job.IsPanic(err) {
		a.r.giveUp(ctx, a.key, err)
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, err
}

// untilChange is the wake of an item that has nothing to do until it changes.
func untilChange(key types.NamespacedName) job.Wake { return job.OnChange("DeployItem", key.Name) }

// endWork ends all work on an item that has nothing to do now.
func (r *reconciler) endWork(ctx context.Context, key types.NamespacedName, seen *snapshot, decision decision) (job.Wake, error) {
	r.memory.rest(key)
	wake := untilChange(key)
	if decision.do == awaitLook {
		wake = wake.By(seen.due)
	}
	if seen.repetition.Watch && seen.responsible {
		return r.checkExports(ctx, seen, wake), nil
	}
	return wake, nil
}

// observe reads everything that a decision depends on. It returns expectations.StaleCacheError if
// the cache is older than the writes of this process.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (*snapshot, error) {
	seen := &snapshot{now: r.now(), seen: r.options.Dispatcher.ObservedVersion(key.Namespace)}
	if r.line != nil {
		seen.placed = r.line.Member(key)
	}
	item := &v1alpha1.DeployItem{}
	if err := r.client.Get(ctx, key, item); err != nil {
		seen.absent = apierrors.IsNotFound(err)
		return seen, client.IgnoreNotFound(err)
	}
	if item.Spec.Type != r.options.Type {
		return seen, nil
	}
	if err := r.memory.of(item).written.Await(ctx, r.live, item); err != nil {
		return nil, err // says what was read
	}
	seen.stored, seen.responsible = item, true
	item = r.options.Dispatcher.Overlay(item)
	seen.item = item
	run := r.memory.find(item)
	if run != nil {
		seen.notBefore = run.wait(item)
	}
	var err error
	if seen.due, seen.repetition, err = r.repetition(ctx, item); err != nil {
		return nil, err
	}
	due := !seen.due.IsZero() && !seen.now.Before(seen.due)
	if (!asksForWork(item) && !due && !seen.repetition.Watch) || !hasTarget(item) {
		return seen, nil
	}
	target, err := r.target(ctx, client.ObjectKey{Namespace: item.Namespace, Name: item.Spec.Target.Name})
	if err != nil {
		return nil, err
	}
	seen.target, seen.responsible = target, responsibility.Of(r.selectors, target)
	if run != nil && run.target != versionOf(target) {
		// The Target was created or changed after the last attempt had read it.
		seen.notBefore = time.Time{}
	}
	return seen, nil
}

// target reads a Target, nil if it does not exist. Users see that a Target is missing, so the API
// server is asked before: the cache may be stale.
func (r *reconciler) target(ctx context.Context, key client.ObjectKey) (*v1alpha1.Target, error) {
	target := &v1alpha1.Target{}
	err := r.client.Get(ctx, key, target)
	if apierrors.IsNotFound(err) {
		err = r.live.Get(ctx, key, target)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Target %s: %w", key, err)
	}
	return target, nil
}

// attempt carries out a decision and reports the result.
func (r *reconciler) attempt(ctx context.Context, seen *snapshot, decision decision) (job.Wake, error) {
	item := &Item{DeployItem: seen.item.DeepCopy(), Target: seen.target, reconciler: r, key: keyOf(seen.item), stored: seen.stored}
	if decision.start {
		status.PickUp(item.DeployItem, r.information(), decision.ownJob, status.Stamp(seen.now))
		if decision.do != finishUnchanged {
			// Warnings of an unchanged item stay.
			job.DropCondition(&item.Status.Conditions, v1alpha1.WarningsCondition)
		}
	}
	item.run = r.memory.begin(item.DeployItem)
	item.run.triggered.Store(false)
	item.run.target, item.run.leaves = versionOf(seen.target), item.Annotations[v1alpha1.LeaveEarlierClusterAnnotation]
	item.run.resume(item.DeployItem, seen.now)
	result, err := r.carryOut(ctx, item, decision)
	switch {
	case item.outdated:
		return item.again(), nil
	case item.interrupted, job.IsShutdown(ctx, err):
		return untilChange(item.key), nil
	}
	ended, shown := item.judge(result, err)
	if ended == status.Succeeded && decision.do != finishUnchanged {
		item.noteKept()
	}
	return r.report(ctx, item, ended, shown)
}

// named gives an error of a deployer an operation and a reason if it has none.
func (i *Item) named(err error) error {
	var known *job.Error
	if err == nil || errors.As(err, &known) || job.IsPanic(err) {
		return err
	}
	if i.Status.Phase.IsDeletion() {
		return job.Wrap(err, published.DeleteItem, reasons.DeleteWithUninstall, "")
	}
	return job.Wrap(err, published.ReconcileItem, reasons.Reconcile, "")
}

// information describes the deployer that works on an item.
func (r *reconciler) information() v1alpha1.DeployerInformation {
	return v1alpha1.DeployerInformation{Identity: r.options.Identity, Name: r.options.Name, Version: r.options.Version}
}

// carryOut carries out a decision.
func (r *reconciler) carryOut(ctx context.Context, item *Item, decision decision) (Result, error) {
	item.setDeadline()
	switch decision.do {
	case release:
		item.Status.Phase = v1alpha1.DeployItemPhases.InitDelete
		return Done(), nil
	case finishUnchanged:
		item.warnUnmoved(ctx)
		return Done(), nil
	case failSuperseded:
		return Result{}, job.AsTerminal(job.NewError(published.ReconcileItem, reasons.Deleted, "the item was deleted while this job ran: ask the root for another job"))
	}
	if decision.consumeOperation {
		if err := r.consumeOperation(ctx, item); err != nil {
			return Result{}, err
		}
	}
	if err := item.inherit(ctx); err != nil {
		return Result{}, err
	}
	if item.Status.Phase.IsDeletion() {
		return r.recoverPanic(ctx, item, r.options.Deployer.Delete)
	}
	if err := invalid(item.DeployItem); err != nil {
		return Result{}, err
	}
	if !controllerutil.ContainsFinalizer(item, v1alpha1.Finalizer) {
		err := item.writeMetadata(ctx, func(stored *v1alpha1.DeployItem) { controllerutil.AddFinalizer(stored, v1alpha1.Finalizer) })
		if err != nil {
			return Result{}, job.Wrap(err, published.ReconcileItem, reasons.AddFinalizer, "")
		}
	}
	if item.Spec.Configuration == nil {
		return Result{}, job.NewError(published.ReconcileItem, reasons.ProviderConfigurationMissing, "the item has no configuration: set spec.config", v1alpha1.ErrorConfigurationProblem)
	}
	if decision.do == awaitTarget {
		return Result{}, item.noTarget()
	}
	return r.recoverPanic(ctx, item, r.options.Deployer.Reconcile)
}

// invalid validates an item, which may have been stored without an admission policy. The item may
// hold values of a Secret, so the error has no values.
func invalid(item *v1alpha1.DeployItem) error {
	errs := validation.Rendered(validation.DeployItem(item, nil), func(string) bool { return false })
	if len(errs) == 0 {
		return nil
	}
	return job.Wrap(errs.ToAggregate(), published.ReconcileItem, reasons.InvalidDeployItem, "the item is not valid", v1alpha1.ErrorConfigurationProblem)
}

// consumeOperation stores the job before it removes the annotation, so that a crash in between
// cannot lose the request.
func (r *reconciler) consumeOperation(ctx context.Context, item *Item) error {
	if err := item.write(ctx); err != nil {
		return err
	}
	return item.writeMetadata(ctx, func(stored *v1alpha1.DeployItem) { delete(stored.Annotations, v1alpha1.OperationAnnotation) })
}

// setDeadline computes when the time of the job is over.
func (i *Item) setDeadline() {
	if limit := i.Spec.TimeLimit(); limit != 0 {
		i.deadline = i.Status.TransitionTimes.InitTime.Add(limit)
	}
}

// requeue lets an item continue at once.
func (r *reconciler) requeue(key types.NamespacedName) {
	r.memory.markTriggered(key)
	r.enqueue(key)
}

// enqueue puts an item into the queue.
func (r *reconciler) enqueue(key types.NamespacedName) {
	if add := r.queue.Load(); add != nil {
		(*add)(key)
	}
}
