package execution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/ancestor"
	"go.landscaper.dev/internal/runtime/parallelize"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/reporter"
)

// Reconciler drives Executions.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster.
	Client client.Client
	// Reader reads from the API server what no cache holds: export Secrets.
	Reader client.Reader
	// Order puts older jobs first.
	Order *queue.Order
	// Now is the clock.
	Now func() time.Time
	// PickupTimeout limits the time until a deployer picks up an item; 0 means no limit.
	PickupTimeout time.Duration
	// NewJobID makes the IDs of jobs.
	NewJobID func() string
	// Dispatcher dispatches jobs to deployers of this process; nil writes all jobs.
	Dispatcher *dispatch.Dispatcher
	// Unsettled reports whether the history of the API server was rewound a moment ago, so that
	// caches may contradict each other; nil if that is unknown.
	Unsettled func() bool
	// Parallelizer makes the requests for several items; nil makes some of them at the same time.
	Parallelizer parallelize.Parallelizer

	// ClusterRemoved reports whether a shoot in the source of the namespace's TargetSync no longer
	// exists; nil knows no shoot.
	ClusterRemoved func(ctx context.Context, namespace, shoot string) (bool, error)

	// Events reports to users what happened; nil reports nothing.
	Events events.EventRecorder
	// Problems records panics; nil only logs them.
	Problems *reporter.Problems

	written expectations.Writes
	// made are the items that were created and that the cache has not shown yet, created those
	// that may have been.
	made    expectations.Creations
	created expectations.Creations
	once    sync.Once
	reports *reporter.Reporter
}

// reporter returns what reports jobs of Executions.
func (r *Reconciler) reporter() *reporter.Reporter {
	r.once.Do(func() {
		r.reports = &reporter.Reporter{
			Client: r.Client, Events: r.Events, Action: "ReconcileExecution", Now: r.Now, Written: &r.written, Problems: r.Problems,
		}
	})
	return r.reports
}

// Reconcile drives an Execution as far as possible without waiting.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s := &snapshot{pickup: r.PickupTimeout, unsettled: r.Unsettled != nil && r.Unsettled()}
	var last decision
	err := job.RecoverPanic(func() error { return r.work(ctx, request, s, &last) })
	switch {
	case err == nil:
		return ctrl.Result{RequeueAfter: last.wake.Pause(r.Now())}, nil
	case s.exec == nil:
		return r.reporter().Report(ctx, nil, "observe", err)
	case last.do == "" && !job.IsPanic(err):
		// The reads of the snapshot have failed.
		return ctrl.Result{}, err
	case errors.Is(err, reporter.ErrDeleted):
		r.forget(s.exec)
	}
	subject := reporter.Execution(s.exec)
	if job.OutcomeOf(err) == job.Terminal {
		s.noteEnd(subject, metav1.NewTime(r.Now()))
	}
	return r.reporter().Report(ctx, subject, string(last.do), err)
}

// maxSteps is more than any Execution needs without waiting.
//
// A decision that is repeated without end would be a bug, which then backs off like any other error
// instead of keeping a worker busy.
const maxSteps = 100

// work observes, decides and applies until there is something to wait for. Last is
// what was decided last.
func (r *Reconciler) work(ctx context.Context, request ctrl.Request, s *snapshot, last *decision) error {
	if ready, err := r.observe(ctx, request, s); err != nil || !ready {
		if pause, behind := expectations.RetryAfter(err); behind {
			last.wake, err = job.Wake{}.By(r.Now().Add(pause)), nil
		}
		return err
	}
	if pause := r.reporter().PanicBackoff(reporter.Execution(s.exec)); pause > 0 {
		last.wake = job.Wake{}.By(r.Now().Add(pause))
		return nil
	}
	for range maxSteps {
		s.now = r.Now()
		*last = decide(*s)
		if last.do == rest {
			log.FromContext(ctx).V(1).Info("rest", "wake", last.wake.String())
			r.reporter().ResetPanics(reporter.Execution(s.exec))
			return nil
		}
		log.FromContext(ctx).V(1).Info("step", "step", last.do, "phase", s.exec.Status.ExecutionPhase, "job", s.exec.Status.JobID)
		if err := r.apply(ctx, s, *last); err != nil {
			return err
		}
	}
	return fmt.Errorf("the job does not come to rest: step %q is repeated", last.do)
}

// lagLimit is how long a cache may be behind before we ask the API server.
//
// Watches are mostly behind by milliseconds. A read that comes too early costs a request for each
// item of each new Execution.
const lagLimit = time.Second

// own returns an item as a copy that may be changed: what a cache shows is shared. Items that are
// only read need no copy.
func (s *snapshot) own(item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	own := item.DeepCopy()
	if at := slices.Index(s.items, item); at >= 0 {
		s.items[at] = own
	}
	return own
}

