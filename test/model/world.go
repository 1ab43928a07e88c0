package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/handover"
	"go.landscaper.dev/internal/installation"
)

// faultKind is how a request goes wrong.
type faultKind int

const (
	faultDown faultKind = iota
	faultLost
	faultConflict
	// faultCut is the sudden end of the process before or after a request, and faultStop
	// its orderly end.
	faultCut
	faultStop
)

// rates are how often something happens, as shares of one.
type rates struct {
	faults map[faultKind]float64
	crash  float64
	// haste is how often users do something between two requests of a controller.
	haste float64
	// news is how often a cache sees an event while a controller is at work, and how often
	// another controller gets a turn then.
	news float64
}

// counts is what a history has cost.
type counts struct{ steps, reconciles, reads, writes, statusWrites, crashes, faults int }

// add sums up.
func (c *counts) add(o counts) {
	c.steps += o.steps
	c.reconciles += o.reconciles
	c.reads += o.reads
	c.writes += o.writes
	c.statusWrites += o.statusWrites
	c.crashes += o.crashes
	c.faults += o.faults
}

// lane is the queue of a controller.
type lane struct {
	name       string
	reconciler reconcile.Reconciler
	ready      []types.NamespacedName
	running    map[types.NamespacedName]bool
	timers     map[types.NamespacedName]time.Time
	failures   map[types.NamespacedName]int
}

func (l *lane) add(key types.NamespacedName) {
	for _, known := range l.ready {
		if known == key {
			return
		}
	}
	l.ready = append(l.ready, key)
}

// world is everything that there is in one history.
type world struct {
	random *rand.Rand
	rates  rates
	// elsewhere says that the deployer works in another process than the other
	// controllers: its jobs are written.
	elsewhere bool
	// calm says that nothing goes wrong any more.
	calm   bool
	store  *store
	caches map[kind]map[types.NamespacedName]client.Object
	// pending are the events that the caches have not seen yet.
	pending map[kind][]change
	// arriving says that a controller at work sees events come in.
	arriving bool
	// depth is how many controllers are at work at the same time.
	depth int
	lanes map[string]*lane
	// installations is the controller of Installations: it knows who is woken.
	installations *installation.Reconciler
	// process is the one that runs.
	process *process
	target  *target
	// desk is where jobs of items are handed over, or nil; items are what it sees of them.
	desk   *handover.Desk
	items  handler.EventHandler
	users  *users
	counts counts
	trace  []string
	// broken is the first invariant that did not hold.
	broken error
	jobs   int
}

// laneNames are the controllers.
var laneNames = []string{"installation", "execution", "deployer"}

func newWorld(seed uint64, r rates) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), rates: r, store: newStore(), elsewhere: seed/4%4 == 0}
	w.target = newTarget(w)
	w.users = newUsers(w)
	w.pending = map[kind][]change{}
	w.store.watch = func(c change) {
		w.checkChange(c)
		for _, k := range cachedKinds {
			if k == c.kind {
				w.pending[k] = append(w.pending[k], c)
			}
		}
	}
	w.boot()
	return w
}

// boot starts the process: its caches are current, its memory is empty.
func (w *world) boot() {
	w.caches = map[kind]map[types.NamespacedName]client.Object{}
	for _, k := range cachedKinds {
		cache := map[types.NamespacedName]client.Object{}
		for key, object := range w.store.objects[k] {
			cache[key] = object
		}
		w.caches[k], w.pending[k] = cache, nil
	}
	w.process = newProcess()
	w.lanes = map[string]*lane{}
	controllers := newControllers(w)
	w.installations = controllers["installation"].(*installation.Reconciler)
	for name, reconciler := range controllers {
		w.lanes[name] = &lane{name: name, reconciler: reconciler, running: map[types.NamespacedName]bool{}, timers: map[types.NamespacedName]time.Time{}, failures: map[types.NamespacedName]int{}}
	}
	for _, k := range cachedKinds {
		for _, key := range keysOf(w.caches[k]) {
			w.wake(change{kind: k, key: key, after: w.caches[k][key]})
		}
	}
}

