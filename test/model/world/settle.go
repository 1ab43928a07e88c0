package world

import "time"

// Step lets one thing happen.
func (w *World) Step() {
	moves, weights := w.moves()
	sum := 0.0
	for _, weight := range weights {
		sum += weight
	}
	at, choice := w.Random.Float64()*sum, 0
	for choice < len(moves)-1 && at >= weights[choice] {
		at -= weights[choice]
		choice++
	}
	w.Counts.steps++
	moves[choice]()
	w.around.Look()
}

// atWork reports whether something can happen without that time passes.
func (w *World) atWork() bool {
	if w.pending.count > 0 || w.untold.count > 0 {
		return true
	}
	for _, name := range LaneNames {
		if len(w.Lanes[name].ready) > 0 {
			return true
		}
	}
	return len(w.plans) > 0
}

// busy reports whether something will happen by itself, without a deadline.
func (w *World) busy() bool {
	if w.atWork() {
		return true
	}
	if l, _, due := w.next(); l != nil && time.Until(due) < LongWait {
		return true
	}
	return w.around.Waits() || len(w.around.Tasks()) > 0
}

// Settle lets everything come to its end with nothing going wrong.
func (w *World) Settle() {
	w.Calm = true
	for range calmSteps {
		for w.Store.Collect() {
			continue
		}
		if w.Broken != nil || !w.busy() {
			return
		}
		w.Step()
	}
	w.Violate("after %d steps in which nothing went wrong there is still something to do", calmSteps)
}
