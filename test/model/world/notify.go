package world

import (
	"go.landscaper.dev/test/model/store"
)

// stream is a watch of a kind: one for all namespaces, or one for each, as for a server
// that is confined to some. Then a namespace may be behind the other.
type stream struct {
	kind  store.Kind
	space string
}

// streams are all that there may be.
var streams = streamsOf(store.CachedKinds)

func streamsOf(kinds []store.Kind) (all []stream) {
	for _, k := range kinds {
		for _, space := range append([]string{""}, Spaces...) {
			all = append(all, stream{k, space})
		}
	}
	return all
}

// streamOf returns the one by which a change comes.
func (w *World) streamOf(c store.Change) stream {
	if w.Rates.Confined && c.Key.Namespace != SeedSpace {
		return stream{c.Kind, c.Key.Namespace}
	}
	return stream{c.Kind, ""}
}

// Listener is a controller that receives a stream. Each receives the events of a stream in their
// order, but one controller later than the other, and one stream later than the other.
type Listener struct {
	Lane string
	stream
}

// listeners are the controllers that wake notifies.
var listeners = listening(map[string][]store.Kind{
	"installation": {"Installation", "Execution"}, "execution": {"Installation", "Execution", "DeployItem"}, "deployer": {"DeployItem"},
	"targetsync": {"TargetSync", "Target", "Secret"}, "extension": {"Extension", "ManagedResource", "Secret"}, "health": {"Extension", "ManagedResource"},
})

func listening(to map[string][]store.Kind) (all []Listener) {
	for _, name := range LaneNames {
		for _, s := range streamsOf(to[name]) {
			all = append(all, Listener{name, s})
		}
	}
	return all
}

// behind are the streams with events that the caches have not seen, and unaware the controllers that
// have not heard of what the caches have.
func (w *World) behind() []stream {
	if len(w.pending) == 0 {
		return nil
	}
	return streams
}

func (w *World) unaware() []Listener {
	if len(w.untold) == 0 {
		return nil
	}
	return listeners
}

// deliver lets a cache see the next event of a stream.
func (w *World) deliver(s stream) {
	c := w.pending[s][0]
	if w.pending[s] = w.pending[s][1:]; len(w.pending[s]) == 0 {
		delete(w.pending, s)
	}
	if c.After == nil {
		delete(w.Caches[c.Kind], c.Key)
	} else {
		if shown := w.Caches[c.Kind][c.Key]; shown == nil || shown.GetUID() != c.After.GetUID() {
			w.shown[c.After.GetUID()] = w.Counts.Reconciles
		}
		w.Caches[c.Kind][c.Key] = c.After
	}
	w.announce(c)
}

// announce passes a change to all listeners of its kind, sooner or later.
func (w *World) announce(c store.Change) {
	of := w.streamOf(c)
	for _, to := range listeners {
		if to.stream == of {
			w.untold[to] = append(w.untold[to], c)
		}
	}
}

// maxDepth is how many controllers work at the same time.
const maxDepth = 3

// Others lets the rest of the world continue where a controller may lose its turn. Only one rule
// holds them back: no worker works on an object that another one works on.
func (w *World) Others(p *Process) {
	if w.depth == 0 || p.Ended() {
		return // an event handler outside of all work reads as well
	}
	for _, s := range w.behind() {
		if len(w.pending[s]) > 0 && w.Random.Float64() < w.news(w.Rates.behind(s)) {
			w.deliver(s)
		}
	}
	for _, to := range w.unaware() {
		if len(w.untold[to]) > 0 && w.Random.Float64() < w.news(to.Lane == w.Rates.Deaf) {
			w.tell(to)
		}
	}
	if w.around.Waits() && w.Random.Float64() < w.news(true) {
		w.around.Open()
	}
	if tasks := w.around.Tasks(); len(tasks) > 0 && w.Random.Float64() < w.Rates.News {
		tasks[w.Random.IntN(len(tasks))]()
	}
	if w.depth < maxDepth && w.Random.Float64() < w.Rates.News {
		w.beside()
	}
	w.around.Look()
}

// lateness is how many times rarer late events are.
const lateness = 12

// news is how often an event arrives in the midst of other work.
func (w *World) news(late bool) float64 {
	if late {
		return w.Rates.News / lateness
	}
	return w.Rates.News
}

// beside lets another worker do one request while one is at work. No two workers work on the same
// object.
func (w *World) beside() {
	var free []func()
	for _, name := range LaneNames {
		l := w.Lanes[name]
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
		free[w.Random.IntN(len(free))]()
	}
}

// share is how rarely something happens that comes late.
func (w *World) share(late bool) float64 {
	if late {
		return 1.0 / lateness
	}
	return 1
}
