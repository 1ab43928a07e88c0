package execution

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
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

// staleCache shows an Execution as it was.
type staleCache struct {
	client.Client
	shown *v1alpha1.Execution
}

// Get implements client.Reader.
func (c *staleCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if exec, ok := object.(*v1alpha1.Execution); ok {
		c.shown.DeepCopyInto(exec)
		return nil
	}
	return c.Client.Get(ctx, key, object, options...)
}

// TestItemsOfNextExecution: a cache shows the job of the Installation before the Execution that was
// written for it. The items that only the older Execution does not want are not deleted, neither at the
// beginning of the job nor at that of its removal round.
func TestItemsOfNextExecution(t *testing.T) {
	for _, round := range []string{"b", job.RemovalOf("b")} {
		b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}))
		b.handOver(t, "a")
		b.reconcile(t)
		b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
		b.reconcile(t)
		want := func(names ...string) *v1alpha1.Execution {
			var templates []v1alpha1.DeployItemTemplate
			for _, name := range names {
				templates = append(templates, v1alpha1.DeployItemTemplate{Name: name})
			}
			exec := b.execution(t)
			exec.Spec = withItems(templates...).Spec
			if err := b.api.Update(t.Context(), exec); err != nil {
				t.Fatal(err)
			}
			return b.execution(t)
		}
		older := want("two")
		want("one", "two")
		older.Status.JobID = round // as if it was taken over
		b.Client = &staleCache{Client: b.api, shown: older}
		b.reconcile(t)
		if item := b.item(t, "one"); item == nil || item.DeletionTimestamp != nil {
			t.Errorf("an item that is wanted is deleted in round %s", round)
		}
	}
}
