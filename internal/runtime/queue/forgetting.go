package queue

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// OnDelete drops what a controller remembers of an object when the event of its deletion
// comes, before the event is handled. A controller causes most deletions itself; but a user
// may remove a finalizer, and no cache ever shows the last write that let an object be deleted.
func OnDelete(forget func(client.Object), inner handler.EventHandler) handler.EventHandler {
	return &deleteHandler{inner, forget}
}

type deleteHandler struct {
	handler.EventHandler
	forget func(client.Object)
}

// Delete implements handler.EventHandler.
func (f *deleteHandler) Delete(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	f.forget(e.Object)
	f.EventHandler.Delete(ctx, e, queue)
}
