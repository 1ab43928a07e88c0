package deployer

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/queue"
)

// without removes the job that newItem has given an item.
func without(item *v1alpha1.DeployItem) { item.Status = v1alpha1.DeployItemStatus{} }

// TestDispatchedJob: a job that is dispatched in the process is stored with the end of the work,
// and not before, unless there is something to report.
func TestDispatchedJob(t *testing.T) {
	script := &script{}
	s := onStage(t, script, newItem(without))
	dispatcher := &dispatch.Dispatcher{}
	s.reconciler.options.Dispatcher = dispatcher
	s.look()
	if len(script.calls) != 0 {
		t.Fatalf("work without a job: %v", script.calls)
	}
	dispatcher.Register("test", func(item *v1alpha1.DeployItem) { s.reconciler.enqueue(keyOf(item)) })
	before := s.item()
	if !dispatcher.Dispatch(before.DeepCopy(), "job", s.clock) || len(s.enqueued) != 1 {
		t.Fatalf("the item is not enqueued: %v", s.enqueued)
	}
	s.look()
	done := s.item()
	if done.Status.JobID != "job" || done.Status.JobIDFinished != "job" || done.Status.Phase != v1alpha1.DeployItemPhases.Succeeded ||
		done.Status.JobIDGenerationTime == nil || done.Status.TransitionTimes.TriggerTime == nil {
		t.Errorf("status %+v", done.Status)
	}
	if calls := len(script.calls); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	s.look()
	if len(script.calls) != 1 || dispatcher.Pending() != 0 {
		t.Errorf("the job is done twice: %v, %d open", script.calls, dispatcher.Pending())
	}
}

// TestDispatchedDeletion: an item is deleted although the job of its deletion is not stored.
func TestDispatchedDeletion(t *testing.T) {
	s := onStage(t, &script{}, newItem(without))
	dispatcher := &dispatch.Dispatcher{}
	s.reconciler.options.Dispatcher = dispatcher
	dispatcher.Register("test", func(*v1alpha1.DeployItem) {})
	if err := s.reconciler.client.Delete(t.Context(), s.item()); err != nil {
		t.Fatal(err)
	}
	s.look()
	dispatcher.Dispatch(s.item(), "job", s.clock)
	s.look()
	// The cache comes to the end of the item.
	dispatcher.Observe(&v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, ResourceVersion: "10000"}})
	if err := s.reconciler.client.Get(t.Context(), key, &v1alpha1.DeployItem{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Fatalf("the item is still there: %v", err)
	}
	s.look()
	if open := dispatcher.Pending(); open != 0 {
		t.Errorf("%d jobs of deleted items are remembered", open)
	}
}

// TestNothingIsLeft: items that are created, get a job and are deleted leave nothing in the
// dispatcher and no place in the queue, whatever of that the deployer has seen: also if the
// deletion event comes before the job.
func TestNothingIsLeft(t *testing.T) {
	const items = 10000
	s := onStage(t, &script{}, newItem(without))
	dispatcher, order := &dispatch.Dispatcher{}, &queue.Order{}
	s.reconciler.options.Dispatcher = dispatcher
	line := order.Line(s.reconciler.atWork)
	s.reconciler.line = line
	events := dispatcher.Handler(line.Handler(handler.Funcs{}))
	dispatcher.Register("test", func(item *v1alpha1.DeployItem) { line.Observe(item) })
	for i := range items {
		item := newItem(without)
		item.Name, item.UID, item.ResourceVersion = fmt.Sprint("item-", i), types.UID(fmt.Sprint(i)), fmt.Sprint(2*i+1000)
		ended := item.DeepCopy()
		ended.ResourceVersion = fmt.Sprint(2*i + 1001)
		end := func() { events.Delete(t.Context(), event.DeleteEvent{Object: ended}, nil) }
		if i%2 == 0 {
			end()
		}
		dispatcher.Dispatch(item, "job", s.clock)
		if i%2 == 1 {
			end()
		}
		if _, err := s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOf(item)}); err != nil {
			t.Fatal(err)
		}
	}
	if dispatcher.Pending() != 0 || order.Ranks() != 0 {
		t.Errorf("%d jobs and %d places are left", dispatcher.Pending(), order.Ranks())
	}
}

// overtaken is a cache that gets an item right after a read that has not found it.
type overtaken struct {
	client.Client
	come func()
}

func (l *overtaken) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	err := l.Client.Get(ctx, key, into, options...)
	if come := l.come; apierrors.IsNotFound(err) && come != nil {
		l.come = nil
		come()
	}
	return err
}

// TestItemAppearsMeanwhile: a job is dispatched before the cache shows its item, which comes after
// the deployer has not found it. The event of the item enqueues it once more: then its job must
// still be there, since the Execution counts it as dispatched, and looks again only when it is too
// late.
func TestItemAppearsMeanwhile(t *testing.T) {
	script := &script{}
	s := onStage(t, script)
	dispatcher := &dispatch.Dispatcher{}
	s.reconciler.options.Dispatcher = dispatcher
	dispatcher.Register("test", func(*v1alpha1.DeployItem) {})
	item := newItem(without)
	item.ResourceVersion = "1"
	dispatcher.Dispatch(item.DeepCopy(), "job", s.clock)

	cache := s.reconciler.client
	s.reconciler.client = &overtaken{cache, func() {
		item.ResourceVersion = ""
		if err := cache.Create(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		dispatcher.Observe(item)
	}}
	s.look()
	if len(script.calls) != 0 || dispatcher.Pending() != 1 {
		t.Fatalf("calls %v, %d jobs in the dispatcher", script.calls, dispatcher.Pending())
	}
	s.look()
	if len(script.calls) != 1 {
		t.Errorf("the job is lost: %v", script.calls)
	}
}