// awaitChange keeps an item unchanged until a newer version of it arrives.
func (s *snapshot) awaitChange(item *v1alpha1.DeployItem) {
	if s.underWay == nil {
		s.underWay = map[types.UID]bool{}
	}
	s.underWay[item.UID] = true
}

// observe reads the snapshot. It returns false if the object does not exist, and
// expectations.StaleCacheError if a cache is behind our own writes.
//
// Objects are those of the cache itself, without a copy: a list of a thousand items is read with
// every event of one of them. An object is copied before it is changed, see own.
func (r *Reconciler) observe(ctx context.Context, request ctrl.Request, s *snapshot) (bool, error) {
	exec := &v1alpha1.Execution{}
	if err := r.Client.Get(ctx, request.NamespacedName, exec, client.UnsafeDisableDeepCopy); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if err := r.written.Await(ctx, r.Reader, exec); err != nil {
		return false, err // says what was read
	}
	s.exec = exec.DeepCopy()
	s.templates, s.broken = s.exec.Spec.Items()
	if err := r.observeParent(ctx, s); err != nil {
		return false, err
	}
	list := &v1alpha1.DeployItemList{}
	if err := r.Client.List(ctx, list, client.InNamespace(exec.Namespace), client.MatchingFields{itemsByExecution: exec.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list the DeployItems of Execution %s: %w", request, err)
	}
	for i := range list.Items {
		item := &list.Items[i]
		if err := r.written.Await(ctx, r.Reader, item); err != nil {
			return false, err // says what was read
		}
		r.created.Forget(exec.UID, item.Name)
		if belongs(item, exec) {
			s.items = append(s.items, r.Dispatcher.Overlay(item))
		}
	}
	if err := r.observeMissing(ctx, s); err != nil {
		return false, err // says what was read
	}
	s.single()
	return true, nil
}

// observeMissing looks for known items that the cache does not show. A missing item fails a job,
// and a terminating Execution is released when no item is left, so that a stale cache is not
// enough: items that were just created are waited for, and about all others the API server decides.
func (r *Reconciler) observeMissing(ctx context.Context, s *snapshot) error {
	shown := make(map[string]bool, len(s.items))
	for _, item := range s.items {
		shown[item.Name] = true
	}
	if err := r.made.Await(s.exec.UID, func(name string) bool { return shown[name] }, r.Now()); err != nil {
		return err // says what is waited for
	}
	for _, name := range r.known(s.exec) {
		if shown[name] {
			continue
		}
		if created, ok := r.created.At(s.exec.UID, name); ok && r.Now().Sub(created) < lagLimit {
			return expectations.StaleCacheError{RetryAfter: lagLimit}
		}
		key := client.ObjectKey{Namespace: s.exec.Namespace, Name: name}
		item := &v1alpha1.DeployItem{}
		switch err := r.Reader.Get(ctx, key, item); {
		case client.IgnoreNotFound(err) != nil:
			return fmt.Errorf("read DeployItem %s: %w", key, err)
		case err == nil && belongs(item, s.exec):
			s.items = append(s.items, r.Dispatcher.Overlay(item))
		default:
			r.created.Forget(s.exec.UID, name)
		}
	}
	return nil
}

// belongs reports whether an item is one of an Execution: by its owner, also if its label was
// removed, or by its label, since a restored one may have no owner.
func belongs(item *v1alpha1.DeployItem, exec *v1alpha1.Execution) bool {
	return owner(exec).Owns(item) || metav1.GetControllerOf(item) == nil && item.Labels[v1alpha1.ExecutionManagedByLabel] == exec.Name
}

// known are the names of the items that an Execution must have: those of its job, or, if it
// is being deleted, those that it may have created just before.
func (r *Reconciler) known(exec *v1alpha1.Execution) []string {
	if exec.DeletionTimestamp != nil {
		return r.created.Of(exec.UID)
	}
	cache := exec.Status.DeployItemCache
	if cache == nil || !job.Unfinished(exec.Status.JobID, exec.Status.JobIDFinished) {
		return nil
	}
	names := make([]string, len(cache.ActiveDIs))
	for i, pair := range cache.ActiveDIs {
		names[i] = pair.ObjectName
	}
	return names
}

func (r *Reconciler) observeParent(ctx context.Context, s *snapshot) error {
	reference, ok := job.OwnerOf(s.exec, "Installation")
	if !ok {
		return nil
	}
	parent, err := ancestor.Parent(ctx, r.Client, s.exec.Namespace, reference)
	if err != nil {
		return err // names the object
	}
	s.parent, s.orphaned = parent, parent == nil
	if parent != nil && (job.Unfinished(s.exec.Status.JobID, s.exec.Status.JobIDFinished) || awaited(*s)) {
		s.lineage, err = ancestor.Lineage(ctx, r.Client, parent, maxDepth)
	}
	return err // names the object
}
