package execution

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/engine"
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
	// Parallelizer makes the requests for several items; nil makes some of them at the same time.
	Parallelizer parallelize.Parallelizer

	Surroundings
	reporter.Recorders

	memory memory
}

// Surroundings answer what a job depends on besides the Execution, its items and its Installation.
type Surroundings struct {
	// Policies reads the DeliveryPolicies of a namespace from a cache; nil where the feature is off.
	Policies func(ctx context.Context, namespace string) ([]*deliveryv1alpha1.DeliveryPolicy, error)
	// Unsettled reports whether the history of the API server was rewound a moment ago, so that
	// caches may contradict each other; nil if that is unknown.
	Unsettled func() bool
	// ClusterRemoved reports whether a shoot in the source of the namespace's TargetSync no longer
	// exists; nil knows no shoot.
	ClusterRemoved func(ctx context.Context, namespace, shoot string) (bool, error)
}

// reporter returns what reports jobs of Executions.
func (r *Reconciler) reporter() *reporter.Reporter {
	return &reporter.Reporter{
		Client: r.Client, Recorders: r.Recorders, Action: "ReconcileExecution", Now: r.Now,
		Known: func(uid types.UID) *reporter.Known { return &r.memory.Of(uid).Known },
	}
}

// Reconcile drives an Execution as far as possible without waiting.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s := &snapshot{pickup: r.PickupTimeout, unsettled: r.Unsettled != nil && r.Unsettled()}
	return engine.Drive(ctx, &attempt{r: r, key: request.NamespacedName, s: s}, r.Now)
}

// attempt drives one Execution.
type attempt struct {
	r    *Reconciler
	key  client.ObjectKey
	s    *snapshot
	next decision
}

// Observe implements engine.Attempt.
func (a *attempt) Observe(ctx context.Context) (job.Wake, error) {
	exists, err := a.r.observe(ctx, a.key, a.s)
	switch {
	case err != nil, !exists && len(a.s.strays) == 0:
		return job.Deleted(), err
	case !exists:
		return job.Continues(), nil
	}
	if pause := a.r.reporter().PanicBackoff(reporter.Execution(a.s.exec)); pause > 0 {
		return job.Wake{}.By(a.r.Now().Add(pause)), nil
	}
	return job.Continues(), nil
}

// Decide implements engine.Attempt.
func (a *attempt) Decide(context.Context) (string, job.Wake) {
	a.s.now = a.r.Now()
	if a.next = decide(*a.s); a.next.do == rest && a.s.exec != nil {
		a.r.reporter().ResetPanics(reporter.Execution(a.s.exec))
	}
	return string(a.next.do), a.next.wake
}

// Apply implements engine.Attempt.
func (a *attempt) Apply(ctx context.Context) (job.Wake, error) {
	err := a.r.apply(ctx, a.s, a.next)
	if a.s.released {
		return job.Deleted(), err
	}
	return job.Continues(), err
}

// LogValues implements engine.Attempt.
func (a *attempt) LogValues() []any {
	if a.s.exec == nil {
		return nil
	}
	return []any{"phase", a.s.exec.Status.ExecutionPhase, "job", a.s.exec.Status.JobID}
}

// Forget implements engine.Attempt.
func (a *attempt) Forget() {
	if a.s.exec != nil {
		a.r.memory.Forget(a.s.exec.UID)
	}
}

// Report implements engine.Attempt.
func (a *attempt) Report(ctx context.Context, step string, err error) (ctrl.Result, error) {
	if a.s.exec == nil {
		return a.r.reporter().Report(ctx, nil, cmp.Or(step, "observe"), err)
	}
	subject := reporter.Execution(a.s.exec)
	if job.OutcomeOf(err) == job.Terminal {
		a.s.noteEnd(subject, metav1.NewTime(a.r.Now()))
	}
	return a.r.reporter().Report(ctx, subject, step, err)
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

// observe reads the snapshot. It returns false if the object does not exist, of which strays may be left,
// and expectations.StaleCacheError if a cache is behind our own writes.
//
// Objects are those of the cache itself, without a copy: a list of a thousand items is read with
// every event of one of them. An object is copied before it is changed, see own.
func (r *Reconciler) observe(ctx context.Context, key client.ObjectKey, s *snapshot) (bool, error) {
	exec := &v1alpha1.Execution{}
	if err := r.Client.Get(ctx, key, exec, client.UnsafeDisableDeepCopy); apierrors.IsNotFound(err) {
		return false, r.observeStrays(ctx, key, s)
	} else if err != nil {
		return false, err
	}
	if err := r.memory.await(ctx, r.Reader, exec); err != nil {
		return false, err // says what was read
	}
	s.exec = exec.DeepCopy()
	s.templates, s.broken = s.exec.Spec.Items()
	if err := r.observeParent(ctx, s); err != nil {
		return false, err
	}
	if err := r.observePause(ctx, s); err != nil {
		return false, err // says what was read
	}
	items, err := r.listItems(ctx, key)
	if err != nil {
		return false, err // says what was read
	}
	known := r.memory.Of(exec.UID)
	for i := range items {
		item := &items[i]
		if err := r.memory.awaitItem(ctx, r.Reader, item); err != nil {
			return false, err // says what was read
		}
		known.created.Forget(item.Name)
		if belongs(item, exec) {
			s.items = append(s.items, r.Dispatcher.Overlay(item))
		} else if isStray(r.Dispatcher.Overlay(item), exec.Name, exec.UID) {
			s.strays = append(s.strays, item)
		}
	}
	if err := r.unchanged(ctx, exec); err != nil {
		return false, err // says what was read
	}
	if err := r.observeMissing(ctx, s); err != nil {
		return false, err // says what was read
	}
	s.single()
	return true, nil
}

// unchanged returns expectations.StaleCacheError if the Execution is no longer as it was read before its
// items. Another replica may lead by now, and have written the items for a newer Execution: a write
// for the older one would be bound to their new versions.
func (r *Reconciler) unchanged(ctx context.Context, exec *v1alpha1.Execution) error {
	now, key := &v1alpha1.Execution{}, client.ObjectKeyFromObject(exec)
	if err := r.Client.Get(ctx, key, now, client.UnsafeDisableDeepCopy); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Execution %s once more: %w", key, err)
	}
	if now.ResourceVersion != exec.ResourceVersion {
		return expectations.StaleCacheError{RetryAfter: reporter.ConflictBackoff}
	}
	return nil
}

// observeMissing looks for known items that the cache does not show. A missing item fails a job,
// and a terminating Execution is released when no item is left, so that a stale cache is not
// enough: items that were just created are waited for, and about all others the API server decides.
func (r *Reconciler) observeMissing(ctx context.Context, s *snapshot) error {
	shown := make(map[string]bool, len(s.items))
	for _, item := range s.items {
		shown[item.Name] = true
	}
	known := r.memory.Of(s.exec.UID)
	if err := known.made.Await(func(name string) bool { return shown[name] }, r.Now()); err != nil {
		return err // says what is waited for
	}
	for _, name := range r.known(s.exec) {
		if shown[name] {
			continue
		}
		if created, ok := known.created.At(name); ok && r.Now().Sub(created) < lagLimit {
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
			known.created.Forget(name)
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
		return r.memory.Of(exec.UID).created.Names()
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
