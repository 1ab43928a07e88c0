package targetsync

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
)

// TestRemoveAllTogether: a worker does not wait for each of many Targets in turn, and no
// Secret goes before the Targets.
func TestRemoveAllTogether(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	together := make(chan struct{})
	go func() { both.Wait(); close(together) }()
	var left atomic.Int32
	left.Store(2)
	r := runOn(t, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
		if _, target := object.(*v1alpha1.Target); !target {
			if left.Load() > 0 {
				t.Error("a Secret goes before the Targets")
			}
			return c.Delete(ctx, object, options...)
		}
		both.Done()
		select {
		case <-together:
		case <-time.After(10 * time.Second):
			t.Error("the Targets go one after the other")
		}
		defer left.Add(-1)
		return c.Delete(ctx, object, options...)
	}}, annotatedFleet(nil), ownSecret(unchanged), ownTarget(unchanged), ownTarget(func(target *v1alpha1.Target) { target.Name = "us" }))
	if err := r.removeAll(t.Context(), annotatedFleet(nil)); err != nil {
		t.Fatal(err)
	}
	if got := made(t, r.Client); got != "" {
		t.Errorf("left is %q", got)
	}
}
