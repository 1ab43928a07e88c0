package queue

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Forgetting ends what a controller remembers of objects when the event of their end comes,
// before that is handled. A controller learns of most ends by what it does itself; but
// somebody may take a finalizer away, and of what was written last to let an object go no
// cache ever shows anything.
func Forgetting(forget func(client.Object), inner handler.EventHandler) handler.EventHandler {
	return &forgetting{inner, forget}
}

type forgetting struct {
	handler.EventHandler
	forget func(client.Object)
}

// Delete implements handler.EventHandler.
func (f *forgetting) Delete(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	f.forget(e.Object)
	f.EventHandler.Delete(ctx, e, queue)
}
