// Package fairqueue decides whose turn it is when more work waits than can be done at
// once: lanes, which are namespaces, get the same number of turns, and within a lane the
// oldest item goes first.
package fairqueue

import "container/heap"

// Queue decides whose turn it is. Everything that waits stands in a lane. The lane
// with the fewest turns in use is next; of several the one that has had no turn for
// the longest time. Within a lane the lowest rank goes first. A lane that is alone
// gets as many turns as Next allows; as soon as others come, each turn that ends goes to
// them until all have the same.
//
// It is not safe for concurrent use: its owner has a lock already.
type Queue[T comparable] struct {
	lanes map[string]*lane[T]
	// waiting are the lanes in which something waits.
	waiting laneHeap[T]
	entries map[T]*entry[T]
	// sequence numbers the events that must have an order.
	sequence uint64
}

// lane is what waits and what runs for one name.
type lane[T comparable] struct {
	name    string
	running int
	// lastServed is when the lane had its last turn, or when it came.
	lastServed uint64
	queue      entryHeap[T]
	// index is the position among the waiting lanes.
	index int
}

// entry is an item that waits in a lane.
type entry[T comparable] struct {
	item     T
	rank     uint64
	sequence uint64
	lane     *lane[T]
	index    int
}

// Push lets an item wait in a lane. An item that waits already keeps the better of both
// ranks.
func (t *Queue[T]) Push(name string, item T, rank uint64) {
	if known, ok := t.entries[item]; ok {
		if rank < known.rank {
			known.rank = rank
			heap.Fix(&known.lane.queue, known.index)
		}
		return
	}
	if t.lanes == nil {
		t.lanes, t.entries = map[string]*lane[T]{}, map[T]*entry[T]{}
	}
	t.sequence++
	in, ok := t.lanes[name]
	if !ok {
		// A new lane does not overtake the waiting ones.
		in = &lane[T]{name: name, lastServed: t.sequence}
		t.lanes[name] = in
	}
	added := &entry[T]{item: item, rank: rank, sequence: t.sequence, lane: in}
	t.entries[item] = added
	heap.Push(&in.queue, added)
	if len(in.queue) == 1 {
		heap.Push(&t.waiting, in)
	}
}

// Next takes out what is next. If most is positive, a lane gets no more turns than
// that at the same time, even if it is alone.
func (t *Queue[T]) Next(most int) (item T, ok bool) {
	if !t.HasReady(most) {
		return item, false
	}
	next := t.waiting[0]
	first, _ := heap.Pop(&next.queue).(*entry[T])
	delete(t.entries, first.item)
	t.sequence++
	next.running, next.lastServed = next.running+1, t.sequence
	if len(next.queue) == 0 {
		heap.Pop(&t.waiting)
	} else {
		heap.Fix(&t.waiting, 0)
	}
	return first.item, true
}

// Done ends a turn of a lane.
//
// A lane without running and waiting work is forgotten; so nothing is kept of deleted
// namespaces.
func (t *Queue[T]) Done(name string) {
	of, ok := t.lanes[name]
	if !ok || of.running == 0 {
		return
	}
	of.running--
	switch {
	case len(of.queue) > 0:
		heap.Fix(&t.waiting, of.index)
	case of.running == 0:
		delete(t.lanes, name)
	}
}

// Remove takes an item out of the queue. It reports whether the item has waited.
func (t *Queue[T]) Remove(item T) bool {
	known, ok := t.entries[item]
	if !ok {
		return false
	}
	delete(t.entries, item)
	in := known.lane
	heap.Remove(&in.queue, known.index)
	if len(in.queue) > 0 {
		return true
	}
	heap.Remove(&t.waiting, in.index)
	if in.running == 0 {
		delete(t.lanes, in.name)
	}
	return true
}

// Len is the number of waiting items.
func (t *Queue[T]) Len() int { return len(t.entries) }

// HasReady reports whether Next would return an item.
func (t *Queue[T]) HasReady(most int) bool {
	// The first lane has the fewest: if it has its share, so have all others.
	return len(t.waiting) > 0 && (most <= 0 || t.waiting[0].running < most)
}

// Waiting is the number of waiting items of a lane.
func (t *Queue[T]) Waiting(name string) int {
	if of, ok := t.lanes[name]; ok {
		return len(of.queue)
	}
	return 0
}

// Running is how many turns a lane has in use.
func (t *Queue[T]) Running(name string) int {
	if of, ok := t.lanes[name]; ok {
		return of.running
	}
	return 0
}

// laneHeap has the lane whose turn it is on top.
type laneHeap[T comparable] []*lane[T]

// Len implements heap.Interface.
func (h laneHeap[T]) Len() int { return len(h) }

// Less implements heap.Interface.
func (h laneHeap[T]) Less(i, j int) bool {
	if h[i].running != h[j].running {
		return h[i].running < h[j].running
	}
	return h[i].lastServed < h[j].lastServed
}

// Swap implements heap.Interface.
func (h laneHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *laneHeap[T]) Push(x any) {
	added, _ := x.(*lane[T])
	added.index = len(*h)
	*h = append(*h, added)
}

// Pop implements heap.Interface.
func (h *laneHeap[T]) Pop() any { return dropLast((*[]*lane[T])(h)) }

// entryHeap has the lowest rank on top.
type entryHeap[T comparable] []*entry[T]

// Len implements heap.Interface.
func (h entryHeap[T]) Len() int { return len(h) }

// Less implements heap.Interface.
func (h entryHeap[T]) Less(i, j int) bool {
	if h[i].rank != h[j].rank {
		return h[i].rank < h[j].rank
	}
	return h[i].sequence < h[j].sequence
}

// Swap implements heap.Interface.
func (h entryHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *entryHeap[T]) Push(x any) {
	added, _ := x.(*entry[T])
	added.index = len(*h)
	*h = append(*h, added)
}

// Pop implements heap.Interface.
func (h *entryHeap[T]) Pop() any { return dropLast((*[]*entry[T])(h)) }

// dropLast shortens a list without keeping what was in it.
func dropLast[E any](list *[]*E) *E {
	last := len(*list) - 1
	dropped := (*list)[last]
	(*list)[last] = nil
	*list = (*list)[:last]
	return dropped
}
