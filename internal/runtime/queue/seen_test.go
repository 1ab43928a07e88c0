package queue

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// TestLastReportCounts: while an event of an object is evaluated, a caller reports a newer
// state of the object. The event, which has the older state, must not win.
func TestLastReportCounts(t *testing.T) {
	order, handed := &Order{}, false
	reported := make(chan struct{})
	var line *Line
	line = order.Line(func(item client.Object) (types.NamespacedName, bool) {
		works := handed
		if !works {
			handed = true
			go func() {
				defer close(reported)
				line.Observe(item)
			}()
			if line.seeing.TryLock() {
				// The caller need not wait until the event is recorded.
				line.seeing.Unlock()
				<-reported
			}
		}
		return client.ObjectKeyFromObject(item), works
	})
	line.Observe(object("a", "item", "1", false))
	<-reported
	if order.Ranks() != 1 {
		t.Errorf("%d ranks: the dispatched job has lost its place", order.Ranks())
	}
}

// TestPlacesStay: an event of an older version of an object, or of another object of the same
// name, does not end a rank.
func TestPlacesStay(t *testing.T) {
	version := func(name, uid, version string, working bool) client.Object {
		of := object("a", name, uid, working)
		of.ResourceVersion = version
		return of
	}
	for _, test := range []struct {
		reason string
		then   func(c *controller)
		stays  bool
	}{
		{"a late event from before the job: the rank stays", func(c *controller) { c.update(version("item", "2", "9", false)) }, true},
		{"the event of the deletion of an earlier object: the rank stays", func(c *controller) { c.gone(version("item", "1", "9", true)) }, true},
		{"a caller does not find an earlier object: the rank stays", func(c *controller) { c.line.Forget(types.NamespacedName{Namespace: "a", Name: "item"}, "1") }, true},
		{"the end of the job: the rank ends", func(c *controller) { c.update(version("item", "2", "11", false)) }, false},
		{"versions that cannot be compared: the rank ends", func(c *controller) { c.update(version("item", "2", "new", false)) }, false},
		{"an earlier object that was not known: the rank ends", func(c *controller) { c.update(version("item", "3", "9", false)) }, false},
		{"the deletion of the object: the rank ends", func(c *controller) { c.gone(version("item", "2", "12", true)) }, false},
		{"a caller does not find the object: the rank ends", func(c *controller) {
			key := types.NamespacedName{Namespace: "a", Name: "item"}
			c.line.Forget(key, c.line.Member(key))
		}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			order := &Order{}
			c := newController(t, order)
			c.update(version("item", "2", "10", true))
			test.then(c)
			if stays := order.Ranks() == 1; stays != test.stays {
				t.Errorf("it has its place: %t", stays)
			}
		})
	}
}

// TestHistoryIsRewound: a watch that goes back shows what a restored store has. An object that
// is not at work there loses its place.
func TestHistoryIsRewound(t *testing.T) {
	order := &Order{}
	line := order.Line(func(item client.Object) (types.NamespacedName, bool) {
		return client.ObjectKeyFromObject(item), item.GetResourceVersion() == "10"
	})
	before, after := object("a", "item", "1", true), object("a", "item", "1", false)
	before.ResourceVersion, after.ResourceVersion = "10", "9"
	events := line.Handler(handler.Funcs{})
	events.Create(t.Context(), event.CreateEvent{Object: before}, nil)
	if order.Ranks() != 1 {
		t.Fatalf("%d ranks", order.Ranks())
	}
	events.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, nil)
	if order.Ranks() != 0 {
		t.Error("it keeps the place that it had in another history")
	}
}
