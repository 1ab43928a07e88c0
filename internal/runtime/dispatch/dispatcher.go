// Package dispatch passes jobs from Executions to the deployers of the same process. A
// deployer of another process finds its job in the status of an item. A deployer of this
// process gets the job from the dispatcher, and stores it with its first status write. So a
// job is written once.
//
// The dispatched jobs may be lost: an Execution looks for items without its job, also after
// a start, and dispatches the job again.
package dispatch

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/resourceversion"
	"go.landscaper.dev/internal/runtime/reporter"
)

// Dispatcher dispatches jobs to deployers. Nil is a dispatcher without deployers.
// The mutex guards the maps and newest. No callback is called while it is held: a
// deployer may call the dispatcher at once.
type Dispatcher struct {
	mutex sync.Mutex
	// receivers are the types of items whose deployers are registered here.
	receivers map[v1alpha1.DeployItemType]func(*v1alpha1.DeployItem)
	jobs      map[types.NamespacedName]dispatchedJob
	// newest is the newest version of any item of a namespace that the cache has reached. A
	// server that is confined to some namespaces has a watch for each, and one of them may be
	// behind the others.
	newest map[string]string
	// rewound says that the history of the API server was rewound.
	rewound bool
	// OnDispatch is called with each item and its job; nil for no call. It must not wait.
	OnDispatch func(*v1alpha1.DeployItem)
	// onLost is called with each Execution whose items have lost a dispatched job.
	onLost func(types.NamespacedName)
}

// dispatchedJob is a dispatched job that no cache has shown yet.
type dispatchedJob struct {
	uid   types.UID
	jobID string
	at    metav1.Time
	// version is that of the item that the job is for: a cache may show an older one.
	version string
	// execution is the name of the Execution that has dispatched the job.
	execution string
}

// AssignJob assigns a job to an item in its status.
func AssignJob(item *v1alpha1.DeployItem, jobID string, at metav1.Time) {
	reporter.DeployItem(item).Status.Trigger(jobID, at)
	item.Status.JobIDGenerationTime = &at
}

// Register registers the deployer of a type of items. The function is called for each
// dispatched job, with the item as it is stored.
func (d *Dispatcher) Register(of v1alpha1.DeployItemType, notify func(*v1alpha1.DeployItem)) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.receivers == nil {
		d.receivers, d.jobs = map[v1alpha1.DeployItemType]func(*v1alpha1.DeployItem){}, map[types.NamespacedName]dispatchedJob{}
	}
	d.receivers[of] = notify
}

// Dispatch dispatches a job to the deployer of an item. It is false if no such deployer is
// registered: then the job has to be stored.
func (d *Dispatcher) Dispatch(item *v1alpha1.DeployItem, jobID string, now time.Time) bool {
	if d == nil {
		return false
	}
	d.mutex.Lock()
	notify := d.receivers[item.Spec.Type]
	d.mutex.Unlock()
	if notify == nil {
		return false
	}
	// The time has the precision of a stored one.
	at := metav1.NewTime(now).Rfc3339Copy()
	before := item.DeepCopy()
	AssignJob(item, jobID, at)
	if d.OnDispatch != nil {
		// The metrics get the job before the deployer can find it: a deployer may work on the
		// item for another reason, find the job and end it in a moment.
		d.OnDispatch(item)
	}
	d.mutex.Lock()
	// The job is kept before the deployer is notified: then the deployer finds it.
	d.jobs[keyOf(item)] = dispatchedJob{uid: item.UID, jobID: jobID, at: at, version: item.ResourceVersion, execution: item.Labels[v1alpha1.ExecutionManagedByLabel]}
	d.mutex.Unlock()
	notify(before)
	return true
}

// Overlay returns an item from a cache with its dispatched job, or the item itself if it has
// no such job. The given item is not changed.
//
// Every decision about an item reads the item through the dispatcher, so that a job counts
// from its dispatch, and not from its first write.
func (d *Dispatcher) Overlay(item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	given, ok := d.find(item)
	if !ok {
		return item
	}
	shown := item.DeepCopy()
	AssignJob(shown, given.jobID, given.at)
	return shown
}

// find returns the job of an item that its status does not show. An older version of the
// item has none: it may want something else, or not know yet that it is being deleted.
// A job that the status shows is dropped, and so is one that the status shows as finished:
// then another client may have given the item another job already.
func (d *Dispatcher) find(item *v1alpha1.DeployItem) (dispatchedJob, bool) {
	if d == nil {
		return dispatchedJob{}, false
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	given, ok := d.jobs[keyOf(item)]
	if !ok || given.uid != item.UID || resourceversion.Older(item.ResourceVersion, given.version) {
		return dispatchedJob{}, false
	}
	if given.jobID == item.Status.JobID || given.jobID == item.Status.JobIDFinished {
		delete(d.jobs, keyOf(item))
		return dispatchedJob{}, false
	}
	return given, true
}

// Observe records that the cache has reached a version of an item, or its deletion.
func (d *Dispatcher) Observe(item metav1.Object) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.newest == nil {
		d.newest = map[string]string{}
	}
	if namespace := item.GetNamespace(); resourceversion.Older(d.newest[namespace], item.GetResourceVersion()) {
		d.newest[namespace] = item.GetResourceVersion()
	}
}

