package targetsync

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/workpool"
)

// TestPreempted: a run that is ended because others wait for its place has not failed. What
// it has written is told, and it begins anew at once.
func TestPreempted(t *testing.T) {
	made, holds := make(chan struct{}), make(chan struct{})
	var second atomic.Bool
	b := newBench(t, newGarden(t, "eu", "us"), withStatus(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			_, secret := object.(*corev1.Secret)
			switch {
			case secret && object.GetName() == "us" && second.CompareAndSwap(false, true):
				<-made
				close(holds)
				<-ctx.Done()
				return ctx.Err()
			case !secret && object.GetName() == "eu":
				defer close(made)
			}
			return c.Create(ctx, object, options...)
		},
	}), annotatedFleet(nil))
	b.runs = workpool.New[*outcome](t.Context(), workpool.Options{
		MaxConcurrent: 1, MaxPerNamespace: 1, MaxResults: 4, PreemptAfter: time.Millisecond, Timeout: time.Minute, Enqueue: func(key types.NamespacedName) { b.enqueued <- key },
	})
	look := func() ctrl.Result {
		t.Helper()
		result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	look()
	<-holds
	other := types.NamespacedName{Namespace: "red", Name: "other"}
	_, _, _ = b.runs.Fetch(other, workpool.Version{}, func(context.Context) (*outcome, error) { return &outcome{}, nil })
	for <-b.enqueued != key {
		continue
	}
	if result := look(); result.RequeueAfter <= 0 || result.RequeueAfter > time.Second {
		t.Errorf("it begins anew in %s", result.RequeueAfter)
	}
	if ready := conditionOf(b.stored(t).Status.Conditions, v1alpha1.TargetSyncReady); ready.Type != "" || b.memories.of(key, "u").failures != 0 {
		t.Errorf("it counts as a failure: %+v", ready)
	}
	emitted := ""
	for len(b.events.Events) > 0 {
		emitted += <-b.events.Events + "\n"
	}
	if !strings.Contains(emitted, "created 1 Targets: eu") || strings.Contains(emitted, "Warning") {
		t.Errorf("the events are %q", emitted)
	}
	b.settle(t)
	if sync := b.stored(t); sync.Status.SyncedTargets != 2 || conditionOf(sync.Status.Conditions, v1alpha1.TargetSyncReady).Status != v1alpha1.ConditionTrue {
		t.Errorf("%+v", sync.Status)
	}
}
