package model

import (
	"context"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/controller/shootflux/lifecycle"
	"go.landscaper.dev/internal/controller/targetsync"
	"go.landscaper.dev/internal/runtime/dispatch"
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
	// faultHandover is the moment at which another replica begins to lead.
	faultHandover
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
	// late is a kind whose events reach the caches long after those of the others, and deaf a
	// controller that receives late what the caches have seen.
	late kind
	deaf string
	// confined says that each namespace has a watch of its own, and slowSpace is the one
	// whose events come late.
	confined  bool
	slowSpace string
	// outside says that plans ask a component, so that they are made away from the workers,
	// and slow that this takes long.
	outside, slow bool
	// syncs says that users have TargetSyncs, too.
	syncs bool
	// shoots says that there is a shoot with an Extension.
	shoots bool
	// moves says that users mostly change one root, so that objects move, and that most goes
	// well.
	moves bool
}

// counts is what a history has cost.
type counts struct{ steps, reconciles, plans, reads, writes, statusWrites, crashes, faults, removals, handovers, questions, reports int }

// add sums up.
func (c *counts) add(o counts) {
	c.steps += o.steps
	c.reconciles += o.reconciles
	c.plans += o.plans
	c.reads += o.reads
	c.writes += o.writes
	c.statusWrites += o.statusWrites
	c.crashes += o.crashes
	c.faults += o.faults
	c.removals += o.removals
	c.handovers += o.handovers
	c.questions, c.reports = max(c.questions, o.questions), max(c.reports, o.reports)
}

// lane is the queue of a controller.
type lane struct {
	name       string
	reconciler reconcile.Reconciler
	ready      []types.NamespacedName
	running    map[types.NamespacedName]bool
	timers     map[types.NamespacedName]time.Time
	failures   map[types.NamespacedName]int
	rings      map[types.NamespacedName]*asked
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
	// shown is how many reconciles there were when a cache first showed an object.
	shown map[types.UID]int
	// pending are the events that the caches have not seen yet.
	pending map[stream][]change
	// untold are the events that a cache has seen and a controller has not heard of yet.
	untold map[listener][]change
	// depth is how many controllers are at work at the same time.
	depth int
	lanes map[string]*lane
	// garden is the source of TargetSyncs, syncs their controller, and writer the controller whose
	// request is carried out.
	garden *garden
	syncs  *targetsync.Reconciler
	// seed has the shoot of an Extension, and extension is the controller of that.
	seed      *seed
	extension *lifecycle.Reconciler
	writer    string
	// installations is the controller of Installations: it knows which ones a change triggers.
	installations *installation.Reconciler
	// process is the one that runs, and at the one in which the innermost controller works:
	// it may have ended meanwhile.
	process, at *process
	// answers are what the controllers of the process have been answered.
	answers map[string]*answers
	target  *target
	// dispatcher dispatches jobs of items, or is nil; items are what it sees of them.
	dispatcher *dispatch.Dispatcher
	items      handler.EventHandler
	users      *users
	counts     counts
	trace      []entry
	// broken is the first invariant that did not hold.
	broken error
	jobs   int
	// doubtful is the last job that may have got further than a restored store shows.
	doubtful int
	// given are the jobs of items that were passed to the dispatcher.
	given map[types.NamespacedName]dispatchedJob
	// plans are those that are made away from the workers, and have not begun.
	plans []func()
	// succeeded are the jobs in which each Installation has succeeded.
	succeeded map[types.UID]map[string]bool
	// reports are the status writes of each object in each job that were no transition.
	reports map[work]int
	// leaving are the removal rounds in which the deletion of objects has begun.
	leaving map[types.UID]string
}

// laneNames are the controllers.
var laneNames = []string{"installation", "execution", "deployer", "targetsync", "extension", "health"}

func newWorld(seed uint64, r rates) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), rates: r, store: newStore(), elsewhere: seed/4%4 == 0}
	w.target, w.garden, w.seed = newTarget(w), newGarden(w), newSeed(w)
	w.users = newUsers(w)
	w.reports = map[work]int{}
	w.pending, w.succeeded, w.leaving = map[stream][]change{}, map[types.UID]map[string]bool{}, map[types.UID]string{}
	w.store.watch = func(c change) {
		w.checkChange(c)
		for _, k := range cachedKinds {
			if k == c.kind {
				s := w.streamOf(c)
				w.pending[s] = append(w.pending[s], c)
			}
		}
	}
	w.store.show, w.store.noted = w.checkSecret, w.checkStatusWrite
	w.boot()
	return w
}

