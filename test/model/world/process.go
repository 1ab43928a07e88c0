package world

import (
	"context"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Process ends with a crash. Code that still runs in it afterwards reaches no server.
type Process struct {
	Ctx  context.Context
	stop context.CancelFunc
	cut  bool
	// deposed says that another replica leads, which this one does not know yet, and left how many
	// requests it still makes.
	deposed bool
	left    int
}

func (w *World) newProcess() *Process {
	ctx, stop := context.WithCancel(log.IntoContext(context.Background(), logr.New(logs{world: w})))
	return &Process{Ctx: ctx, stop: stop}
}

// Ended says that nothing more is to happen in the process.
func (p *Process) Ended() bool { return p.cut || p.deposed || p.Ctx.Err() != nil }

// depose lets another replica begin to lead while a request of this one is on its way. What this one
// does before it notices that reaches the server, among the requests of the other.
func (w *World) depose(p *Process) {
	if p != w.Process || p.Ended() {
		return
	}
	w.Note("another replica leads")
	p.deposed, p.left = true, w.Random.IntN(4)
	w.Counts.handovers++
	w.Boot()
}

// silenced reports whether a request of a process reaches no server any more.
func (p *Process) silenced() bool {
	if p.deposed && !p.cut {
		p.left--
		p.cut = p.left < 0
	}
	return p.cut
}

// Shuffled stands in for what is done at the same time: one after the other in any order, so
// that a history can be repeated, and a crash leaves any part of it undone.
func (w *World) Shuffled(count int, call func(int)) {
	for _, i := range w.Random.Perm(count) {
		call(i)
	}
}
