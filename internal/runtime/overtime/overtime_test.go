package overtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// bench is a lot with a queue and one worker, which is the test.
type bench struct {
	t     *testing.T
	lot   *Lot
	queue Queue
}

func newBench(t *testing.T, options Options) *bench {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Millisecond, time.Second)
	b := &bench{t: t, lot: New(options), queue: workqueue.NewTypedRateLimitingQueue(limiter)}
	b.lot.Bind(b.queue)
	t.Cleanup(b.queue.ShutDown)
	return b
}

func object(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// enqueued waits until an object is enqueued, and takes it out.
func (b *bench) enqueued(want reconcile.Request, reason string) {
	b.t.Helper()
	came := make(chan reconcile.Request, 1)
	go func() {
		request, _ := b.queue.Get()
		b.queue.Done(request)
		came <- request
	}()
	select {
	case got := <-came:
		if got != want {
			b.t.Fatalf("%s: %s is enqueued, want %s", reason, got, want)
		}
	case <-time.After(time.Minute):
		b.t.Fatalf("%s: nothing is enqueued", reason)
	}
}

func (b *bench) load(beside, parked int, reason string) {
	b.t.Helper()
	if x, y := b.lot.Load(); x != beside || y != parked {
		b.t.Errorf("%s: %d go on and %d are parked, want %d and %d", reason, x, y, beside, parked)
	}
}

// slow begins work that does not end before the returned function is called, and returns when no worker
// waits for it.
func (b *bench) slow(request reconcile.Request, result reconcile.Result, err error) (end func()) {
	b.t.Helper()
	over := make(chan struct{})
	got, gotErr := b.lot.Do(b.t.Context(), request, func(context.Context, reconcile.Request) (reconcile.Result, error) {
		<-over
		return result, err
	})
	if got != (reconcile.Result{}) || gotErr != nil {
		b.t.Errorf("the worker that leaves work gets %v, %v", got, gotErr)
	}
	return func() { close(over) }
}

// hasty are options under which no worker waits.
var hasty = Options{Wait: time.Nanosecond, ShortWait: time.Nanosecond, Places: 100, Most: 100, Share: 100}

// TestInTime: the result of work that ends in time is that of the reconcile.
func TestInTime(t *testing.T) {
	failure := errors.New("it is not there")
	for _, test := range []struct {
		reason string
		lot    *Lot
	}{
		{"work that a worker waits for", newBench(t, Options{Wait: time.Hour, ShortWait: time.Hour, Places: 1, Share: 1}).lot},
		{"work before the controller has begun", New(hasty)},
	} {
		t.Run(test.reason, func(t *testing.T) {
			result, err := test.lot.Do(t.Context(), object("a", "x"), func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{RequeueAfter: time.Minute}, failure
			})
			if result.RequeueAfter != time.Minute || !errors.Is(err, failure) {
				t.Errorf("got %v, %v", result, err)
			}
		})
	}
}