// boot starts the process: its caches are current, its memory is empty.
func (w *world) boot() {
	w.caches, w.shown = map[kind]map[types.NamespacedName]client.Object{}, map[types.UID]int{}
	for _, k := range cachedKinds {
		cache := map[types.NamespacedName]client.Object{}
		for key, object := range w.store.objects[k] {
			cache[key] = object
		}
		w.caches[k] = cache
	}
	w.pending = map[stream][]change{}
	w.process, w.untold, w.given = w.newProcess(), map[listener][]change{}, map[types.NamespacedName]dispatchedJob{}
	w.plans = nil
	w.excuseRotations()
	// The work of the previous process has ended with it.
	w.target.busy = map[types.UID]bool{}
	w.lanes = map[string]*lane{}
	controllers := newControllers(w)
	w.installations = controllers["installation"].(*installation.Reconciler)
	w.syncs = controllers["targetsync"].(*targetsync.Reconciler)
	for name, reconciler := range controllers {
		w.lanes[name] = &lane{name: name, reconciler: reconciler, running: map[types.NamespacedName]bool{}, timers: map[types.NamespacedName]time.Time{}, failures: map[types.NamespacedName]int{}, rings: map[types.NamespacedName]*asked{}}
	}
	for _, k := range cachedKinds {
		for _, key := range keysOf(w.caches[k]) {
			w.announce(change{kind: k, key: key, after: w.caches[k][key]})
		}
	}
	for _, to := range listeners {
		for len(w.untold[to]) > 0 {
			w.tell(to)
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

// run reconciles one request.
func (w *world) run(l *lane, at int) {
	key := l.ready[at]
	l.ready = append(l.ready[:at:at], l.ready[at+1:]...)
	delete(l.timers, key)
	w.counts.reconciles++
	l.running[key] = true
	version := w.store.version
	var result ctrl.Result
	var err error
	alive := w.within(func() { result, err = w.protected(l, key) })
	delete(l.running, key)
	if !alive {
		return
	}
	if w.store.version != version || err != nil {
		w.note("%s %s: versions %d-%d, after %s, %v", l.name, key.Name, version+1, w.store.version, result.RequeueAfter, err)
	}
	if err != nil {
		w.checkSecret("the log", err.Error())
	}
	switch {
	case err != nil:
		l.failures[key]++
		l.timers[key] = time.Now().Add(min(5*time.Millisecond<<min(l.failures[key], 20), longestPause))
	case result.RequeueAfter > 0:
		delete(l.failures, key)
		l.timers[key] = time.Now().Add(result.RequeueAfter)
	default:
		delete(l.failures, key)
	}
}

// within does work of the process, and says whether that has outlived it.
func (w *world) within(work func()) bool {
	process, around := w.process, w.at
	w.at = process
	w.depth++
	work()
	w.depth--
	w.at = around
	if !process.ended() {
		return true
	}
	if process == w.process { // otherwise another worker has noticed
		w.note("crash in the midst of the work")
		w.counts.crashes++
		w.boot()
	}
	return false
}

// protected lets a panic break the history, not the test.
func (w *world) protected(l *lane, key types.NamespacedName) (result ctrl.Result, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			w.violate("panic in the %s controller on %s: %v\n%s", l.name, key, cause, debug.Stack())
		}
	}()
	ctx := context.WithValue(context.WithValue(w.process.ctx, reconciled{}, key), begun{}, w.counts.reconciles)
	return l.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: key})
}

// next is the earliest timer. The next run of a TargetSync does not count: nothing waits for it, and
// there is always another one. Nor does a look of the extension at what an event tells it.
func (w *world) next() (of *lane, key types.NamespacedName, due time.Time) {
	for _, name := range laneNames {
		l := w.lanes[name]
		for _, k := range keysOf(l.timers) {
			if name == "targetsync" && time.Until(l.timers[k]) >= shortWait || name == "extension" && time.Until(l.timers[k]) > longestPause {
				continue
			}
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
	w.checkRing(l, key)
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
	for _, s := range w.behind() {
		if len(w.pending[s]) > 0 {
			may(2*w.share(w.rates.behind(s)), func() { w.deliver(s) })
		}
	}
	for _, to := range w.unaware() {
		if len(w.untold[to]) > 0 {
			may(2*w.share(to.lane == w.rates.deaf), func() { w.tell(to) })
		}
	}
	if len(w.plans) > 0 {
		may(2*w.share(w.rates.slow), w.makePlan)
	}
	if !w.calm {
		may(w.rates.crash, func() { w.note("crash"); w.counts.crashes++; w.boot() })
		if w.users.left > 0 {
			may(w.users.haste(), w.users.act)
		}
	}
	if tasks := w.seed.tasks(); len(tasks) > 0 {
		may(1, func() { tasks[w.random.IntN(len(tasks))]() })
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

// longestPause is the longest pause before a failed request is made again.
const longestPause = 30 * time.Second

// shortWait is how long things may take that are ready.
const shortWait = 5 * time.Second

// longWait is the shortest of the waits that only a deadline ends.
const longWait = 4 * time.Minute