// OnLost calls a function with each Execution whose dispatched job is forgotten, so that the
// Execution looks again. The function must not wait.
func (d *Dispatcher) OnLost(notify func(types.NamespacedName)) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.onLost = notify
}

// Rewound records that the history of the API server was rewound: its store was restored from
// a backup. The versions of the cache mean nothing any more, and an Execution may have another
// job than the one that it has dispatched: it dispatches the job again if it still has it.
func (d *Dispatcher) Rewound() {
	if d == nil {
		return
	}
	d.mutex.Lock()
	lost, notify := make([]types.NamespacedName, 0, len(d.jobs)), d.onLost
	for key, given := range d.jobs {
		lost = append(lost, types.NamespacedName{Namespace: key.Namespace, Name: given.execution})
	}
	d.newest = nil
	d.rewound = true
	clear(d.jobs)
	d.mutex.Unlock()
	if notify == nil {
		return
	}
	for _, execution := range lost {
		notify(execution)
	}
}

// ObservedVersion returns the version that the cache has reached in a namespace. A reader that may not
// find an item asks for the version before it reads.
func (d *Dispatcher) ObservedVersion(namespace string) string {
	if d == nil {
		return ""
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.newest[namespace]
}

// ObserveAbsence records that the cache has shown no such item after it had reached a version, and
// reports whether the item does not exist. The cache may not show an item yet that was
// created just now.
//
// Items and Executions have separate watches. The Execution dispatches a job as soon as it
// has created the item, which the cache of the deployer may not show yet. The cache may show
// the item a moment later, before the deployer calls Gone: so the version of the cache before
// the read counts, not the present one. A job that was forgotten too early would not be
// dispatched again until it is too late for the item.
func (d *Dispatcher) ObserveAbsence(key types.NamespacedName, seen string) bool {
	if d == nil {
		return true
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	given, open := d.jobs[key]
	if open && resourceversion.Older(seen, given.version) {
		return false
	}
	delete(d.jobs, key)
	return true
}

// rollBack forgets the job of an item for a version that a restored store does not have: when
// that version comes again, it may want something else. A job that was dispatched since stays:
// the Execution may see the item before the deployer does.
func (d *Dispatcher) rollBack(before, item metav1.Object) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	key := types.NamespacedName{Namespace: item.GetNamespace(), Name: item.GetName()}
	// After Rewound all jobs of before are forgotten already. A store whose
	// versions were set forward with the restore shows nothing but this.
	given, open := d.jobs[key]
	if open && !d.rewound && given.uid == item.GetUID() && resourceversion.Older(item.GetResourceVersion(), given.version) && !resourceversion.Older(before.GetResourceVersion(), given.version) {
		delete(d.jobs, key)
	}
}

// forget forgets the job of a deleted item.
func (d *Dispatcher) forget(key types.NamespacedName, uid types.UID) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.jobs[key].uid == uid {
		delete(d.jobs, key)
	}
}

// Handler records the version that the cache has reached, and the deletions, before the
// events of items are handled.
func (d *Dispatcher) Handler(inner handler.EventHandler) handler.EventHandler {
	type line = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue line) {
			d.Observe(e.Object)
			inner.Create(ctx, e, queue)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue line) {
			if resourceversion.Older(e.ObjectNew.GetResourceVersion(), e.ObjectOld.GetResourceVersion()) {
				d.rollBack(e.ObjectOld, e.ObjectNew)
			}
			d.Observe(e.ObjectNew)
			inner.Update(ctx, e, queue)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue line) {
			if !e.DeleteStateUnknown {
				// Otherwise it is the last state that the cache has had, which may be of a
				// history that was rewound.
				d.Observe(e.Object)
			}
			d.forget(client.ObjectKeyFromObject(e.Object), e.Object.GetUID())
			inner.Delete(ctx, e, queue)
		},
	}
}

// Pending is the number of jobs that were dispatched and not stored yet.
func (d *Dispatcher) Pending() int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return len(d.jobs)
}

func keyOf(item *v1alpha1.DeployItem) types.NamespacedName {
	return types.NamespacedName{Namespace: item.Namespace, Name: item.Name}
}
