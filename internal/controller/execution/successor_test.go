package execution

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// interruptedCache is a cache that lets another replica act after the first read of what is reconciled.
type interruptedCache struct {
	client.Client
	act func()
}

// Get implements client.Reader.
func (c *interruptedCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, key, object, options...)
	c.interrupt()
	return err
}

// List implements client.Reader.
func (c *interruptedCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := c.Client.List(ctx, list, options...)
	c.interrupt()
	return err
}

func (c *interruptedCache) interrupt() {
	if act := c.act; act != nil {
		c.act = nil
		act()
	}
}

// TestItemsOfSuccessor: a replica has read an Execution, and is replaced before it reads the items.
// It does not write over the items that the next replica has written for a newer Execution.
func TestItemsOfSuccessor(t *testing.T) {
	wanted := func(value string) *runtime.RawExtension {
		return &runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"C","value":"` + value + `"}`)}
	}
	exec := withItems(v1alpha1.DeployItemTemplate{Name: "one"})
	b := newBench(t, exec)
	b.handOver(t, "a")
	b.reconcile(t)
	b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	b.reconcile(t)
	change := func(value string) {
		exec := b.execution(t)
		exec.Spec.DeployItems[0].Configuration = wanted(value)
		if err := b.api.Update(t.Context(), exec); err != nil {
			t.Fatal(err)
		}
	}
	change("old")
	b.handOver(t, "b")
	b.Client = &interruptedCache{Client: b.api, act: func() {
		change("new")
		next := *b
		next.Reconciler = &Reconciler{Client: b.api, Reader: b.api, Order: b.Order, Now: b.Now, NewJobID: b.NewJobID}
		next.reconcile(t)
	}}
	if result := b.reconcile(t); result.RequeueAfter == 0 {
		t.Error("there has to be another attempt")
	}
	if got, want := string(b.items(t)[0].Spec.Configuration.Raw), string(wanted("new").Raw); got != want {
		t.Errorf("the item has %s, and not %s", got, want)
	}
}
