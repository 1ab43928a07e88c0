package deployer

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/queue"
)

// Order is the order in which the jobs of a process came: the items of older jobs go first.
// It is for the server of Landscaper, whose controllers share one.
type Order interface {
	// Line adds a deployer to the order. AtWork reports whether an item has a job, and of which
	// Execution: all its items go together.
	Line(atWork func(item client.Object) (job types.NamespacedName, atWork bool)) Line
}

// Line is the queue of one deployer in an Order.
type Line interface {
	// NewQueue makes the queue.
	NewQueue(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request]
	// Handler lets the line see the events of items before they are handled.
	Handler(inner handler.EventHandler) handler.EventHandler
	// Observe notes what the deployer knows of an item before an event tells it.
	Observe(item client.Object)
	// Member is the item at work that has a name; empty if there is none.
	Member(key types.NamespacedName) types.UID
	// Forget notes that an item is gone.
	Forget(key types.NamespacedName, uid types.UID)
}

// Dispatcher is where the Executions of a process hand jobs over to its deployers without a write.
// It is for the server of Landscaper.
type Dispatcher interface {
	// Register says that a deployer takes all jobs of a type here. It is told about the item of
	// each, as it is stored.
	Register(of v1alpha1.DeployItemType, told func(item *v1alpha1.DeployItem))
	// Handler lets the desk see the events of items before they are handled.
	Handler(inner handler.EventHandler) handler.EventHandler
	// Overlay returns an item from a cache with the job that was handed over, or the item itself.
	Overlay(item *v1alpha1.DeployItem) *v1alpha1.DeployItem
	// ObservedVersion is how far the cache has come in a namespace.
	ObservedVersion(namespace string) uint64
	// ObserveAbsence says that the cache has shown no such item after it had come as far as that, and
	// reports whether there is none.
	ObserveAbsence(key types.NamespacedName, seen uint64) bool
}

var (
	_ Line = (*queue.Line)(nil)
	// noDesk is the desk of a deployer to which nobody hands jobs over.
	noDesk Dispatcher = (*dispatch.Dispatcher)(nil)
)

// lineIn returns the queue of a deployer in an order; without one, it is alone.
func lineIn(order Order, atWork func(client.Object) (types.NamespacedName, bool)) Line {
	if order == nil {
		return (&queue.Order{}).Line(atWork)
	}
	return order.Line(atWork)
}
