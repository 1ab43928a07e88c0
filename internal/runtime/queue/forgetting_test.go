package queue

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// TestForgetting: an object is forgotten before the event of its deletion is handled, and
// with no other event.
func TestForgetting(t *testing.T) {
	c := newController(t, &Order{})
	var forgotten []string
	events := OnDelete(func(gone client.Object) {
		if c.queue.Len() != 0 {
			t.Error("the event is handled already")
		}
		forgotten = append(forgotten, string(gone.GetUID()))
	}, &handler.EnqueueRequestForObject{})
	old, young := object("a", "item", "1", true), object("a", "item", "2", true)
	events.Create(t.Context(), event.CreateEvent{Object: old}, c.queue)
	events.Update(t.Context(), event.UpdateEvent{ObjectOld: old, ObjectNew: young}, c.queue)
	events.Generic(t.Context(), event.GenericEvent{Object: young}, c.queue)
	c.expect("the events come through", "item")
	if len(forgotten) != 0 {
		t.Errorf("%v are forgotten", forgotten)
	}
	events.Delete(t.Context(), event.DeleteEvent{Object: young}, c.queue)
	c.expect("so does the end", "item")
	if !slices.Equal(forgotten, []string{"2"}) {
		t.Errorf("%v are forgotten", forgotten)
	}
}
