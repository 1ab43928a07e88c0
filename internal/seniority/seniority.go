// Package seniority lets older jobs go before newer ones. Without it the objects of
// many jobs take turns, and all of them end late; with it the first job ends as if
// it were alone.
package seniority

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Order remembers in which order jobs came. Controllers whose objects have the same
// names, as an Installation and its Execution have, share one.
type Order struct {
	mutex sync.Mutex
	ranks map[types.NamespacedName]int
	last  int
}

// rank returns the place of an object: the later its job came, the larger.
func (o *Order) rank(key types.NamespacedName) int {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if rank, ok := o.ranks[key]; ok {
		return rank
	}
	if o.ranks == nil {
		o.ranks = make(map[types.NamespacedName]int)
	}
	o.last++
	o.ranks[key] = o.last
	return o.last
}

// Done forgets an object whose job has ended. Its next job comes last.
func (o *Order) Done(key types.NamespacedName) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.ranks, key)
}

// Handler puts what a handler asks for into the queue by the order of its jobs.
func (o *Order) Handler(inner handler.EventHandler) handler.EventHandler {
	return &ordered{order: o, inner: inner}
}

type ordered struct {
	order *Order
	inner handler.EventHandler
}

// Create implements handler.EventHandler.
func (h *ordered) Create(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	h.inner.Create(ctx, e, h.queue(q))
}

// Update implements handler.EventHandler.
func (h *ordered) Update(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	h.inner.Update(ctx, e, h.queue(q))
}

// Delete implements handler.EventHandler.
func (h *ordered) Delete(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	h.inner.Delete(ctx, e, h.queue(q))
}

// Generic implements handler.EventHandler.
func (h *ordered) Generic(ctx context.Context, e event.GenericEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	h.inner.Generic(ctx, e, h.queue(q))
}

// queue returns a queue that adds by order, if the queue below can.
func (h *ordered) queue(q workqueue.TypedRateLimitingInterface[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	byPriority, ok := q.(priorityqueue.PriorityQueue[reconcile.Request])
	if !ok {
		return q
	}
	return &orderedQueue{TypedRateLimitingInterface: q, byPriority: byPriority, order: h.order}
}

// orderedQueue gives every request the priority of its place.
type orderedQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	byPriority priorityqueue.PriorityQueue[reconcile.Request]
	order      *Order
}

// Add implements workqueue.TypedInterface.
func (q *orderedQueue) Add(request reconcile.Request) {
	priority := -q.order.rank(request.NamespacedName)
	q.byPriority.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, request)
}
