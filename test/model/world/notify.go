package world

// maxDepth is how many controllers work at the same time.
const maxDepth = 3

// Others lets the rest of the world continue where a controller may lose its turn. Only one rule
// holds them back: no worker works on an object that another one works on.
func (w *World) Others(p *Process) {
	if w.depth == 0 || p.Ended() {
		return // an event handler outside of all work reads as well
	}
	for at := range w.pending.places() {
		if len(w.pending.of[at]) > 0 && w.Random.Float64() < w.news(w.Rates.behind(streams[at])) {
			w.deliver(at)
		}
	}
	for at := range w.untold.places() {
		if len(w.untold.of[at]) > 0 && w.Random.Float64() < w.news(listeners[at].lane == w.Rates.Deaf) {
			w.tell(at)
		}
	}
	if w.around.Waits() && w.Random.Float64() < w.news(true) {
		w.around.Open()
	}
	if tasks := w.around.Tasks(); len(tasks) > 0 && w.Random.Float64() < w.Rates.News {
		tasks[w.Random.IntN(len(tasks))]()
	}
	if w.depth < maxDepth && w.Random.Float64() < w.Rates.News {
		w.beside()
	}
	w.around.Look()
}

// lateness is how many times rarer late events are.
const lateness = 12

// news is how often an event arrives in the midst of other work.
func (w *World) news(late bool) float64 {
	if late {
		return w.Rates.News / lateness
	}
	return w.Rates.News
}

// beside lets another worker do one request while one is at work. No two workers work on the same
// object.
func (w *World) beside() {
	var free []func()
	for _, name := range LaneNames {
		l := w.Lanes[name]
		for at, key := range l.ready {
			if !l.running[key] {
				free = append(free, func() { w.run(l, at) })
			}
		}
	}
	if len(w.plans) > 0 {
		free = append(free, w.makePlan)
	}
	if len(free) > 0 {
		free[w.Random.IntN(len(free))]()
	}
}

// share is how rarely something happens that comes late.
func (w *World) share(late bool) float64 {
	if late {
		return 1.0 / lateness
	}
	return 1
}
