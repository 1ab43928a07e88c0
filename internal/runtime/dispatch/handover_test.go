package dispatch

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"go.landscaper.dev/api/v1alpha1"
)

func newItem(version string) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "item", UID: "a", ResourceVersion: version},
		Spec:       v1alpha1.DeployItemSpec{Type: "ours"},
		Status:     v1alpha1.DeployItemStatus{JobID: "before", JobIDFinished: "before", Phase: "Succeeded"},
	}
}

// TestDesk: which version of an item has the job that was handed over.
func TestDesk(t *testing.T) {
	now := time.Unix(1000, 999)
	for _, test := range []struct {
		reason string
		change func(item *v1alpha1.DeployItem)
		want   string
	}{
		{"the one that it was handed to", func(*v1alpha1.DeployItem) {}, "job"},
		{"a newer one", func(item *v1alpha1.DeployItem) { item.ResourceVersion = "11" }, "job"},
		{"an older one may want something else", func(item *v1alpha1.DeployItem) { item.ResourceVersion = "9" }, "before"},
		{"another item of its name", func(item *v1alpha1.DeployItem) { item.UID = "b" }, "before"},
		{"another item", func(item *v1alpha1.DeployItem) { item.Name = "other" }, "before"},
		{"a job of its own gives way", func(item *v1alpha1.DeployItem) { item.Status.JobID = "own" }, "job"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var told *v1alpha1.DeployItem
			desk := &Desk{}
			heard := ""
			desk.Handed = func(item *v1alpha1.DeployItem) { heard = item.Status.JobID }
			// Whoever is told looks what the item shows.
			desk.Serve("ours", func(item *v1alpha1.DeployItem) { told = desk.Show(item) })
			if !desk.Hand(newItem("10"), "job", now) || told == nil || told.Status.JobID != "job" || heard != "job" {
				t.Fatalf("the deployer was told %+v", told)
			}
			item := newItem("10")
			test.change(item)
			before := item.DeepCopy()
			shown := desk.Show(item)
			if shown.Status.JobID != test.want || item.Status.JobID != before.Status.JobID {
				t.Errorf("job %s of an item with %s", shown.Status.JobID, item.Status.JobID)
			}
			if times := shown.Status.TransitionTimes; test.want == "job" && (times == nil || times.InitTime != nil || !times.TriggerTime.Equal(shown.Status.JobIDGenerationTime) || times.TriggerTime.Nanosecond() != 0) {
				t.Errorf("times %+v", times)
			}
		})
	}
}

// end lets the desk see the event of the deletion of an item.
func end(desk *Desk, item *v1alpha1.DeployItem) {
	desk.Handler(handler.Funcs{}).Delete(context.Background(), event.DeleteEvent{Object: item}, nil)
}

// TestForgetting: what was handed over is forgotten when the status shows it, or when the
// item is gone; one that was created just now is on its way.
func TestForgetting(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns", Name: "item"}
	hand := func() *Desk {
		desk := &Desk{}
		desk.Serve("ours", func(*v1alpha1.DeployItem) {})
		desk.Hand(newItem("10"), "job", time.Unix(1000, 0))
		return desk
	}
	for _, test := range []struct {
		reason string
		do     func(desk *Desk)
		open   int
	}{
		{"it is stored", func(desk *Desk) {
			stored := newItem("11")
			stored.Status.JobID = "job"
			desk.Show(stored)
		}, 0},
		{"it is done, and somebody has given the item another one", func(desk *Desk) {
			done := newItem("12")
			done.Status.JobID, done.Status.JobIDFinished = "own", "job"
			if shown := desk.Show(done); shown.Status.JobID != "own" {
				t.Errorf("job %s is done again", shown.Status.JobID)
			}
		}, 0},
		{"a cache does not show the new item yet", func(desk *Desk) { desk.Gone(key, desk.Seen("ns")) }, 1},
		{"it has come to something newer, so that the item is gone", func(desk *Desk) { desk.Saw(newItem("11")); desk.Gone(key, desk.Seen("ns")) }, 0},
		{"the watch of another namespace is further", func(desk *Desk) {
			elsewhere := newItem("11")
			elsewhere.Namespace = "other"
			desk.Saw(elsewhere)
			desk.Gone(key, desk.Seen("ns"))
		}, 1},
		{"it has come to something older", func(desk *Desk) { desk.Saw(newItem("9")); desk.Gone(key, desk.Seen("ns")) }, 1},
		{"it has come to the item since it was looked at", func(desk *Desk) {
			seen := desk.Seen("ns")
			desk.Saw(newItem("10"))
			desk.Gone(key, seen)
		}, 1},
		{"its end is seen", func(desk *Desk) { end(desk, newItem("9")) }, 0},
		{"the end of an earlier item of its name is seen", func(desk *Desk) {
			earlier := newItem("9")
			earlier.UID = "z"
			end(desk, earlier)
		}, 1},
		{"the next job", func(desk *Desk) { desk.Hand(newItem("12"), "next", time.Unix(1001, 0)) }, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			desk := hand()
			test.do(desk)
			if desk.Open() != test.open {
				t.Errorf("%d jobs are open, want %d", desk.Open(), test.open)
			}
		})
	}
}

// TestNobodyComes: a job for a deployer elsewhere has to be stored.
func TestNobodyComes(t *testing.T) {
	other := &Desk{}
	other.Serve("other", func(*v1alpha1.DeployItem) { t.Error("it is told about a job that is not its own") })
	for reason, desk := range map[string]*Desk{"no desk": nil, "nobody": {}, "another deployer": other} {
		t.Run(reason, func(t *testing.T) {
			item := newItem("10")
			desk.Serve("another", func(*v1alpha1.DeployItem) {})
			if desk.Hand(item, "job", time.Unix(1000, 0)) || item.Status.JobID != "before" || desk.Show(item) != item {
				t.Errorf("the job was handed over: %+v", item.Status)
			}
			desk.Gone(keyOf(item), desk.Seen("ns"))
		})
	}
}

// TestHandedBefore: whoever counts hears of a job before a deployer can find it at the desk.
// A deployer that looks at the item for another reason would otherwise begin and end it
// before, and it would be counted as under way for ever.
func TestHandedBefore(t *testing.T) {
	desk, heard := &Desk{}, false
	desk.Serve("ours", func(*v1alpha1.DeployItem) {})
	desk.Handed = func(*v1alpha1.DeployItem) {
		heard = true
		if shown := desk.Show(newItem("10")); shown.Status.JobID != "before" {
			t.Errorf("a deployer finds %s already", shown.Status.JobID)
		}
	}
	item := newItem("10")
	if !desk.Hand(item, "job", time.Unix(1000, 0)) || !heard || desk.Show(newItem("10")).Status.JobID != "job" {
		t.Errorf("the job was not handed over: heard %t", heard)
	}
}