// fault decides whether a request goes wrong.
func (w *world) fault(k faultKind) bool {
	if w.calm || w.random.Float64() >= w.rates.faults[k] {
		return false
	}
	w.counts.faults++
	w.note("fault %d", k)
	return true
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// violate notes that an invariant does not hold.
func (w *world) violate(format string, args ...any) {
	if w.broken == nil {
		w.broken = fmt.Errorf(format, args...)
		w.note("BROKEN: %v", w.broken)
	}
}

// deliver lets a cache see its next event.
func (w *world) deliver(k kind) {
	c := w.pending[k][0]
	w.pending[k] = w.pending[k][1:]
	if c.after == nil {
		delete(w.caches[k], c.key)
	} else {
		w.caches[k][c.key] = c.after
	}
	switch {
	case k != "DeployItem":
	case c.after == nil:
		w.items.Delete(w.process.ctx, event.DeleteEvent{Object: c.before}, nil)
	default:
		w.items.Create(w.process.ctx, event.CreateEvent{Object: c.after}, nil)
	}
	w.wake(c)
}

// maxDepth is how many controllers work at the same time.
const maxDepth = 3

// beside lets another worker do one request while one is at work. Nobody works on an object
// twice at the same time.
func (w *world) beside() {
	var free []func()
	for _, name := range laneNames {
		l := w.lanes[name]
		for at, key := range l.ready {
			if !l.running[key] {
				free = append(free, func() { w.run(l, at) })
			}
		}
	}
	if len(free) > 0 {
		free[w.random.IntN(len(free))]()
	}
}

// run reconciles one request.
func (w *world) run(l *lane, at int) {
	key := l.ready[at]
	l.ready = append(l.ready[:at:at], l.ready[at+1:]...)
	delete(l.timers, key)
	w.counts.reconciles++
	w.depth++
	l.running[key] = true
	version, process := w.store.version, w.process
	result, err := w.protected(l, key)
	delete(l.running, key)
	w.depth--
	if process.ended() {
		if process == w.process { // otherwise somebody beside us has noticed
			w.note("crash in the midst of it")
			w.counts.crashes++
			w.boot()
		}
		return
	}
	if w.store.version != version || err != nil {
		w.note("%s %s: versions %d-%d, after %s, %v", l.name, key.Name, version+1, w.store.version, result.RequeueAfter, err)
	}
	switch {
	case err != nil:
		l.failures[key]++
		l.timers[key] = time.Now().Add(min(5*time.Millisecond<<min(l.failures[key], 20), 30*time.Second))
	case result.RequeueAfter > 0:
		delete(l.failures, key)
		l.timers[key] = time.Now().Add(result.RequeueAfter)
	default:
		delete(l.failures, key)
	}
}

// protected lets a panic break the history, not the test.
func (w *world) protected(l *lane, key types.NamespacedName) (result ctrl.Result, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			w.violate("panic in the %s controller on %s: %v\n%s", l.name, key, cause, debug.Stack())
		}
	}()
	return l.reconciler.Reconcile(w.process.ctx, reconcile.Request{NamespacedName: key})
}

// next is the earliest timer.
func (w *world) next() (of *lane, key types.NamespacedName, due time.Time) {
	for _, name := range laneNames {
		l := w.lanes[name]
		for _, k := range keysOf(l.timers) {
			if of == nil || l.timers[k].Before(due) {
				of, key, due = l, k, l.timers[k]
			}
		}
	}
	return of, key, due
}

// ring lets time pass until a timer is due.
func (w *world) ring(l *lane, key types.NamespacedName, due time.Time) {
	if left := time.Until(due); left > 0 {
		<-time.After(left)
	}
	delete(l.timers, key)
	l.add(key)
}

