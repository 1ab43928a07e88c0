package execution

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
)

// lateItems is a cache that shows no item, and an API server that counts reads.
type lateItems struct {
	client.Client
	late bool
	gets int
}

// List implements client.Reader.
func (c *lateItems) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if c.late {
		return nil
	}
	return c.Client.List(ctx, list, options...)
}

// countedReads counts what the API server is asked for.
type countedReads struct {
	client.Reader
	of *lateItems
}

// Get implements client.Reader.
func (c countedReads) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	c.of.gets++
	return c.Reader.Get(ctx, key, object, options...)
}

// TestLateItemsCostNoRequests: an Execution is reconciled many times while the cache does not show
// the items that it has created, because the API server was too busy for one of them. It waits for
// the items: none is created or read again.
func TestLateItemsCostNoRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}, v1alpha1.DeployItemTemplate{Name: "two"}, v1alpha1.DeployItemTemplate{Name: "three"}))
		b.Parallelizer = func(count int, call func(int)) {
			for i := range count {
				call(i)
			}
		}
		cache := &lateItems{Client: b.api, late: true}
		b.Client, b.Reader, b.Now = cache, countedReads{b.api, cache}, time.Now
		creates := 0
		b.creating = func(item *v1alpha1.DeployItem) error {
			creates++
			if itemorder.NameOf(item) == "three" && cache.late {
				return apierrors.NewTooManyRequests("busy", 1)
			}
			return nil
		}
		b.handOver(t, "a")
		for range 6 {
			if result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err == nil && result.RequeueAfter <= 0 {
				t.Fatalf("an end without a wake: %+v", result)
			}
			<-time.After(20 * time.Millisecond)
		}
		if cache.gets > 0 || creates > 3 {
			t.Errorf("%d reads and %d creates for 3 items", cache.gets, creates)
		}
		cache.late = false
		b.reconcile(t)
		b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
		b.reconcile(t)
		if s := b.execution(t).Status; s.ExecutionPhase != "Succeeded" || len(b.items(t)) != 3 {
			t.Errorf("%d items, %+v", len(b.items(t)), s)
		}
	})
}
