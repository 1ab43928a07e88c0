// Package world is what the process of the controllers lives in: a store, caches that lag behind it,
// watches that reach a controller late, requests that fail before or after they were carried out, crashes,
// replicas that replace each other, and a clock. What happens next is drawn from a seed. It checks what
// holds for any controller: it makes no request in vain, and shows no secret.
package world

import (
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/test/model/store"
)

// World is everything that the process of the controllers lives in.
type World struct {
	Random *rand.Rand
	Rates  Rates
	// Calm says that nothing goes wrong any more.
	Calm   bool
	Store  *store.Store
	around Surroundings
	Caches map[store.Kind]map[types.NamespacedName]client.Object
	// shown is how many reconciles there were when a cache first showed an object.
	shown map[types.UID]int
	// pending are the events that the caches have not seen yet.
	pending queues
	// untold are the events that a cache has seen and a controller has not heard of yet.
	untold queues
	// depth is how many controllers are at work at the same time.
	depth int
	Lanes map[string]*Lane
	// Writer is the controller whose request is carried out.
	Writer string
	// Process is the one that runs, and at the one in which the innermost controller works:
	// it may have ended meanwhile.
	Process, At *Process
	// answers are what the controllers of the process have been answered.
	answers map[string]*answers
	Counts  Counts
	Trace   []entry
	// Broken is the first invariant that did not hold.
	Broken error
	// plans are those that are made away from the workers, and have not begun.
	plans []func()
}

// Surroundings are who and what is around the process: users, clusters, and those who look whether the
// rules hold.
type Surroundings interface {
	// Start starts the controllers with empty memories.
	Start() map[string]reconcile.Reconciler
	// Tell passes an event to a controller.
	Tell(lane string, c store.Change)
	// Changed looks at a write.
	Changed(c store.Change)
	// Look looks at what holds at any time.
	Look()
	// Refused learns that a write has failed.
	Refused(object client.Object)
	// Replaced learns that a replica has created an object after another one began to lead.
	Replaced(created client.Object)
	// Acts says that users still do something.
	Acts() bool
	// Haste is how likely it is that they do it now.
	Haste() float64
	// Act lets a user do something.
	Act()
	// Waits says that an item waits for something outside.
	Waits() bool
	// Open ends such a wait.
	Open()
	// Tasks are what others have to do.
	Tasks() []func()
}

// New returns a world without a process.
func New(seed uint64, r Rates) *World {
	return &World{Random: rand.New(rand.NewPCG(seed, 1)), Rates: r, Store: store.New(), pending: newQueues(len(streams))}
}

// Begin starts the first process, among what is around it.
func (w *World) Begin(around Surroundings) {
	w.around = around
	w.Store.Watch = func(c store.Change) {
		around.Changed(c)
		if at, cached := w.streamOf(c); cached {
			w.pending.add(at, c)
		}
	}
	w.Store.Show, w.Store.Noted = w.checkSecret, w.checkStatusWrite
	w.Boot()
}

// Boot starts the process: its caches are current, its memory is empty.
func (w *World) Boot() {
	w.Caches, w.shown = map[store.Kind]map[types.NamespacedName]client.Object{}, map[types.UID]int{}
	for _, k := range store.CachedKinds {
		cache := map[types.NamespacedName]client.Object{}
		for key, object := range w.Store.Objects[k] {
			cache[key] = object
		}
		w.Caches[k] = cache
	}
	w.pending, w.untold = newQueues(len(streams)), newQueues(len(listeners))
	w.Process, w.plans = w.newProcess(), nil
	w.Lanes, w.answers = map[string]*Lane{}, map[string]*answers{}
	for name, reconciler := range w.around.Start() {
		w.Lanes[name] = &Lane{name: name, reconciler: reconciler, running: map[types.NamespacedName]bool{}, Timers: map[types.NamespacedName]time.Time{}, failures: map[types.NamespacedName]int{}, rings: map[types.NamespacedName]*asked{}}
	}
	for _, k := range store.CachedKinds {
		for _, key := range store.KeysOf(w.Caches[k]) {
			w.announce(store.Change{Kind: k, Key: key, After: w.Caches[k][key]})
		}
	}
	w.tellAll()
}

// Fault decides whether a request goes wrong.
func (w *World) Fault(k FaultKind) bool {
	if w.Calm || w.Random.Float64() >= w.Rates.Faults[k] {
		return false
	}
	w.Counts.Faults++
	w.Note("fault %d", k)
	return true
}

// moves are what can happen now, with their weights.
func (w *World) moves() (moves []func(), weights []float64) {
	may := func(weight float64, move func()) { moves, weights = append(moves, move), append(weights, weight) }
	for _, name := range LaneNames {
		if l := w.Lanes[name]; len(l.ready) > 0 {
			may(3, func() { w.run(l, w.Random.IntN(len(l.ready))) })
		}
	}
	for at, waiting := range w.pending.places() {
		if len(waiting) > 0 {
			may(2*w.share(w.Rates.behind(streams[at])), func() { w.deliver(at) })
		}
	}
	for at, waiting := range w.untold.places() {
		if len(waiting) > 0 {
			may(2*w.share(listeners[at].lane == w.Rates.Deaf), func() { w.tell(at) })
		}
	}
	if len(w.plans) > 0 {
		may(2*w.share(w.Rates.Slow), w.makePlan)
	}
	if !w.Calm {
		may(w.Rates.Crash, func() { w.Note("crash"); w.Counts.Crashes++; w.Boot() })
		if w.around.Acts() {
			may(w.around.Haste(), w.around.Act)
		}
	}
	if tasks := w.around.Tasks(); len(tasks) > 0 {
		may(1, func() { tasks[w.Random.IntN(len(tasks))]() })
	}
	may(0.2, func() { w.Store.Collect() })
	if w.around.Waits() {
		may(0.3, w.around.Open)
	}
	// As long as there is something to do, no long time passes: nothing is that slow.
	if l, key, due := w.next(); l != nil && (time.Until(due) < shortWait || time.Until(due) < LongWait && !w.atWork()) {
		may(0.5, func() { w.Ring(l, key, due) })
	}
	return moves, weights
}

// calmSteps is what a history may need to settle once nothing goes wrong.
const calmSteps = 5000
