package world

import (
	"slices"

	"go.landscaper.dev/test/model/store"
)

// stream is a watch of a kind: one for all namespaces, or one for each, as for a server
// that is confined to some. Then a namespace may be behind the other.
type stream struct {
	kind  store.Kind
	space string
}

// streams are all that there may be. Those of a kind follow each other, the one for all namespaces first.
var streams = streamsOf(store.CachedKinds)

func streamsOf(kinds []store.Kind) (all []stream) {
	for _, k := range kinds {
		for _, space := range append([]string{""}, Spaces...) {
			all = append(all, stream{k, space})
		}
	}
	return all
}

// placeOf returns where the first stream of a kind is among all.
var placeOf = placesOf(streams)

func placesOf(streams []stream) map[store.Kind]int {
	places := map[store.Kind]int{}
	for at, s := range streams {
		if s.space == "" {
			places[s.kind] = at
		}
	}
	return places
}

// streamOf returns the place of the stream by which a change comes, if caches have the kind.
func (w *World) streamOf(c store.Change) (at int, cached bool) {
	at, cached = placeOf[c.Kind]
	if cached && w.Rates.Confined && c.Key.Namespace != SeedSpace {
		at += 1 + slices.Index(Spaces, c.Key.Namespace)
	}
	return at, cached
}

// listener is a controller that receives a stream. Each receives the events of a stream in their
// order, but one controller later than the other, and one stream later than the other.
type listener struct {
	lane string
	stream
}

// listeners are the controllers that are to learn of events.
var listeners = listening(map[string][]store.Kind{
	"installation": {"Installation", "Execution"}, "execution": {"Installation", "Execution", "DeployItem"}, "deployer": {"DeployItem"},
	"targetsync": {"TargetSync", "Target", "Secret"}, "extension": {"Extension", "ManagedResource", "Secret"}, "health": {"Extension", "ManagedResource"},
})

func listening(to map[string][]store.Kind) (all []listener) {
	for _, name := range LaneNames {
		for _, s := range streamsOf(to[name]) {
			all = append(all, listener{name, s})
		}
	}
	return all
}

// listenersOf has the places of the listeners of each stream.
var listenersOf = hearing(streams, listeners)

func hearing(streams []stream, listeners []listener) [][]int {
	all := make([][]int, len(streams))
	for at, to := range listeners {
		of := slices.Index(streams, to.stream)
		all[of] = append(all[of], at)
	}
	return all
}

// queues are events on their way, by the place of a stream or listener.
type queues struct {
	of    [][]store.Change
	count int
}

func newQueues(places int) queues { return queues{of: make([][]store.Change, places)} }

func (q *queues) add(at int, c store.Change) {
	q.of[at] = append(q.of[at], c)
	q.count++
}

func (q *queues) take(at int) store.Change {
	c := q.of[at][0]
	q.of[at] = q.of[at][1:]
	q.count--
	return c
}

// places are those where an event may be.
func (q *queues) places() [][]store.Change {
	if q.count == 0 {
		return nil
	}
	return q.of
}

// deliver lets a cache see the next event of a stream.
func (w *World) deliver(from int) {
	c := w.pending.take(from)
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

// announce passes a change to all listeners of its stream, sooner or later.
func (w *World) announce(c store.Change) {
	from, _ := w.streamOf(c)
	for _, to := range listenersOf[from] {
		w.untold.add(to, c)
	}
}

// tell passes the next event to a listener.
func (w *World) tell(to int) { w.around.Tell(listeners[to].lane, w.untold.take(to)) }

// tellAll passes all events on that the caches have seen.
func (w *World) tellAll() {
	for to := range listeners {
		for len(w.untold.of[to]) > 0 {
			w.tell(to)
		}
	}
}
