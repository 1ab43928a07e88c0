package model

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/runtime/workpool"
)

// elsewhereFor lets plans, and runs of TargetSyncs, be made away from the workers of a controller of a
// process, each at any later moment, with everything that may happen in between.
func (w *world) elsewhereFor(process *process, lane string) workpool.Options {
	return workpool.Options{
		MaxConcurrent: 3, MaxPerNamespace: 2, MaxResults: 2, PreemptAfter: 30 * time.Second, Timeout: longWait,
		Go: func(work func()) {
			if process == w.process {
				w.plans = append(w.plans, work)
			}
		},
		Enqueue: func(key types.NamespacedName) {
			if process == w.process {
				w.lanes[lane].add(key)
			}
		},
	}
}

// makePlan makes one of the plans that were asked for.
func (w *world) makePlan() {
	at := w.random.IntN(len(w.plans))
	work := w.plans[at]
	w.plans = append(w.plans[:at:at], w.plans[at+1:]...)
	w.counts.plans++
	w.note("a plan is made elsewhere")
	w.within(work)
}
