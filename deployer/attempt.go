package deployer

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Attempt carries out one attempt of the job of an item, as a controller does when the item is
// enqueued. It is for tests of deployers: the client stands for the resource cluster, and
// Options.Clusters for the target clusters. The status of the item has the result. What the
// deployer remembers is closed afterwards, as at the end of a process.
func Attempt(ctx context.Context, resources client.Client, options Options, item types.NamespacedName) error {
	r, err := newReconciler(options)
	if err != nil {
		return fmt.Errorf("attempt the job of DeployItem %s: %w", item, err)
	}
	r.client, r.live, r.events = resources, resources, noEvents{}
	r.followContexts = func(context.Context) error { return nil }
	defer r.memory.forget(item)
	_, err = r.Reconcile(ctx, ctrl.Request{NamespacedName: item})
	return err // says what was done
}

// noEvents records no events.
type noEvents struct{}

// Eventf implements events.EventRecorder.
func (noEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