// moves are what can happen now, with their weights.
func (w *world) moves() (moves []func(), weights []float64) {
	may := func(weight float64, move func()) { moves, weights = append(moves, move), append(weights, weight) }
	for _, name := range laneNames {
		if l := w.lanes[name]; len(l.ready) > 0 {
			may(3, func() { w.run(l, w.random.IntN(len(l.ready))) })
		}
	}
	for _, k := range cachedKinds {
		if len(w.pending[k]) > 0 {
			may(2, func() { w.deliver(k) })
		}
	}
	if !w.calm {
		may(w.rates.crash, func() { w.note("crash"); w.counts.crashes++; w.boot() })
		if w.users.left > 0 {
			may(0.7, w.users.act)
		}
	}
	may(0.2, func() { w.store.collect() })
	if len(w.target.shut) > 0 {
		may(0.3, w.target.open)
	}
	// As long as there is something to do, no long time passes: nothing is that slow.
	if l, key, due := w.next(); l != nil && (time.Until(due) < shortWait || time.Until(due) < longWait && !w.atWork()) {
		may(0.5, func() { w.ring(l, key, due) })
	}
	return moves, weights
}

// calmSteps is what a history may need to settle once nothing goes wrong.
const calmSteps = 5000

// shortWait is how long things may take that are ready.
const shortWait = 5 * time.Second

// longWait is the shortest of the waits that only a deadline ends.
const longWait = 4 * time.Minute

// step lets one thing happen.
func (w *world) step() {
	moves, weights := w.moves()
	sum := 0.0
	for _, weight := range weights {
		sum += weight
	}
	at, choice := w.random.Float64()*sum, 0
	for choice < len(moves)-1 && at >= weights[choice] {
		at -= weights[choice]
		choice++
	}
	w.counts.steps++
	moves[choice]()
}

// atWork tells whether something can happen without that time passes.
func (w *world) atWork() bool {
	for _, k := range cachedKinds {
		if len(w.pending[k]) > 0 {
			return true
		}
	}
	for _, name := range laneNames {
		if len(w.lanes[name].ready) > 0 {
			return true
		}
	}
	return false
}

// busy tells whether something will happen by itself, without a deadline.
func (w *world) busy() bool {
	if w.atWork() {
		return true
	}
	if l, _, due := w.next(); l != nil && time.Until(due) < longWait {
		return true
	}
	return len(w.target.shut) > 0
}

// settle lets everything come to its end with nothing going wrong.
func (w *world) settle() {
	w.calm = true
	for range calmSteps {
		for w.store.collect() {
			continue
		}
		if w.broken != nil || !w.busy() {
			return
		}
		w.step()
	}
	w.violate("after %d steps in which nothing went wrong there is still something to do", calmSteps)
}

// wake is what the controllers watch.
func (w *world) wake(c change) {
	object := c.after
	if object == nil {
		object = c.before
	}
	own := func(name, ownerKind string) {
		for _, owner := range object.GetOwnerReferences() {
			if owner.Kind == ownerKind && owner.Controller != nil && *owner.Controller {
				w.lanes[name].add(types.NamespacedName{Namespace: c.key.Namespace, Name: owner.Name})
			}
		}
	}
	switch object := object.(type) {
	case *v1alpha1.Installation:
		w.lanes["installation"].add(c.key)
		before, _ := c.before.(*v1alpha1.Installation)
		after, _ := c.after.(*v1alpha1.Installation)
		for _, woken := range w.installations.Woken(context.Background(), before, after) {
			w.lanes["installation"].add(woken.NamespacedName)
		}
		if object.Status.ExecutionReference != nil || object.DeletionTimestamp != nil || object.Status.JobID == object.Status.JobIDFinished {
			w.lanes["execution"].add(c.key)
		}
	case *v1alpha1.Execution:
		w.lanes["execution"].add(c.key)
		w.lanes["installation"].add(c.key)
	case *v1alpha1.DeployItem:
		w.lanes["deployer"].add(c.key)
		own("execution", "Execution")
	}
}
