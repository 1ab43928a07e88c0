package world

import (
	"go.landscaper.dev/test/model/store"
)

// FaultKind is how a request goes wrong.
type FaultKind int

// Faults of requests, and of the process that makes them.
const (
	FaultDown FaultKind = iota
	FaultLost
	FaultConflict
	// FaultCut is the sudden end of the process before or after a request, and faultStop
	// its orderly end.
	FaultCut
	FaultStop
	// FaultHandover is the moment at which another replica begins to lead.
	FaultHandover
)

// Rates are how often something happens, as shares of one.
type Rates struct {
	Faults map[FaultKind]float64
	Crash  float64
	// Haste is how often users do something between two requests of a controller.
	Haste float64
	// News is how often a cache sees an event while a controller is at work, and how often
	// another controller gets a turn then.
	News float64
	// Late is a kind whose events reach the caches long after those of the others, and deaf a
	// controller that receives late what the caches have seen.
	Late store.Kind
	Deaf string
	// Confined says that each namespace has a watch of its own, and slowSpace is the one
	// whose events come late.
	Confined  bool
	SlowSpace string
	// Outside says that plans ask a component, so that they are made away from the workers,
	// and slow that this takes long.
	Outside, Slow bool
	// Syncs says that users have TargetSyncs, too.
	Syncs bool
	// Shoots says that there is a shoot with an Extension.
	Shoots bool
	// Moves says that users mostly change one root, so that objects move, and that most goes
	// well.
	Moves bool
}

// behind says that events of a stream reach the caches late.
func (r Rates) behind(s stream) bool {
	return s.kind == r.Late || s.space != "" && s.space == r.SlowSpace
}

// Counts is what a history has cost.
type Counts struct{ steps, Reconciles, plans, Reads, Writes, statusWrites, Crashes, Faults, Removals, handovers, questions, Reports int }

// Add sums up.
func (c *Counts) Add(o Counts) {
	c.steps += o.steps
	c.Reconciles += o.Reconciles
	c.plans += o.plans
	c.Reads += o.Reads
	c.Writes += o.Writes
	c.statusWrites += o.statusWrites
	c.Crashes += o.Crashes
	c.Faults += o.Faults
	c.Removals += o.Removals
	c.handovers += o.handovers
	c.questions, c.Reports = max(c.questions, o.questions), max(c.Reports, o.Reports)
}
