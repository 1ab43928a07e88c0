// Package overtime frees the workers of a controller from work that takes long. A worker waits a
// moment for the work on an object; then the work goes on beside the workers, and its result
// reaches the queue when it ends. So a target cluster that answers late delays the objects that
// need it, and nothing else.
//
// Package workpool is for work whose result a later reconcile needs; here, the reconcile itself
// goes on. This package knows nothing of what the work does.
package overtime

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// placesPerWorker is how much work goes on beside the workers for each of them: it mostly waits,
	// which costs little.
	placesPerWorker = 4
	// mostPerWorker is for when more namespaces than there are places have work beside the workers:
	// each piece of work holds the objects that it deploys.
	mostPerWorker = 64
)

// Options say how long a worker waits, and how much goes on beside the workers.
type Options struct {
	// Wait is how long a worker waits for work.
	Wait time.Duration
	// ShortWait is how long it waits for work of a namespace of which other work takes long
	// already.
	ShortWait time.Duration
	// Places is how much work goes on beside the workers. Namespaces share the places: one that
	// has its share begins nothing more. Each namespace may have one, up to Most altogether: what
	// takes longer then keeps its worker.
	Places, Most int
	// Share is how many places a namespace gets at most, even when it is alone.
	Share int
}

// For returns the options of a controller with a number of workers.
func For(workers int) Options {
	return Options{Wait: 500 * time.Millisecond, ShortWait: 50 * time.Millisecond, Places: placesPerWorker * workers, Most: mostPerWorker * workers, Share: workers}
}

// Queue is what this package needs of the queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Lot is where work goes on.
//
// The mutex guards everything below it, and what is written into a task after its start. Neither
// work nor the queue is called while it is held.
type Lot struct {
	options Options

	mutex sync.Mutex
	// queue is nil before the controller has begun: then nothing goes on beside the workers.
	queue Queue
	// beside is the work that goes on, by its object, and held how much each namespace has of it.
	beside map[reconcile.Request]*task
	held   map[string]int
	// parked are the objects whose namespace has its share, and order those of each namespace as
	// they came; it may have some that are not parked any more.
	parked map[reconcile.Request]struct{}
	order  map[string][]reconcile.Request
	group  sync.WaitGroup
}

// task is the work on an object.
type task struct {
	ended chan struct{}
	// beside says that no worker waits any more.
	beside bool
	// again says that the object was enqueued since.
	again  bool
	result reconcile.Result
	err    error
}

// New returns a lot without work.
func New(options Options) *Lot {
	return &Lot{
		options: options, beside: map[reconcile.Request]*task{}, held: map[string]int{},
		parked: map[reconcile.Request]struct{}{}, order: map[string][]reconcile.Request{},
	}
}

// Bind tells the lot the queue of its controller.
func (l *Lot) Bind(queue Queue) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.queue = queue
}

// Load is how much work goes on beside the workers, and how many objects wait until some of it ends.
func (l *Lot) Load() (beside, parked int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.beside), len(l.parked)
}

// Start waits for the end of the context, and then until all work has ended, which gets the same
// context: so a process that ends does not cut it off. It implements manager.Runnable.
func (l *Lot) Start(ctx context.Context) error {
	<-ctx.Done()
	l.group.Wait()
	return nil
}

// Do does the work on an object as far as a worker waits for it. An object that is enqueued while its
// work goes on is reconciled again afterwards; so there is never work on one object twice.
//
// The work turns its panics into errors itself: they are not recovered beside the workers. Without a
// lot, the worker waits for all of it.
func (l *Lot) Do(ctx context.Context, request reconcile.Request, work reconcile.Func) (reconcile.Result, error) {
	if l == nil {
		return work(ctx, request)
	}
	wait, begins := l.admit(request)
	switch {
	case !begins:
		return reconcile.Result{}, nil
	case wait == 0:
		return work(ctx, request)
	}
	t := &task{ended: make(chan struct{})}
	l.group.Go(func() {
		result, err := work(ctx, request)
		l.end(ctx, request, t, result, err)
	})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-t.ended:
	case <-timer.C:
		if l.leave(request, t) {
			return reconcile.Result{}, nil
		}
		<-t.ended
	}
	return t.result, t.err
}

// admit reports whether work on an object begins, and how long the worker waits for it; 0 is until its
// end.
func (l *Lot) admit(request reconcile.Request) (wait time.Duration, begins bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	held := l.held[request.Namespace]
	switch known := l.beside[request]; {
	case l.queue == nil:
		return 0, true
	case known != nil:
		known.again = true
		return 0, false
	case held > 0 && held >= l.share():
		if _, known := l.parked[request]; !known {
			l.parked[request] = struct{}{}
			l.order[request.Namespace] = append(l.order[request.Namespace], request)
		}
		return 0, false
	}
	// An event may have enqueued a parked object.
	delete(l.parked, request)
	if held > 0 {
		return l.options.ShortWait, true
	}
	return l.options.Wait, true
}

// share is how many places a namespace may have now.
func (l *Lot) share() int {
	return max(min(l.options.Share, l.options.Places/max(len(l.held), 1)), 1)
}

// leave lets work go on beside the workers; false if it has ended, or there is no place.
func (l *Lot) leave(request reconcile.Request, t *task) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	select {
	case <-t.ended:
		return false
	default:
	}
	if len(l.beside) >= l.options.Most {
		return false
	}
	t.beside = true
	l.beside[request] = t
	l.held[request.Namespace]++
	return true
}

// end notes the end of work. What no worker waits for is enqueued as a controller does it.
func (l *Lot) end(ctx context.Context, request reconcile.Request, t *task, result reconcile.Result, err error) {
	l.mutex.Lock()
	t.result, t.err = result, err
	close(t.ended)
	if t.beside {
		delete(l.beside, request)
		if l.held[request.Namespace]--; l.held[request.Namespace] == 0 {
			delete(l.held, request.Namespace)
		}
	}
	queue, unparked := l.queue, l.unpark(request.Namespace)
	l.mutex.Unlock()
	if t.beside {
		t.enqueue(ctx, queue, request)
	}
	for _, next := range unparked {
		queue.Add(next)
	}
}

// enqueue does what a controller does with the result of a reconcile.
func (t *task) enqueue(ctx context.Context, queue Queue, request reconcile.Request) {
	switch {
	case t.again:
		queue.Add(request)
	case t.err != nil:
		log.FromContext(ctx).Error(t.err, "Reconciler error")
		queue.AddRateLimited(request)
	case t.result.RequeueAfter > 0:
		queue.Forget(request)
		queue.AddAfter(request, t.result.RequeueAfter)
	default:
		queue.Forget(request)
	}
}

// unpark takes out the oldest parked objects of a namespace, as many as have a place now. Each of them
// ends here again, or is parked while others go on: so none stays behind.
func (l *Lot) unpark(namespace string) []reconcile.Request {
	var unparked []reconcile.Request
	left := l.order[namespace]
	for free := l.share() - l.held[namespace]; len(left) > 0 && len(unparked) < free; left = left[1:] {
		if _, known := l.parked[left[0]]; known {
			delete(l.parked, left[0])
			unparked = append(unparked, left[0])
		}
	}
	if l.order[namespace] = left; len(left) == 0 {
		delete(l.order, namespace)
	}
	return unparked
}
