package world

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/model/store"
)

// Restore puts the store back to a backup while the process continues. Its caches list anew: they
// show what the store has now, in versions that they have had before.
func (w *World) Restore(b store.Backup) {
	// The API server was away for a while: all that it had said has been heard.
	for _, s := range streams {
		for len(w.pending[s]) > 0 {
			w.deliver(s)
		}
	}
	w.tellAll()
	w.Note("the store is restored: version %d instead of %d", b.Version, w.Store.Version)
	w.Store.Restore(b)
	w.pending = map[stream][]store.Change{}
	for _, known := range w.answers {
		*known = *newAnswers()
	}
	for _, k := range store.CachedKinds {
		before := w.Caches[k]
		w.Caches[k] = map[types.NamespacedName]client.Object{}
		for _, key := range store.KeysOf(w.Store.Objects[k]) {
			w.Caches[k][key] = w.Store.Objects[k][key]
			if old := before[key]; old == nil || old.GetResourceVersion() != w.Store.Objects[k][key].GetResourceVersion() {
				w.announce(store.Change{Kind: k, Key: key, Before: old, After: w.Store.Objects[k][key]})
			}
		}
		for _, key := range store.KeysOf(before) {
			if w.Store.Objects[k][key] == nil {
				w.announce(store.Change{Kind: k, Key: key, Before: before[key], Relisted: true})
			}
		}
	}
}

// tellAll passes all events on that the caches have seen.
func (w *World) tellAll() {
	for _, to := range listeners {
		for len(w.untold[to]) > 0 {
			w.tell(to)
		}
	}
}

// tell passes the next event of a stream to a controller.
func (w *World) tell(to Listener) {
	c := w.untold[to][0]
	if w.untold[to] = w.untold[to][1:]; len(w.untold[to]) == 0 {
		delete(w.untold, to)
	}
	w.around.Tell(to, c)
}
