package garden

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// Tell passes an event to the controller of TargetSyncs.
func (g *Garden) Tell(c store.Change) {
	lane := g.world.Lanes["targetsync"]
	switch c.Kind {
	case "Target":
		g.world.Handle(g.syncs.MadeTarget(), c, world.ToLane{Lane: lane})
	case "Secret":
		g.world.Handle(g.syncs.MadeSecret(), c, world.ToLane{Lane: lane})
	case "TargetSync":
		g.enqueueTargetSyncs(lane, c)
	}
}

// enqueueTargetSyncs enqueues a TargetSync of which something else is asked, and all others, as the watch
// of the controller does.
func (g *Garden) enqueueTargetSyncs(l *world.Lane, c store.Change) {
	if c.Before != nil && c.After != nil && !askedAnew(c.Before, c.After) {
		return
	}
	for _, key := range store.KeysOf(g.world.Caches[c.Kind]) {
		l.Add(key)
	}
	l.Add(c.Key)
}

// askedAnew reports whether something else is asked of an object.
func askedAnew(before, after client.Object) bool {
	return before.GetGeneration() != after.GetGeneration() || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) || !maps.Equal(before.GetLabels(), after.GetLabels())
}
