package world

import (
	"context"
	"runtime/debug"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/test/model/store"
)

// Lane is the queue of a controller.
type Lane struct {
	name       string
	reconciler reconcile.Reconciler
	ready      []types.NamespacedName
	running    map[types.NamespacedName]bool
	Timers     map[types.NamespacedName]time.Time
	failures   map[types.NamespacedName]int
	rings      map[types.NamespacedName]*asked
}

// Add enqueues an object that is not in the queue yet.
func (l *Lane) Add(key types.NamespacedName) {
	for _, known := range l.ready {
		if known == key {
			return
		}
	}
	l.ready = append(l.ready, key)
}

// LaneNames are the controllers.
var LaneNames = []string{"installation", "execution", "deployer", "targetsync", "extension", "health"}

// checkRing: retries are bounded, whatever the error. A timer does not bring an object back again and
// again while nothing changes.
func (w *World) checkRing(l *Lane, key types.NamespacedName) {
	version := strconv.Itoa(w.Store.Version)
	before := l.rings[key]
	if before == nil || before.version != version || time.Since(before.since) >= time.Second {
		l.rings[key] = &asked{version: version, since: time.Now(), count: 1}
		return
	}
	if before.count++; before.count > ringsInSecond {
		w.Violate("%s looks at %s %d times within a second, in which nothing was written", l.name, key.Name, before.count)
	}
}

// ringsInSecond is how often an object may be looked at again by a timer within a second in which
// nothing was written.
const ringsInSecond = 10

// run reconciles one request.
func (w *World) run(l *Lane, at int) {
	key := l.ready[at]
	l.ready = append(l.ready[:at:at], l.ready[at+1:]...)
	delete(l.Timers, key)
	w.Counts.Reconciles++
	l.running[key] = true
	version := w.Store.Version
	var result ctrl.Result
	var err error
	alive := w.within(func() { result, err = w.protected(l, key) })
	delete(l.running, key)
	if !alive {
		return
	}
	if w.Store.Version != version || err != nil {
		w.Note("%s %s: versions %d-%d, after %s, %v", l.name, key.Name, version+1, w.Store.Version, result.RequeueAfter, err)
	}
	if err != nil {
		w.checkSecret("the log", err.Error())
	}
	switch {
	case err != nil:
		l.failures[key]++
		l.Timers[key] = time.Now().Add(min(5*time.Millisecond<<min(l.failures[key], 20), longestPause))
	case result.RequeueAfter > 0:
		delete(l.failures, key)
		l.Timers[key] = time.Now().Add(result.RequeueAfter)
	default:
		delete(l.failures, key)
	}
}

// within does work of the process, and says whether that has outlived it.
func (w *World) within(work func()) bool {
	process, around := w.Process, w.At
	w.At = process
	w.depth++
	work()
	w.depth--
	w.At = around
	if !process.Ended() {
		return true
	}
	if process == w.Process { // otherwise another worker has noticed
		w.Note("crash in the midst of the work")
		w.Counts.Crashes++
		w.Boot()
	}
	return false
}

// protected lets a panic break the history, not the test.
func (w *World) protected(l *Lane, key types.NamespacedName) (result ctrl.Result, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			w.Violate("panic in the %s controller on %s: %v\n%s", l.name, key, cause, debug.Stack())
		}
	}()
	ctx := context.WithValue(context.WithValue(w.Process.Ctx, reconciled{}, key), begun{}, w.Counts.Reconciles)
	return l.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: key})
}

// next is the earliest timer. The next run of a TargetSync does not count: nothing waits for it, and
// there is always another one. Nor does a look of the extension at what an event tells it.
func (w *World) next() (of *Lane, key types.NamespacedName, due time.Time) {
	for _, name := range LaneNames {
		l := w.Lanes[name]
		for _, k := range store.KeysOf(l.Timers) {
			if name == "targetsync" && time.Until(l.Timers[k]) >= shortWait || name == "extension" && time.Until(l.Timers[k]) > longestPause {
				continue
			}
			if of == nil || l.Timers[k].Before(due) {
				of, key, due = l, k, l.Timers[k]
			}
		}
	}
	return of, key, due
}

// Ring lets time pass until a timer is due.
func (w *World) Ring(l *Lane, key types.NamespacedName, due time.Time) {
	if left := time.Until(due); left > 0 {
		<-time.After(left)
	}
	w.checkRing(l, key)
	delete(l.Timers, key)
	l.Add(key)
}

// longestPause is the longest pause before a failed request is made again.
const longestPause = 30 * time.Second

// shortWait is how long things may take that are ready.
const shortWait = 5 * time.Second

// LongWait is the shortest of the waits that only a deadline ends.
const LongWait = 4 * time.Minute

// AddAfter implements workqueue.TypedDelayingInterface.
func (t ToLane) AddAfter(request reconcile.Request, pause time.Duration) {
	if due, waits := t.Lane.Timers[request.NamespacedName]; !waits || time.Until(due) > pause {
		t.Lane.Timers[request.NamespacedName] = time.Now().Add(pause)
	}
}

// queueOf is what event handlers add to.
type queueOf = workqueue.TypedRateLimitingInterface[reconcile.Request]

// ToLane lets event handlers add to a lane.
type ToLane struct {
	queueOf // what no handler uses
	Lane    *Lane
}

// Add implements workqueue.TypedInterface.
func (t ToLane) Add(request reconcile.Request) { t.Lane.Add(request.NamespacedName) }

// Handle passes a change to an event handler.
func (w *World) Handle(by handler.EventHandler, c store.Change, queue queueOf) {
	switch {
	case c.After == nil:
		by.Delete(w.Process.Ctx, event.DeleteEvent{Object: c.Before, DeleteStateUnknown: c.Relisted}, queue)
	case c.Before != nil:
		by.Update(w.Process.Ctx, event.UpdateEvent{ObjectOld: c.Before, ObjectNew: c.After}, queue)
	default:
		by.Create(w.Process.Ctx, event.CreateEvent{Object: c.After}, queue)
	}
}
