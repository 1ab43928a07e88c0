package queue

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
)

// unfinished is a membership: an object is at work while its job is not finished.
func unfinished(object client.Object) (types.NamespacedName, bool) {
	inst, ok := object.(*v1alpha1.Installation)
	return client.ObjectKeyFromObject(object), ok && inst.Status.JobID != inst.Status.JobIDFinished
}

// controller is a queue with the events that fill it.
type controller struct {
	t     *testing.T
	line  *Line
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func newController(t *testing.T, order *Order) *controller { return newControllerWith(t, order, 16) }

func newControllerWith(t *testing.T, order *Order, workers int) *controller {
	line := order.Line(unfinished)
	limiter := workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()
	c := &controller{t: t, line: line, queue: line.NewQueue(workers)("", limiter)}
	t.Cleanup(c.queue.ShutDown)
	return c
}

func object(namespace, name, uid string, working bool) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{}
	inst.Namespace, inst.Name, inst.UID = namespace, name, types.UID(uid)
	if working {
		inst.Status.JobID = "job"
	}
	return inst
}

func (c *controller) update(object client.Object) {
	c.line.Handler(&handler.EnqueueRequestForObject{}).Update(c.t.Context(), event.UpdateEvent{ObjectOld: object, ObjectNew: object}, c.queue)
}

func (c *controller) gone(object client.Object) {
	c.line.Handler(&handler.EnqueueRequestForObject{}).Delete(c.t.Context(), event.DeleteEvent{Object: object}, c.queue)
}

// take returns the names of all that waits, in the order in which one worker gets it.
func (c *controller) take() []string {
	var names []string
	for c.queue.Len() > 0 {
		request, _ := c.queue.Get()
		c.queue.Done(request)
		names = append(names, request.Name)
	}
	return names
}

func (c *controller) expect(reason string, want ...string) {
	c.t.Helper()
	if got := c.take(); !slices.Equal(got, want) {
		c.t.Errorf("%s: %v come, want %v", reason, got, want)
	}
}

// TestOldestFirst: events of an older job overtake those of newer ones, in one
// namespace.
func TestOldestFirst(t *testing.T) {
	c := newController(t, &Order{})
	for _, name := range []string{"first", "second", "third"} {
		c.update(object("a", name, name, true))
	}
	c.expect("as they came", "first", "second", "third")
	for _, name := range []string{"third", "settled", "first", "second"} {
		c.update(object("a", name, name, name != "settled"))
	}
	c.expect("by the age of the job; what has none comes last", "first", "second", "third", "settled")
}

// TestRanksEnd: a place ends with the job and with the object, however it ends.
func TestRanksEnd(t *testing.T) {
	for _, test := range []struct {
		reason string
		end    func(c *controller)
		want   []string
	}{
		{"no job has ended: the order stays", func(*controller) {}, []string{"old", "young"}},
		{"the job has ended and another one has begun", func(c *controller) {
			c.update(object("a", "old", "1", false))
		}, []string{"young", "old"}},
		{"the object was deleted, and another has its name", func(c *controller) {
			c.gone(object("a", "old", "1", true))
		}, []string{"young", "old"}},
		{"the object was deleted, another has its name, and the watch has missed the deletion", func(c *controller) {
			c.update(object("a", "old", "2", true))
		}, []string{"young", "old"}},
		{"a deletion that comes late again", func(c *controller) {
			c.gone(object("a", "unknown", "3", true))
		}, []string{"old", "young"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			order := &Order{}
			c := newController(t, order)
			c.update(object("a", "old", "1", true))
			c.update(object("a", "young", "y", true))
			test.end(c)
			c.take()
			uid := "1"
			if test.want[0] == "young" {
				uid = "2"
			}
			c.update(object("a", "young", "y", true))
			c.update(object("a", "old", uid, true))
			c.expect(test.reason, test.want...)
			c.update(object("a", "young", "y", false))
			c.gone(object("a", "old", uid, true))
			if order.Ranks() != 0 || len(c.line.members) != 0 {
				t.Errorf("%d ranks and %d members are left", order.Ranks(), len(c.line.members))
			}
		})
	}
}

