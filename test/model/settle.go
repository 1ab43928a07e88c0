package model

import "time"

// step lets one thing happen.
func (w *world) step() {
	moves, weights := w.moves()
	sum := 0.0
	for _, weight := range weights {
		sum += weight
	}
	at, choice := w.random.Float64()*sum, 0
	for choice < len(moves)-1 && at >= weights[choice] {
		at -= weights[choice]
		choice++
	}
	w.counts.steps++
	moves[choice]()
	w.checkDispatched()
}

// atWork reports whether something can happen without that time passes.
func (w *world) atWork() bool {
	if len(w.pending) > 0 || len(w.untold) > 0 {
		return true
	}
	for _, name := range laneNames {
		if len(w.lanes[name].ready) > 0 {
			return true
		}
	}
	return len(w.plans) > 0
}

// busy reports whether something will happen by itself, without a deadline.
func (w *world) busy() bool {
	if w.atWork() {
		return true
	}
	if l, _, due := w.next(); l != nil && time.Until(due) < longWait {
		return true
	}
	return len(w.target.shut) > 0 || len(w.seed.tasks()) > 0
}

// settle lets everything come to its end with nothing going wrong.
func (w *world) settle() {
	w.calm = true
	for range calmSteps {
		for w.store.collect() {
			continue
		}
		if w.broken != nil || !w.busy() {
			return
		}
		w.step()
	}
	w.violate("after %d steps in which nothing went wrong there is still something to do", calmSteps)
}
