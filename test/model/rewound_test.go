package model

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// backup is what a store had at a time.
type backup struct {
	objects map[kind]map[types.NamespacedName]client.Object
	version int
}

// backup copies the store. Objects are never changed in it, only replaced.
func (s *store) backup() backup {
	b := backup{objects: map[kind]map[types.NamespacedName]client.Object{}, version: s.version}
	for k, objects := range s.objects {
		b.objects[k] = maps.Clone(objects)
	}
	return b
}

// restore puts the store back to a backup while the process continues. Its caches list anew: they
// show what the store has now, in versions that they have had before.
func (w *world) restore(b backup) {
	// The API server was away for a while: all that it had said has been heard.
	for _, s := range streams {
		for len(w.pending[s]) > 0 {
			w.deliver(s)
		}
	}
	for _, to := range listeners {
		for len(w.untold[to]) > 0 {
			w.tell(to)
		}
	}
	w.doubtful = w.jobs
	w.note("the store is restored: version %d instead of %d", b.version, w.store.version)
	w.store.objects, w.store.version = b.objects, b.version
	w.pending, w.given = map[stream][]change{}, map[types.NamespacedName]dispatchedJob{}
	if w.dispatcher != nil {
		w.dispatcher.Rewound()
	}
	for _, known := range w.answers {
		*known = *newAnswers()
	}
	// Objects of the other history stay on the target, and its job IDs come again.
	w.target.last = map[types.UID]string{}
	for _, name := range installations {
		w.users.leftBehind[name] = true
	}
	w.users.asked = map[types.UID]request{}
	for _, k := range cachedKinds {
		before := w.caches[k]
		w.caches[k] = map[types.NamespacedName]client.Object{}
		for _, key := range keysOf(w.store.objects[k]) {
			w.caches[k][key] = w.store.objects[k][key]
			if old := before[key]; old == nil || old.GetResourceVersion() != w.store.objects[k][key].GetResourceVersion() {
				w.announce(change{kind: k, key: key, before: old, after: w.store.objects[k][key]})
			}
		}
		for _, key := range keysOf(before) {
			if w.store.objects[k][key] == nil {
				w.announce(change{kind: k, key: key, before: before[key], relisted: true})
			}
		}
	}
}

// rewound lets a world live through a history whose store is restored in the middle.
func rewound(seed uint64) *world {
	<-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	w := newWorld(seed, rates{news: []float64{0.3, 0.1}[seed%2], deaf: append([]string{""}, laneNames...)[seed/2%4], confined: seed/3%2 == 0})
	w.users.left += 4
	var saved backup
	first, then := 10+w.random.IntN(stormySteps/2), 20+w.random.IntN(stormySteps/2)
	for step := range first + then {
		if step == first {
			saved = w.store.backup()
		}
		w.step()
		if w.broken != nil {
			return w
		}
	}
	w.restore(saved)
	begun := time.Now()
	w.settle()
	w.checkSettled()
	if passed := time.Since(begun); passed > longWait {
		w.violate("it took %s until everything had settled: only a deadline has ended a wait", passed)
	}
	if w.broken == nil {
		// Plans of the other history may be left, which a restart finds.
		w.boot()
		w.settle()
		w.end()
	}
	return w
}
