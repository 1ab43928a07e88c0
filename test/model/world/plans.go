package world

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/runtime/workpool"
)

// ElsewhereFor lets plans, and runs of TargetSyncs, be made away from the workers of a controller of a
// process, each at any later moment, with everything that may happen in between.
func (w *World) ElsewhereFor(process *Process, lane string) workpool.Options {
	return workpool.Options{
		MaxConcurrent: 3, MaxPerNamespace: 2, MaxResults: 2, PreemptAfter: 30 * time.Second, Timeout: LongWait,
		Go: func(work func()) {
			if process == w.Process {
				w.plans = append(w.plans, work)
			}
		},
		Enqueue: func(key types.NamespacedName) {
			if process == w.Process {
				w.Lanes[lane].Add(key)
			}
		},
	}
}

// makePlan makes one of the plans that were asked for.
func (w *World) makePlan() {
	at := w.Random.IntN(len(w.plans))
	work := w.plans[at]
	w.plans = append(w.plans[:at:at], w.plans[at+1:]...)
	w.Counts.plans++
	w.Note("a plan is made elsewhere")
	w.within(work)
}
