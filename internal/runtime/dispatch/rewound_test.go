package dispatch

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"go.landscaper.dev/api/v1alpha1"
)

// TestHistoryIsRewound: after the store of the API server was restored from a backup, no job of
// before comes back, and none of afterwards is lost.
func TestHistoryIsRewound(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns", Name: "item"}
	begin := func() (*Dispatcher, handler.EventHandler) {
		dispatcher := &Dispatcher{}
		dispatcher.Register("ours", func(*v1alpha1.DeployItem) {})
		events := dispatcher.Handler(handler.Funcs{})
		events.Create(context.Background(), event.CreateEvent{Object: newItem("100")}, nil)
		return dispatcher, events
	}
	t.Run("a job of the lost history is not shown when its version comes again", func(t *testing.T) {
		dispatcher, events := begin()
		dispatcher.Dispatch(newItem("100"), "job", time.Unix(1000, 0))
		events.Update(context.Background(), event.UpdateEvent{ObjectOld: newItem("100"), ObjectNew: newItem("50")}, nil)
		if shown := dispatcher.Overlay(newItem("101")); shown.Status.JobID != "before" || dispatcher.Pending() != 0 {
			t.Errorf("job %s, %d are open", shown.Status.JobID, dispatcher.Pending())
		}
	})
	t.Run("a job for a version that was written after the restore stays", func(t *testing.T) {
		dispatcher, events := begin()
		dispatcher.Rewound()
		dispatcher.Dispatch(newItem("51"), "job", time.Unix(1000, 0))
		events.Update(context.Background(), event.UpdateEvent{ObjectOld: newItem("100"), ObjectNew: newItem("50")}, nil)
		if shown := dispatcher.Overlay(newItem("51")); shown.Status.JobID != "job" || dispatcher.Pending() != 1 {
			t.Errorf("job %s, %d are open", shown.Status.JobID, dispatcher.Pending())
		}
	})
	t.Run("a job that was dispatched before the deployer sees the older item stays", func(t *testing.T) {
		dispatcher, events := begin()
		dispatcher.Dispatch(newItem("50"), "job", time.Unix(1000, 0))
		events.Update(context.Background(), event.UpdateEvent{ObjectOld: newItem("100"), ObjectNew: newItem("50")}, nil)
		if shown := dispatcher.Overlay(newItem("50")); shown.Status.JobID != "job" || dispatcher.Pending() != 1 {
			t.Errorf("job %s, %d are open", shown.Status.JobID, dispatcher.Pending())
		}
	})
	t.Run("an Execution is notified that its dispatched job is lost", func(t *testing.T) {
		dispatcher, _ := begin()
		var lost []types.NamespacedName
		dispatcher.OnLost(func(execution types.NamespacedName) { lost = append(lost, execution) })
		item := newItem("40")
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "exec"}
		dispatcher.Dispatch(item, "job", time.Unix(1000, 0))
		dispatcher.Rewound()
		if dispatcher.Pending() != 0 || len(lost) != 1 || lost[0] != (types.NamespacedName{Namespace: "ns", Name: "exec"}) {
			t.Errorf("%d are open, lost by %v", dispatcher.Pending(), lost)
		}
	})
	t.Run("the job of an item that was created after the restore stays until the cache shows the item", func(t *testing.T) {
		dispatcher, events := begin()
		dispatcher.Rewound()
		events.Delete(context.Background(), event.DeleteEvent{Object: newItem("100"), DeleteStateUnknown: true}, nil)
		seen := dispatcher.ObservedVersion("ns")
		dispatcher.Dispatch(newItem("60"), "job", time.Unix(1000, 0))
		if dispatcher.ObserveAbsence(key, seen) || dispatcher.Pending() != 1 {
			t.Error("its job is lost before the cache has shown it")
		}
	})
}
