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
	for at := range streams {
		for len(w.pending.of[at]) > 0 {
			w.deliver(at)
		}
	}
	w.tellAll()
	w.Note("the store is restored: version %d instead of %d", b.Version, w.Store.Version)
	w.Store.Restore(b)
	w.pending = newQueues(len(streams))
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
