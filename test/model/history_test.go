package model

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/test/model/garden"
	"go.landscaper.dev/test/model/shoot"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/trees"
	"go.landscaper.dev/test/model/world"
)

// history is a world with all that is around its process.
type history struct {
	*world.World
	trees  *trees.Trees
	garden *garden.Garden
	seed   *shoot.Seed
	// left is how often users still act.
	left int
}

// begin begins a history.
func begin(seed uint64, r world.Rates) *history {
	w := world.New(seed, r)
	h := &history{World: w, trees: trees.New(w, seed/4%4 == 0), garden: garden.New(w), seed: shoot.New(w)}
	h.left = 2 + w.Random.IntN(6)
	if r.Moves {
		h.left *= 2
	}
	if r.Syncs {
		h.left += 8
		h.garden.Fill()
	}
	if r.Shoots {
		h.left += 8
		h.seed.Fill()
	}
	h.trees.Fill()
	w.Begin(h)
	return h
}

// Start implements surroundings.
func (h *history) Start() map[string]reconcile.Reconciler {
	controllers := h.trees.Start()
	controllers["extension"], controllers["health"] = h.seed.Start()
	controllers["targetsync"] = h.garden.Start()
	return controllers
}

// Tell implements surroundings.
func (h *history) Tell(lane string, c store.Change) {
	switch lane {
	case "extension", "health":
		h.seed.Tell(lane, c)
	case "targetsync":
		h.garden.Tell(c)
	default:
		h.trees.Tell(lane, c)
	}
}

// Changed implements surroundings.
func (h *history) Changed(c store.Change) {
	h.trees.CheckChange(c)
	h.garden.CheckMade(c)
	h.seed.CheckExtension(c)
}

// Look implements surroundings.
func (h *history) Look() { h.trees.CheckDispatched() }

// Refused implements surroundings.
func (h *history) Refused(object client.Object) { h.garden.Refused(object) }

// Replaced implements surroundings.
func (h *history) Replaced(created client.Object) { h.seed.Late[created.GetUID()] = true }

// Acts implements surroundings.
func (h *history) Acts() bool { return h.left > 0 }

// Haste implements surroundings.
func (h *history) Haste() float64 { return h.trees.Users.Haste() }

// Act implements surroundings.
func (h *history) Act() {
	h.left--
	switch {
	case h.Rates.Syncs && h.Random.IntN(2) == 0:
		h.garden.Act()
	case h.Rates.Shoots && h.Random.IntN(2) == 0:
		h.seed.Act()
	default:
		h.trees.Users.Act()
	}
}

// Waits implements surroundings.
func (h *history) Waits() bool { return len(h.trees.Target.Shut) > 0 }

// Open implements surroundings.
func (h *history) Open() { h.trees.Target.Open() }

// Tasks implements surroundings.
func (h *history) Tasks() []func() { return h.seed.Tasks() }

// checkSettled looks at what is left when nothing happens by itself any more.
func (h *history) checkSettled() {
	h.trees.CheckSettled()
	h.seed.CheckSettled()
}

// checkEmpty looks at what is left when everything was deleted.
func (h *history) checkEmpty() {
	for _, k := range h.Store.Kinds() {
		for _, key := range store.KeysOf(h.Store.Objects[k]) {
			if k != "Context" && key.Name != "host" && key.Name != trees.Given && key.Name != garden.AccessName && h.Store.Objects[k][key].GetLabels()[world.OfUsers] == "" {
				h.Violate("%s %s is left after everything was deleted", k, key.Name)
			}
		}
	}
	h.trees.CheckEmpty()
}
