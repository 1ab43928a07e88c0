package queue

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestShare: how much of the workers one namespace gets.
func TestShare(t *testing.T) {
	for _, test := range []struct {
		reason         string
		workers, share int
	}{
		{"half of them", 30, 15},
		{"not more than half of an odd number", 5, 2},
		{"a single worker does the work", 1, 1},
		{"no number at all is one worker", 0, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := Share(test.workers); got != test.share {
				t.Errorf("%d of %d workers", got, test.workers)
			}
		})
	}
}

// pool are the workers of a controller, whose work ends when the test lets it.
type pool struct {
	began chan reconcile.Request
	end   map[string]chan struct{}
	group sync.WaitGroup
}

func startPool(c *controller, workers int, namespaces ...string) *pool {
	p := &pool{began: make(chan reconcile.Request, 1000), end: map[string]chan struct{}{}}
	for _, namespace := range namespaces {
		p.end[namespace] = make(chan struct{})
	}
	for range workers {
		p.group.Go(func() {
			for {
				request, shutdown := c.queue.Get()
				if shutdown {
					return
				}
				p.began <- request
				<-p.end[request.Namespace]
				c.queue.Done(request)
			}
		})
	}
	return p
}

// next returns what a worker begins.
func (p *pool) next(t *testing.T, reason string) reconcile.Request {
	t.Helper()
	select {
	case request := <-p.began:
		return request
	case <-time.After(time.Minute):
		t.Fatalf("%s: nothing begins", reason)
	}
	return reconcile.Request{}
}

// TestHalfAlone: slow work of a namespace that is alone holds half of the workers, so that work of
// another namespace begins at once, and what waits begins when a turn of its namespace ends.
func TestHalfAlone(t *testing.T) {
	const workers = 8
	c := newControllerWith(t, &Order{}, workers)
	p := startPool(c, workers, "greedy", "modest")
	for i := range 20 {
		c.update(object("greedy", fmt.Sprint(i), fmt.Sprint(i), true))
	}
	for range workers / 2 {
		p.next(t, "its share")
	}
	close(p.end["modest"])
	for i := range 20 {
		c.update(object("modest", fmt.Sprint(i), fmt.Sprint("m", i), true))
		if request := p.next(t, "others do not wait"); request.Namespace != "modest" {
			t.Fatalf("%s begins, although its namespace has half of the workers", request)
		}
	}
	for range 20 - workers/2 {
		p.end["greedy"] <- struct{}{}
		if request := p.next(t, "a turn has ended"); request.Namespace != "greedy" {
			t.Fatalf("%s begins", request)
		}
	}
	close(p.end["greedy"])
	c.queue.ShutDown()
	p.group.Wait()
}

// TestNoneIsLeftWaiting: whatever comes and ends in which order, all is done, although a worker
// sleeps while what waits is of namespaces that have their share.
func TestNoneIsLeftWaiting(t *testing.T) {
	const workers, namespaces, objects = 4, 3, 200
	c := newControllerWith(t, &Order{}, workers)
	var ends []string
	for i := range namespaces {
		ends = append(ends, fmt.Sprint("ns", i))
	}
	p := startPool(c, workers, ends...)
	for _, end := range p.end {
		close(end)
	}
	for i := range objects {
		for _, namespace := range ends {
			go c.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)}})
		}
	}
	for range namespaces * objects {
		p.next(t, "all is done")
	}
	c.queue.ShutDown()
	p.group.Wait()
}
