package model

import (
	"context"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
)

// stream is a watch of a kind: one for all namespaces, or one for each, as for a server
// that is confined to some. Then a namespace may be behind the other.
type stream struct {
	kind  kind
	space string
}

// streams are all that there may be.
var streams = streamsOf(cachedKinds)

func streamsOf(kinds []kind) (all []stream) {
	for _, k := range kinds {
		for _, space := range append([]string{""}, spaces...) {
			all = append(all, stream{k, space})
		}
	}
	return all
}

// streamOf returns the one by which a change comes.
func (w *world) streamOf(c change) stream {
	if w.rates.confined && c.key.Namespace != seedSpace {
		return stream{c.kind, c.key.Namespace}
	}
	return stream{c.kind, ""}
}

// behind says that events of a stream reach the caches late.
func (r rates) behind(s stream) bool {
	return s.kind == r.late || s.space != "" && s.space == r.slowSpace
}

// listener is a controller that receives a stream. Each receives the events of a stream in their
// order, but one controller later than the other, and one stream later than the other.
type listener struct {
	lane string
	stream
}

// listeners are the controllers that wake notifies.
var listeners = listening(map[string][]kind{
	"installation": {"Installation", "Execution"}, "execution": {"Installation", "Execution", "DeployItem"}, "deployer": {"DeployItem"},
	"targetsync": {"TargetSync", "Target", "Secret"}, "extension": {"Extension", "ManagedResource", "Secret"}, "health": {"Extension", "ManagedResource"},
})

func listening(to map[string][]kind) (all []listener) {
	for _, name := range laneNames {
		for _, s := range streamsOf(to[name]) {
			all = append(all, listener{name, s})
		}
	}
	return all
}

// behind are the streams with events that the caches have not seen, and unaware the controllers that
// have not heard of what the caches have.
func (w *world) behind() []stream {
	if len(w.pending) == 0 {
		return nil
	}
	return streams
}

func (w *world) unaware() []listener {
	if len(w.untold) == 0 {
		return nil
	}
	return listeners
}

// deliver lets a cache see the next event of a stream.
func (w *world) deliver(s stream) {
	c := w.pending[s][0]
	if w.pending[s] = w.pending[s][1:]; len(w.pending[s]) == 0 {
		delete(w.pending, s)
	}
	if c.after == nil {
		delete(w.caches[c.kind], c.key)
	} else {
		if shown := w.caches[c.kind][c.key]; shown == nil || shown.GetUID() != c.after.GetUID() {
			w.shown[c.after.GetUID()] = w.counts.reconciles
		}
		w.caches[c.kind][c.key] = c.after
	}
	w.announce(c)
}

// announce passes a change to all listeners of its kind, sooner or later.
func (w *world) announce(c change) {
	of := w.streamOf(c)
	for _, to := range listeners {
		if to.stream == of {
			w.untold[to] = append(w.untold[to], c)
		}
	}
}

// tell passes the next event of a stream to a controller.
func (w *world) tell(to listener) {
	c := w.untold[to][0]
	if w.untold[to] = w.untold[to][1:]; len(w.untold[to]) == 0 {
		delete(w.untold, to)
	}
	switch {
	case to.lane == "extension" || to.lane == "health":
		w.tellExtension(to.lane, c)
		return
	case to.lane == "deployer" && to.kind == "DeployItem":
		w.handle(w.items, c, nil)
	case to.kind == "Target":
		w.handle(w.syncs.MadeTarget(), c, toLane{lane: w.lanes[to.lane]})
	case to.kind == "Secret":
		w.handle(w.syncs.MadeSecret(), c, toLane{lane: w.lanes[to.lane]})
	}
	w.wake(to.lane, c)
}

// queueOf is what event handlers add to.
type queueOf = workqueue.TypedRateLimitingInterface[reconcile.Request]

// toLane lets event handlers add to a lane.
type toLane struct {
	queueOf // what no handler uses
	lane    *lane
}

// Add implements workqueue.TypedInterface.
func (t toLane) Add(request reconcile.Request) { t.lane.add(request.NamespacedName) }

