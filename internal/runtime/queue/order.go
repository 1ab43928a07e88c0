package queue

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/internal/base/resourceversion"
)

// Order remembers in which order jobs came. The controllers of a process share one,
// so that all objects of an older job go first.
//
// Ranks are in memory only: after a restart jobs are ordered as their first events come.
// One mutex guards the order and the members of all its lines; it is never held while
// a cache is read or another lock is taken.
type Order struct {
	mutex sync.Mutex
	jobs  map[types.NamespacedName]*jobRank
	last  uint64
}

// jobRank is the rank of a job. It lasts as long as any object is at work for it.
type jobRank struct {
	rank    uint64
	members int
}

// Membership reports whether an object is at work, and for which job: objects with the
// same name of a job share its rank.
type Membership func(client.Object) (job types.NamespacedName, atWork bool)

// Line is the part of an Order that one controller has. It learns from the events of
// the controller's own kind which objects are at work, so that a rank ends with the
// job, or with the object: no caller has to end it.
type Line struct {
	order      *Order
	membership Membership
	// seeing is held from the question whether an object is at work until the answer is
	// noted: of two concurrent reports on one object, the later answer counts. It is taken
	// before the mutex of the order, and held while caches are read.
	seeing sync.Mutex
	// members are the objects at work, by their names.
	members map[types.NamespacedName]member
}

// member is an object at work.
type member struct {
	uid     types.UID
	version string
	job     types.NamespacedName
}

// isOlder reports whether an object is an older version of the member. Two that cannot be
// compared are as good as each other.
func (m member) isOlder(object client.Object) bool {
	return m.uid == object.GetUID() && resourceversion.Older(object.GetResourceVersion(), m.version)
}

// Line adds the objects of a controller to the order.
//
// Each controller has a line of its own, because objects of two kinds may have one name.
func (o *Order) Line(membership Membership) *Line {
	return &Line{order: o, membership: membership, members: map[types.NamespacedName]member{}}
}

// Ranks is how many jobs have a rank.
func (o *Order) Ranks() int {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return len(o.jobs)
}

// Observe records the state of an object, from an event or from a caller that knows it earlier.
// Such a caller knows more than the events that are still to come: they show older states.
//
// Membership is asked before the order is locked: it reads caches, up to the root of a tree.
func (l *Line) Observe(object client.Object) {
	l.seeing.Lock()
	defer l.seeing.Unlock()
	job, atWork := l.membership(object)
	key := client.ObjectKeyFromObject(object)
	now := member{uid: object.GetUID(), version: object.GetResourceVersion(), job: job}
	l.order.mutex.Lock()
	defer l.order.mutex.Unlock()
	before, known := l.members[key]
	switch {
	case known && before.isOlder(object):
		return
	case known && atWork && before.uid == now.uid && before.job == now.job:
		l.members[key] = now
		return
	case known:
		// An object of the same name may be another one.
		l.leave(key, before)
	}
	if atWork {
		l.members[key] = now
		l.order.join(job)
	}
}

// Member is the object at work that has a name; empty without one.
func (l *Line) Member(key types.NamespacedName) types.UID {
	l.order.mutex.Lock()
	defer l.order.mutex.Unlock()
	return l.members[key].uid
}

// Forget records that an object is deleted; another one that has its name by now stays. A
// caller that has seen the deletion before the event calls it, because the event may have
// come before the object was recorded.
func (l *Line) Forget(key types.NamespacedName, uid types.UID) {
	l.seeing.Lock()
	defer l.seeing.Unlock()
	l.order.mutex.Lock()
	defer l.order.mutex.Unlock()
	if before, known := l.members[key]; known && before.uid == uid {
		l.leave(key, before)
	}
}

func (l *Line) leave(key types.NamespacedName, before member) {
	delete(l.members, key)
	// A rank ends with its last member. The next job of the same name comes last again.
	of := l.order.jobs[before.job]
	if of.members--; of.members == 0 {
		delete(l.order.jobs, before.job)
	}
}

func (o *Order) join(job types.NamespacedName) {
	if o.jobs == nil {
		o.jobs = map[types.NamespacedName]*jobRank{}
	}
	of, ok := o.jobs[job]
	if !ok {
		o.last++
		of = &jobRank{rank: o.last}
		o.jobs[job] = of
	}
	of.members++
}

// rank returns the place of an object: the later its job came, the larger. What is
// not at work comes last, and gets no place for later.
func (l *Line) rank(key types.NamespacedName) uint64 {
	l.order.mutex.Lock()
	defer l.order.mutex.Unlock()
	if known, ok := l.members[key]; ok {
		return l.order.jobs[known.job].rank
	}
	if of, ok := l.order.jobs[key]; ok {
		// Another kind is at work for a job of this name: what it waits for may have
		// been seen first.
		return of.rank
	}
	// The object is last, but its number is not kept: each time the rank is asked for again,
	// the object is behind all others again.
	l.order.last++
	return l.order.last
}

// Handler lets the line see the events of the controller's own kind before they
// are handled.
func (l *Line) Handler(inner handler.EventHandler) handler.EventHandler {
	return &observingHandler{line: l, inner: inner}
}

type observingHandler struct {
	line  *Line
	inner handler.EventHandler
}

// Create implements handler.EventHandler.
func (h *observingHandler) Create(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	h.line.Observe(e.Object)
	h.inner.Create(ctx, e, q)
}

// Update implements handler.EventHandler.
func (h *observingHandler) Update(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if known := (member{uid: e.ObjectOld.GetUID(), version: e.ObjectOld.GetResourceVersion()}); known.isOlder(e.ObjectNew) {
		// A watch never goes back, unless the store was restored from a backup: then what was
		// known before is of no use.
		h.line.Forget(client.ObjectKeyFromObject(e.ObjectOld), e.ObjectOld.GetUID())
	}
	h.line.Observe(e.ObjectNew)
	h.inner.Update(ctx, e, q)
}

// Delete implements handler.EventHandler.
func (h *observingHandler) Delete(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	h.line.Forget(client.ObjectKeyFromObject(e.Object), e.Object.GetUID())
	h.inner.Delete(ctx, e, q)
}

// Generic implements handler.EventHandler.
func (h *observingHandler) Generic(ctx context.Context, e event.GenericEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	h.line.Observe(e.Object)
	h.inner.Generic(ctx, e, q)
}
