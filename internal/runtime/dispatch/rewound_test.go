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
	begin := func() (*Desk, handler.EventHandler) {
		desk := &Desk{}
		desk.Serve("ours", func(*v1alpha1.DeployItem) {})
		events := desk.Handler(handler.Funcs{})
		events.Create(context.Background(), event.CreateEvent{Object: newItem("100")}, nil)
		return desk, events
	}
	t.Run("a job of before is not shown when its version comes again", func(t *testing.T) {
		desk, events := begin()
		desk.Hand(newItem("100"), "job", time.Unix(1000, 0))
		events.Update(context.Background(), event.UpdateEvent{ObjectOld: newItem("100"), ObjectNew: newItem("50")}, nil)
		if shown := desk.Show(newItem("101")); shown.Status.JobID != "before" || desk.Open() != 0 {
			t.Errorf("job %s, %d are open", shown.Status.JobID, desk.Open())
		}
	})
	t.Run("also if that is for a version that was written since", func(t *testing.T) {
		desk, events := begin()
		desk.Rewound()
		desk.Hand(newItem("51"), "job", time.Unix(1000, 0))
		events.Update(context.Background(), event.UpdateEvent{ObjectOld: newItem("100"), ObjectNew: newItem("50")}, nil)
		if shown := desk.Show(newItem("51")); shown.Status.JobID != "job" || desk.Open() != 1 {
			t.Errorf("job %s, %d are open", shown.Status.JobID, desk.Open())
		}
	})
	t.Run("a job that was handed over before the deployer hears of the older item stays", func(t *testing.T) {
		desk, events := begin()
		desk.Hand(newItem("50"), "job", time.Unix(1000, 0))
		events.Update(context.Background(), event.UpdateEvent{ObjectOld: newItem("100"), ObjectNew: newItem("50")}, nil)
		if shown := desk.Show(newItem("50")); shown.Status.JobID != "job" || desk.Open() != 1 {
			t.Errorf("job %s, %d are open", shown.Status.JobID, desk.Open())
		}
	})
	t.Run("what was handed over before is handed over again by an Execution that is still at it", func(t *testing.T) {
		desk, _ := begin()
		var lost []types.NamespacedName
		desk.Lost(func(execution types.NamespacedName) { lost = append(lost, execution) })
		item := newItem("40")
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "exec"}
		desk.Hand(item, "job", time.Unix(1000, 0))
		desk.Rewound()
		if desk.Open() != 0 || len(lost) != 1 || lost[0] != (types.NamespacedName{Namespace: "ns", Name: "exec"}) {
			t.Errorf("%d are open, lost by %v", desk.Open(), lost)
		}
	})
	t.Run("an item that was created afterwards is on its way", func(t *testing.T) {
		desk, events := begin()
		desk.Rewound()
		events.Delete(context.Background(), event.DeleteEvent{Object: newItem("100"), DeleteStateUnknown: true}, nil)
		seen := desk.Seen("ns")
		desk.Hand(newItem("60"), "job", time.Unix(1000, 0))
		if desk.Gone(key, seen) || desk.Open() != 1 {
			t.Error("its job is lost before the cache has shown it")
		}
	})
}
