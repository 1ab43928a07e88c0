// Package dispatch passes jobs from Executions to the deployers of the same process. A
// deployer that works elsewhere finds its job in the status of an item; one that works
// here gets it at the desk, and stores it with the first thing that it has to tell. So a
// job is written once.
//
// All of it may be lost: an Execution looks for items without its job, also after a
// start, and hands it over again.
package dispatch

import (
	"context"
	"math"
	"strconv"
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
	"go.landscaper.dev/internal/runtime/reporter"
)

// Desk is where jobs are handed over. Nil is a desk that nobody comes to.
// The mutex guards the maps and newest. Nobody is told anything while it is held: a
// deployer may come to the desk at once.
type Desk struct {
	mutex sync.Mutex
	// served are the types of items whose deployers come to the desk.
	served map[v1alpha1.DeployItemType]func(*v1alpha1.DeployItem)
	jobs   map[types.NamespacedName]handed
	// newest is the newest version of any item of a namespace that the cache has come to. A
	// server that is confined to some namespaces has a watch for each, and one of them may be
	// behind the others.
	newest map[string]uint64
	// rewound says that the history of the API server was rewound.
	rewound bool
	// Handed hears of each item with its job; nil if nobody wants to know. It must not
	// wait.
	Handed func(*v1alpha1.DeployItem)
	// lost hears of each Execution whose items have lost a job that was handed over.
	lost func(types.NamespacedName)
}

// handed is a job that was handed over and that no cache has shown yet.
type handed struct {
	uid   types.UID
	jobID string
	at    metav1.Time
	// version is the one that the job is for: what a cache shows may be older.
	version uint64
	// execution is the name of the Execution that has handed it over.
	execution string
}

// Write hands a job over in the status of an item.
func Write(item *v1alpha1.DeployItem, jobID string, at metav1.Time) {
	reporter.DeployItem(item).Status.Trigger(jobID, at)
	item.Status.JobIDGenerationTime = &at
}

// Serve says that a deployer takes all jobs of a type here. It is told about the
// item of each, as it is stored.
func (d *Desk) Serve(of v1alpha1.DeployItemType, told func(*v1alpha1.DeployItem)) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.served == nil {
		d.served, d.jobs = map[v1alpha1.DeployItemType]func(*v1alpha1.DeployItem){}, map[types.NamespacedName]handed{}
	}
	d.served[of] = told
}

// Hand gives an item a job. It is false if no deployer of the item comes to the desk:
// then the job has to be stored.
func (d *Desk) Hand(item *v1alpha1.DeployItem, jobID string, now time.Time) bool {
	if d == nil {
		return false
	}
	d.mutex.Lock()
	told := d.served[item.Spec.Type]
	d.mutex.Unlock()
	if told == nil {
		return false
	}
	// As it would be read again if it were stored.
	at := metav1.NewTime(now).Rfc3339Copy()
	before := item.DeepCopy()
	Write(item, jobID, at)
	if d.Handed != nil {
		// Whoever counts hears of the job before it is at the desk: a deployer may be at the
		// item for another reason, find it there and be done in a moment.
		d.Handed(item)
	}
	d.mutex.Lock()
	// The job is at the desk before the deployer is told: who comes because of it finds it.
	d.jobs[keyOf(item)] = handed{uid: item.UID, jobID: jobID, at: at, version: versionOf(item), execution: item.Labels[v1alpha1.ExecutionManagedByLabel]}
	d.mutex.Unlock()
	told(before)
	return true
}

// Show returns an item from a cache with the job that was handed over, or the item
// itself if it has none but what it shows. It is not changed.
//
// Whoever decides about an item looks at it through the desk, so that a job counts from the
// moment of the hand-over, and not from that of its first write.
func (d *Desk) Show(item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	given, ok := d.find(item)
	if !ok {
		return item
	}
	shown := item.DeepCopy()
	Write(shown, given.jobID, given.at)
	return shown
}

// find returns the job of an item that its status does not show. An older version of the
// item has none: it may want something else, or not know yet that it is being deleted.
// What the status shows needs the desk no longer, nor what it shows to be done: then
// somebody may have given the item another job already.
func (d *Desk) find(item *v1alpha1.DeployItem) (handed, bool) {
	if d == nil {
		return handed{}, false
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	given, ok := d.jobs[keyOf(item)]
	if !ok || given.uid != item.UID || versionOf(item) < given.version {
		return handed{}, false
	}
	if given.jobID == item.Status.JobID || given.jobID == item.Status.JobIDFinished {
		delete(d.jobs, keyOf(item))
		return handed{}, false
	}
	return given, true
}

// Saw says that the cache has come to a version of an item, or to its deletion.
func (d *Desk) Saw(item metav1.Object) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.newest == nil {
		d.newest = map[string]uint64{}
	}
	d.newest[item.GetNamespace()] = max(d.newest[item.GetNamespace()], versionOf(item))
}

