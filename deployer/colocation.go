package deployer

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/queue"
)

// Order is the order in which the jobs of a process came: the items of older jobs are processed
// first. Order is for the server of Landscaper, whose controllers share one.
type Order interface {
	// Line adds a deployer to the order. AtWork reports whether an item has a job, and of which
	// Execution: all items of an Execution share a place.
	Line(atWork func(item client.Object) (job types.NamespacedName, atWork bool)) Line
}

// Line is the queue of one deployer in an Order.
type Line interface {
	// NewQueue returns what makes the queue for a number of workers. A namespace gets half of them
	// at most.
	NewQueue(workers int) func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request]
	// Handler lets the line see the events of items before they are handled.
	Handler(inner handler.EventHandler) handler.EventHandler
	// Observe records what the deployer knows of an item before its event arrives.
	Observe(item client.Object)
	// Member returns the UID of the item with a job that has a name; empty without one.
	Member(key types.NamespacedName) types.UID
	// Forget records that an item is deleted.
	Forget(key types.NamespacedName, uid types.UID)
}

// Attempts notes attempts before they begin, and may end them. It is for the server of Landscaper.
type Attempts interface {
	// Begin notes an attempt, which works with the context that it returns; end is called when the
	// attempt is over, and returns the reason of its error. An error of Begin says why the attempt
	// must not begin.
	Begin(ctx context.Context, item types.NamespacedName, uid types.UID) (with context.Context, end func(error) error, err error)
}

// Dispatcher passes jobs from the Executions of a process to its deployers without a write. It is
// for the server of Landscaper.
type Dispatcher interface {
	// Register makes a deployer take all jobs of a type here. Notify is called with the item of
	// each job, as the item is stored.
	Register(of v1alpha1.DeployItemType, notify func(item *v1alpha1.DeployItem))
	// Handler lets the dispatcher see the events of items before they are handled.
	Handler(inner handler.EventHandler) handler.EventHandler
	// Overlay returns an item from a cache with its dispatched job, or the item itself.
	Overlay(item *v1alpha1.DeployItem) *v1alpha1.DeployItem
	// ObservedVersion is the newest resource version that the cache has shown in a namespace.
	ObservedVersion(namespace string) string
	// ObserveAbsence records that the cache had no such item after it had shown that version, and
	// reports whether the item does not exist.
	ObserveAbsence(key types.NamespacedName, seen string) bool
}

var (
	_ Line = (*queue.Line)(nil)
	// noDispatcher is the dispatcher of a deployer whose jobs all come in the status of items.
	noDispatcher Dispatcher = (*dispatch.Dispatcher)(nil)
)

// lineIn returns the queue of a deployer in an order; without an order, the deployer has its own.
func lineIn(order Order, atWork func(client.Object) (types.NamespacedName, bool)) Line {
	if order == nil {
		return (&queue.Order{}).Line(atWork)
	}
	return order.Line(atWork)
}