// TestKindsShareAJob: the rank of a job lasts as long as one object of any
// controller is at work for it.
func TestKindsShareAJob(t *testing.T) {
	order := &Order{}
	parents, children := newController(t, order), newController(t, order)
	parents.update(object("a", "shop", "p", true))
	parents.update(object("a", "late", "l", true))
	children.update(object("a", "late", "cl", true))
	children.update(object("a", "shop", "c", true))
	children.expect("the age of the job counts, not that of the child", "shop", "late")
	children.update(object("a", "shop", "c", false))
	parents.take()
	parents.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "a", Name: "late"}})
	parents.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "a", Name: "shop"}})
	parents.expect("the parent is still at work", "shop", "late")
	if order.Ranks() != 2 {
		t.Errorf("%d ranks", order.Ranks())
	}
	parents.update(object("a", "shop", "p", false))
	if order.Ranks() != 1 {
		t.Errorf("%d ranks, the job of shop has ended", order.Ranks())
	}
}

// TestTimersKeepTheOrder: what comes back after a pause has the place of its job,
// and an event before makes the timer needless.
func TestTimersKeepTheOrder(t *testing.T) {
	c := newController(t, &Order{})
	requests, ok := c.queue.(*requests)
	if !ok {
		t.Fatalf("the queue is a %T", c.queue)
	}
	old := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "a", Name: "old"}}
	c.update(object("a", "old", "1", true))
	c.update(object("a", "young", "2", true))
	c.take()
	c.queue.AddAfter(old, 1)
	request, _ := c.queue.Get()
	if request != old {
		t.Errorf("%s comes", request)
	}
	c.queue.Done(request)
	c.queue.AddAfter(old, 100*365*24*3600*1e9)
	c.queue.AddAfter(old, 200*365*24*3600*1e9)
	c.update(object("a", "old", "1", true))
	c.expect("the event", "old")
	if len(requests.timers) != 0 {
		t.Error("the timer is kept although the request was worked on since")
	}
	c.queue.AddRateLimited(old)
	c.queue.AddRateLimited(old)
	if c.queue.NumRequeues(old) != 2 {
		t.Errorf("%d pauses", c.queue.NumRequeues(old))
	}
	c.queue.Forget(old)
	if c.queue.NumRequeues(old) != 0 {
		t.Error("the pauses are not forgotten")
	}
	if request, _ := c.queue.Get(); request != old {
		t.Errorf("%s comes after its pause", request)
	}
	c.queue.ShutDown()
	c.queue.AddAfter(old, 1)
	if len(requests.timers) != 0 {
		t.Error("a timer is set after the end")
	}
}

// TestNamespacesShare: a namespace with much to do holds its share, eight of sixteen workers, and
// another one comes later, when there are no more workers.
func TestNamespacesShare(t *testing.T) {
	c := newController(t, &Order{})
	for i := range 100 {
		c.update(object("greedy", fmt.Sprint(i), fmt.Sprint(i), true))
	}
	var busy []reconcile.Request
	get := func() reconcile.Request {
		request, _ := c.queue.Get()
		busy = append(busy, request)
		return request
	}
	for range 8 {
		if request := get(); request.Namespace != "greedy" {
			t.Fatalf("%s comes", request)
		}
	}
	for i := range 10 {
		c.update(object("modest", fmt.Sprint(i), fmt.Sprint("m", i), true))
	}
	for i := range 4 {
		c.queue.Done(busy[i])
		if request := get(); request.Namespace != "modest" {
			t.Errorf("turn %d goes to %s, which has more already", i, request)
		}
	}
	held := map[string]int{}
	for _, request := range busy[4:] {
		held[request.Namespace]++
	}
	if held["greedy"] != 4 || held["modest"] != 4 {
		t.Errorf("both wait, but the workers are held like this: %v", held)
	}
}

// TestConcurrentUse lets the race detector look at events, workers and timers.
func TestConcurrentUse(t *testing.T) {
	order := &Order{}
	c := newController(t, order)
	const objects, rounds = 20, 50
	done := make(chan map[string]int)
	for range 4 {
		go func() {
			seen := map[string]int{}
			for {
				request, shutdown := c.queue.Get()
				if shutdown {
					done <- seen
					return
				}
				seen[request.Name]++
				if seen[request.Name]%3 == 0 {
					c.queue.AddAfter(request, 1000)
				}
				c.queue.Done(request)
			}
		}()
	}
	for round := range rounds {
		for i := range objects {
			c.update(object(fmt.Sprint("ns", i%3), fmt.Sprint(i), fmt.Sprint(i), round%2 == 0))
		}
	}
	for i := range objects {
		c.gone(object(fmt.Sprint("ns", i%3), fmt.Sprint(i), fmt.Sprint(i), false))
	}
	c.queue.ShutDownWithDrain()
	all := map[string]int{}
	for range 4 {
		for name, count := range <-done {
			all[name] += count
		}
	}
	if len(all) != objects || order.Ranks() != 0 {
		t.Errorf("%d of %d objects were seen, %d ranks are left", len(all), objects, order.Ranks())
	}
}