// Lost calls a function with each Execution that has handed a job over which is forgotten, so
// that the Execution looks again. It must not wait.
func (d *Desk) Lost(told func(types.NamespacedName)) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.lost = told
}

// Rewound says that the history of the API server was rewound: its store was restored from a
// backup. What the cache has come to says nothing any more, and an Execution may be at another
// job than the one that it has handed over: it does so again if it is still at that.
func (d *Desk) Rewound() {
	if d == nil {
		return
	}
	d.mutex.Lock()
	lost, told := make([]types.NamespacedName, 0, len(d.jobs)), d.lost
	for key, given := range d.jobs {
		lost = append(lost, types.NamespacedName{Namespace: key.Namespace, Name: given.execution})
	}
	d.newest = nil
	d.rewound = true
	clear(d.jobs)
	d.mutex.Unlock()
	if told == nil {
		return
	}
	for _, execution := range lost {
		told(execution)
	}
}

// Seen is how far the cache has come in a namespace. Whoever may miss an item asks for it
// before looking: see Gone.
func (d *Desk) Seen(namespace string) uint64 {
	if d == nil {
		return 0
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.newest[namespace]
}

// Gone says that the cache has shown no such item after it had come to a version, and
// reports whether there is none. One that was created just now may be on its way.
//
// Items and Executions are watched apart. The Execution hands a job over in the moment in
// which the item is created, which the cache of the deployer may not show yet. It may show
// it a moment later, before the deployer has come here: so what counts is how far the cache
// was before the look, not how far it is now. A job that was forgotten for that would be
// handed over again by nobody, until it is too late for the item.
func (d *Desk) Gone(key types.NamespacedName, seen uint64) bool {
	if d == nil {
		return true
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	given, open := d.jobs[key]
	if open && given.version > seen {
		return false
	}
	delete(d.jobs, key)
	return true
}

// goBack forgets the job of an item for a version that a restored store does not have: when it
// comes again, it may want something else. A job that was handed over since stays: who hands it
// over may hear of the item before the deployer.
func (d *Desk) goBack(before, item metav1.Object) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	key := types.NamespacedName{Namespace: item.GetNamespace(), Name: item.GetName()}
	// After Rewound all jobs of before are forgotten already. A store whose
	// versions were set forward with the restore shows nothing but this.
	given, open := d.jobs[key]
	if open && !d.rewound && given.uid == item.GetUID() && given.version > versionOf(item) && given.version <= versionOf(before) {
		delete(d.jobs, key)
	}
}

// drop forgets the job of an item that is gone.
func (d *Desk) drop(key types.NamespacedName, uid types.UID) {
	if d == nil {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.jobs[key].uid == uid {
		delete(d.jobs, key)
	}
}

// Handler lets the desk see how far the cache has come, and what is gone, before the
// events of items are handled.
func (d *Desk) Handler(inner handler.EventHandler) handler.EventHandler {
	type line = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue line) {
			d.Saw(e.Object)
			inner.Create(ctx, e, queue)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue line) {
			if versionOf(e.ObjectNew) < versionOf(e.ObjectOld) {
				d.goBack(e.ObjectOld, e.ObjectNew)
			}
			d.Saw(e.ObjectNew)
			inner.Update(ctx, e, queue)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue line) {
			if !e.DeleteStateUnknown {
				// Otherwise it is the last state that the cache has had, which may be of a
				// history that was rewound.
				d.Saw(e.Object)
			}
			d.drop(client.ObjectKeyFromObject(e.Object), e.Object.GetUID())
			inner.Delete(ctx, e, queue)
		},
	}
}

// Open is how many jobs were handed over and not stored yet.
func (d *Desk) Open() int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return len(d.jobs)
}

// versionOf returns the version of an item; one that nobody can compare is the newest.
func versionOf(item metav1.Object) uint64 {
	version, err := strconv.ParseUint(item.GetResourceVersion(), 10, 64)
	if err != nil {
		return math.MaxUint64
	}
	return version
}

func keyOf(item *v1alpha1.DeployItem) types.NamespacedName {
	return types.NamespacedName{Namespace: item.Namespace, Name: item.Name}
}
