package seniority

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
)

// TestOldestFirst shows that events of an older job overtake those of newer ones,
// and that a finished job loses its place.
func TestOldestFirst(t *testing.T) {
	order := &Order{}
	queue := priorityqueue.New[reconcile.Request]("test")
	defer queue.ShutDown()
	wake := func(name string) {
		inst := &v1alpha1.Installation{}
		inst.Name = name
		order.Handler(&handler.EnqueueRequestForObject{}).Generic(t.Context(), event.GenericEvent{Object: inst}, queue)
	}
	next := func() string {
		request, _ := queue.Get()
		queue.Done(request)
		return request.Name
	}
	for _, name := range []string{"first", "second", "third"} {
		wake(name)
	}
	if got := next(); got != "first" {
		t.Fatalf("%s comes first", got)
	}
	wake("first")
	if got := next(); got != "first" {
		t.Errorf("%s comes before the oldest job", got)
	}
	order.Done(types.NamespacedName{Name: "first"})
	wake("first")
	for _, want := range []string{"second", "third", "first"} {
		if got := next(); got != want {
			t.Errorf("%s comes, want %s", got, want)
		}
	}
}