// TestAfterwards: what follows from work that no worker waits for any more.
func TestAfterwards(t *testing.T) {
	x := object("a", "x")
	t.Run("an object that asks for it comes again after its time", func(t *testing.T) {
		b := newBench(t, hasty)
		b.slow(x, reconcile.Result{RequeueAfter: time.Millisecond}, nil)()
		b.enqueued(x, "its time has come")
	})
	t.Run("after an error, the object comes again after a pause that grows", func(t *testing.T) {
		b := newBench(t, hasty)
		b.slow(x, reconcile.Result{}, errors.New("it failed"))()
		b.enqueued(x, "another attempt")
		if b.queue.NumRequeues(x) != 1 {
			t.Errorf("%d pauses are known", b.queue.NumRequeues(x))
		}
	})
	t.Run("an object that has ended does not come again", func(t *testing.T) {
		b := newBench(t, hasty)
		b.slow(x, reconcile.Result{}, nil)()
		b.lot.group.Wait()
		if b.load(0, 0, "it has ended"); b.queue.Len() != 0 {
			t.Error("the object is enqueued")
		}
	})
	t.Run("an object that was enqueued meanwhile is reconciled again, and never twice at once", func(t *testing.T) {
		b := newBench(t, hasty)
		end := b.slow(x, reconcile.Result{RequeueAfter: time.Hour}, nil)
		for range 3 {
			result, err := b.lot.Do(t.Context(), x, func(context.Context, reconcile.Request) (reconcile.Result, error) {
				t.Error("there is work on the object already")
				return reconcile.Result{}, nil
			})
			if result != (reconcile.Result{}) || err != nil {
				t.Errorf("got %v, %v", result, err)
			}
		}
		end()
		b.enqueued(x, "the event was not lost")
	})
	t.Run("the end of the process waits for the work", func(t *testing.T) {
		b := newBench(t, hasty)
		end := b.slow(x, reconcile.Result{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = b.lot.Start(ctx)
		}()
		cancel()
		select {
		case <-ended:
			t.Error("it does not wait")
		default:
		}
		end()
		<-ended
	})
}

// TestShares: how much work of a namespace goes on beside the workers.
func TestShares(t *testing.T) {
	t.Run("a namespace that has its share begins nothing more, and others do", func(t *testing.T) {
		b := newBench(t, Options{Wait: time.Nanosecond, ShortWait: time.Nanosecond, Places: 8, Most: 8, Share: 2})
		end := b.slow(object("greedy", "1"), reconcile.Result{}, nil)
		b.slow(object("greedy", "2"), reconcile.Result{}, nil)
		for _, name := range []string{"3", "4", "3"} {
			b.slow(object("greedy", name), reconcile.Result{}, nil)
		}
		b.load(2, 2, "the share is 2")
		b.slow(object("modest", "1"), reconcile.Result{}, nil)
		b.load(3, 2, "another namespace has its own share")
		end()
		b.enqueued(object("greedy", "3"), "a place is free for the oldest one")
		b.load(2, 1, "the other one still waits")
	})
	t.Run("many namespaces share the places, and each may have one", func(t *testing.T) {
		b := newBench(t, Options{Wait: time.Nanosecond, ShortWait: time.Nanosecond, Places: 4, Most: 16, Share: 4})
		for i := range 6 {
			for j := range 4 {
				b.slow(object(fmt.Sprint(i), fmt.Sprint(j)), reconcile.Result{}, nil)
			}
		}
		// The first has all places, and each further one finds that others have more than it.
		b.load(4+2+1+1+1+1, 2+3+3+3+3, "newcomers do not wait for those that have more")
	})
	t.Run("beyond the most that may go on, a worker keeps its work", func(t *testing.T) {
		b := newBench(t, Options{Wait: time.Nanosecond, ShortWait: time.Nanosecond, Places: 1, Most: 2, Share: 1})
		for _, namespace := range []string{"a", "b"} {
			defer b.slow(object(namespace, "x"), reconcile.Result{}, nil)()
		}
		begun, over, kept := make(chan struct{}), make(chan struct{}), make(chan reconcile.Result)
		go func() {
			result, _ := b.lot.Do(t.Context(), object("c", "x"), func(context.Context, reconcile.Request) (reconcile.Result, error) {
				close(begun)
				<-over
				return reconcile.Result{RequeueAfter: time.Minute}, nil
			})
			kept <- result
		}()
		<-begun
		b.load(2, 0, "two namespaces have all that may go on")
		close(over)
		if result := <-kept; result.RequeueAfter != time.Minute {
			t.Errorf("the worker did not wait: %v", result)
		}
	})
	t.Run("parked objects whose work is quick all have their turn", func(t *testing.T) {
		b := newBench(t, Options{Wait: time.Nanosecond, ShortWait: time.Hour, Places: 1, Most: 1, Share: 1})
		end := b.slow(object("a", "slow"), reconcile.Result{}, nil)
		const objects = 5
		for i := range objects {
			b.slow(object("a", fmt.Sprint(i)), reconcile.Result{}, nil)
		}
		b.load(1, objects, "all are parked")
		b.lot.options.Wait = time.Hour
		end()
		for i := range objects {
			b.enqueued(object("a", fmt.Sprint(i)), "the one before has ended")
			_, _ = b.lot.Do(t.Context(), object("a", fmt.Sprint(i)), func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, nil
			})
		}
		b.load(0, 0, "all have ended")
		if len(b.lot.order)+len(b.lot.held) != 0 {
			t.Errorf("something is kept: %v, %v", b.lot.order, b.lot.held)
		}
	})
}

// TestAtRandom: workers, events and work of any length: no object is worked on twice at once, none is
// forgotten, and nothing is kept at the end.
func TestAtRandom(t *testing.T) {
	const workers, namespaces, objects = 4, 3, 40
	b := newBench(t, Options{Wait: 50 * time.Microsecond, ShortWait: time.Microsecond, Places: 6, Most: 6, Share: 3})
	var mutex sync.Mutex
	busy, wanted := map[reconcile.Request]bool{}, map[reconcile.Request]int{}
	var left atomic.Int64
	done := make(chan struct{})
	work := func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
		mutex.Lock()
		if busy[request] {
			t.Errorf("%s is in work twice", request)
		}
		busy[request] = true
		wanted[request]--
		more := wanted[request]
		mutex.Unlock()
		if len(request.Name)%2 == 0 {
			<-time.After(200 * time.Microsecond)
		}
		mutex.Lock()
		defer mutex.Unlock()
		busy[request] = false
		if more == 0 && left.Add(-1) == 0 {
			close(done)
		}
		if more > 0 {
			return reconcile.Result{RequeueAfter: time.Microsecond}, nil
		}
		return reconcile.Result{}, nil
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				request, shutdown := b.queue.Get()
				if shutdown {
					return
				}
				result, _ := b.lot.Do(t.Context(), request, work)
				if result.RequeueAfter > 0 {
					b.queue.AddAfter(request, result.RequeueAfter)
				}
				b.queue.Done(request)
			}
		})
	}
	left.Store(namespaces * objects)
	for i := range objects {
		for of := range namespaces {
			request := object(fmt.Sprint(of), fmt.Sprint(i))
			mutex.Lock()
			wanted[request] = 3
			mutex.Unlock()
			b.queue.Add(request)
		}
	}
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		beside, parked := b.lot.Load()
		t.Fatalf("%d objects are forgotten, %d go on, %d are parked", left.Load(), beside, parked)
	}
	b.queue.ShutDown()
	group.Wait()
	b.lot.group.Wait()
	b.load(0, 0, "all has ended")
}
