package queue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/internal/runtime/fairqueue"
)

// requests is the queue of a controller. Its metrics, and that nothing is in work
// twice, are those of every controller; the order is that of the line, and each
// namespace is a lane.
// Get, Done and the shutdown are those of the library's queue, which calls the store with
// its own lock held; only the order, the lanes and the timers are ours.
type requests struct {
	workqueue.TypedInterface[reconcile.Request]
	limiter workqueue.TypedRateLimiter[reconcile.Request]
	store   *store
	// timers are for requests that are to come later.
	mutex  sync.Mutex
	timers map[reconcile.Request]*timer
	closed bool
}

// timer is a request that is to come later.
type timer struct {
	due   time.Time
	timer *time.Timer
}

var _ workqueue.TypedRateLimitingInterface[reconcile.Request] = &requests{}

// NewQueue returns what makes the queue of the line's controller, which has a number of workers. A
// namespace gets half of them at most, even when it is alone: what begins slow work does not end it
// just because another namespace comes.
func (l *Line) NewQueue(workers int) func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		s := &store{line: l, most: Share(workers)}
		return &requests{
			TypedInterface: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: s}),
			limiter:        limiter, store: s, timers: map[reconcile.Request]*timer{},
		}
	}
}

// Share is how many of some workers one namespace gets at most.
func Share(workers int) int { return max(workers/2, 1) }

// AddAfter adds a request later, unless an event adds it before.
//
// Of several timers of a request the earliest counts, so that a safety net never delays a
// sooner wake.
func (q *requests) AddAfter(request reconcile.Request, after time.Duration) {
	if after <= 0 {
		q.Add(request)
		return
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.closed {
		return
	}
	due := time.Now().Add(after)
	if known, ok := q.timers[request]; ok {
		if !due.Before(known.due) {
			return
		}
		known.timer.Stop()
	}
	later := &timer{due: due}
	later.timer = time.AfterFunc(after, func() { q.fire(request, later) })
	q.timers[request] = later
}

// fire adds a request whose timer has fired. Stop does not stop a timer that fires in the
// same moment: a timer that was replaced meanwhile finds another one in its place, and does
// nothing.
func (q *requests) fire(request reconcile.Request, rung *timer) {
	q.mutex.Lock()
	current := q.timers[request] == rung
	if current {
		delete(q.timers, request)
	}
	q.mutex.Unlock()
	if current {
		q.Add(request)
	}
}

// AddRateLimited adds a request after its next pause.
func (q *requests) AddRateLimited(request reconcile.Request) {
	q.AddAfter(request, q.limiter.When(request))
}

// Forget ends the pauses of a request.
func (q *requests) Forget(request reconcile.Request) { q.limiter.Forget(request) }

// NumRequeues is how many pauses a request has had.
func (q *requests) NumRequeues(request reconcile.Request) int { return q.limiter.NumRequeues(request) }

// Get returns the next request. The worker decides anew when the request is to come again,
// so an earlier timer is dropped: it would keep finished requests in memory, for 100 years
// where an object waits without limit.
func (q *requests) Get() (reconcile.Request, bool) {
	request, shutdown := q.TypedInterface.Get()
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if known, ok := q.timers[request]; ok && !shutdown {
		known.timer.Stop()
		delete(q.timers, request)
	}
	return request, shutdown
}

// Done ends the work on a request.
//
// The lane gives its turn back first. The library may push the request again in its own
// Done, which then competes without a turn that it no longer has.
func (q *requests) Done(request reconcile.Request) {
	q.store.done(request)
	q.TypedInterface.Done(request)
}

// ShutDown ends the queue.
func (q *requests) ShutDown() {
	q.close()
	q.TypedInterface.ShutDown()
}

// ShutDownWithDrain ends the queue when all work has ended.
func (q *requests) ShutDownWithDrain() {
	q.close()
	q.TypedInterface.ShutDownWithDrain()
}

func (q *requests) close() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.closed = true
	for _, later := range q.timers {
		later.timer.Stop()
	}
	clear(q.timers)
}

// store holds the requests that wait.
// The library calls Push, Touch, Len and Pop with its lock held, but done comes without it:
// hence a mutex of its own. Ranks are asked for without it, so that the order's lock is
// never taken below it.
type store struct {
	line *Line
	// most is how many requests of one namespace are in work at the same time.
	most  int
	mutex sync.Mutex
	turns fairqueue.Queue[reconcile.Request]
}

var _ workqueue.Queue[reconcile.Request] = &store{}

// Push implements workqueue.Queue.
//
// The rank is that of now. What waits while its job gets a rank is pushed again by the
// event that brought it: Touch, which keeps the better of both.
func (s *store) Push(request reconcile.Request) {
	rank := s.line.rank(request.NamespacedName)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.turns.Push(request.Namespace, request, rank)
}

// Touch implements workqueue.Queue.
func (s *store) Touch(request reconcile.Request) { s.Push(request) }

// Len implements workqueue.Queue: a worker sleeps while it is 0, so it is 0 while all that waits is
// of namespaces that have their share.
//
// No worker has to be told when such a namespace gets a turn back: the worker that gives it back
// asks for more work itself. The library asks Len and Pop with one lock held; a turn that is given
// back in between makes more requests ready, never fewer.
func (s *store) Len() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.turns.HasReady(s.most) {
		return 0
	}
	return s.turns.Len()
}

// Pop implements workqueue.Queue. It is asked only if something is ready.
func (s *store) Pop() reconcile.Request {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	request, _ := s.turns.Next(s.most)
	return request
}

func (s *store) done(request reconcile.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.turns.Done(request.Namespace)
}