// handle passes a change to an event handler.
func (w *world) handle(by handler.EventHandler, c change, queue queueOf) {
	switch {
	case c.after == nil:
		by.Delete(w.process.ctx, event.DeleteEvent{Object: c.before, DeleteStateUnknown: c.relisted}, queue)
	case c.before != nil:
		by.Update(w.process.ctx, event.UpdateEvent{ObjectOld: c.before, ObjectNew: c.after}, queue)
	default:
		by.Create(w.process.ctx, event.CreateEvent{Object: c.after}, queue)
	}
}

// maxDepth is how many controllers work at the same time.
const maxDepth = 3

// others lets the rest of the world continue where a controller may lose its turn. Only one rule
// holds them back: no worker works on an object that another one works on.
func (w *world) others(p *process) {
	if w.depth == 0 || p.ended() {
		return // an event handler outside of all work reads as well
	}
	for _, s := range w.behind() {
		if len(w.pending[s]) > 0 && w.random.Float64() < w.news(w.rates.behind(s)) {
			w.deliver(s)
		}
	}
	for _, to := range w.unaware() {
		if len(w.untold[to]) > 0 && w.random.Float64() < w.news(to.lane == w.rates.deaf) {
			w.tell(to)
		}
	}
	if len(w.target.shut) > 0 && w.random.Float64() < w.news(true) {
		w.target.open()
	}
	if tasks := w.seed.tasks(); len(tasks) > 0 && w.random.Float64() < w.rates.news {
		tasks[w.random.IntN(len(tasks))]()
	}
	if w.depth < maxDepth && w.random.Float64() < w.rates.news {
		w.beside()
	}
	w.checkDispatched()
}

// lateness is how many times rarer late events are.
const lateness = 12

// news is how often an event arrives in the midst of other work.
func (w *world) news(late bool) float64 {
	if late {
		return w.rates.news / lateness
	}
	return w.rates.news
}

// beside lets another worker do one request while one is at work. No two workers work on the same
// object.
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
	if len(w.plans) > 0 {
		free = append(free, w.makePlan)
	}
	if len(free) > 0 {
		free[w.random.IntN(len(free))]()
	}
}

// share is how rarely something happens that comes late.
func (w *world) share(late bool) float64 {
	if late {
		return 1.0 / lateness
	}
	return 1
}

// wake is what the controllers watch.
func (w *world) wake(name string, c change) {
	object := c.after
	if object == nil {
		object = c.before
	}
	l := w.lanes[name]
	switch object := object.(type) {
	case *v1alpha1.Installation:
		if name == "installation" {
			w.enqueueInstallations(l, c)
		} else if object.Status.ExecutionReference != nil || object.DeletionTimestamp != nil || object.Status.JobID == object.Status.JobIDFinished {
			l.add(c.key)
		}
	case *v1alpha1.TargetSync:
		w.enqueueTargetSyncs(l, c)
	case *v1alpha1.Execution:
		l.add(c.key)
	case *v1alpha1.DeployItem:
		if name == "deployer" {
			l.add(c.key)
		} else if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == "Execution" {
			l.add(types.NamespacedName{Namespace: c.key.Namespace, Name: owner.Name})
		}
	}
}

// enqueueInstallations enqueues an Installation that has changed, and those that wait for it.
func (w *world) enqueueInstallations(l *lane, c change) {
	l.add(c.key)
	before, _ := c.before.(*v1alpha1.Installation)
	after, _ := c.after.(*v1alpha1.Installation)
	for _, triggered := range w.installations.Enqueued(context.Background(), before, after) {
		l.add(triggered.NamespacedName)
	}
}

// enqueueTargetSyncs enqueues a TargetSync of which something else is asked, and all others, as the watch
// of the controller does.
func (w *world) enqueueTargetSyncs(l *lane, c change) {
	if c.before != nil && c.after != nil && !askedAnew(c.before, c.after) {
		return
	}
	for _, key := range keysOf(w.caches[c.kind]) {
		l.add(key)
	}
	l.add(c.key)
}

// askedAnew reports whether something else is asked of an object.
func askedAnew(before, after client.Object) bool {
	return before.GetGeneration() != after.GetGeneration() || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) || !maps.Equal(before.GetLabels(), after.GetLabels())
}
