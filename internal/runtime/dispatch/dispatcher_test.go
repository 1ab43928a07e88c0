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

// TestVersions: which version of an item has the dispatched job.
func TestVersions(t *testing.T) {
	now := time.Unix(1000, 999)
	for _, test := range []struct {
		reason string
		change func(item *v1alpha1.DeployItem)
		want   string
	}{
		{"the version of the dispatch has the job", func(*v1alpha1.DeployItem) {}, "job"},
		{"a newer version has the job", func(item *v1alpha1.DeployItem) { item.ResourceVersion = "11" }, "job"},
		{"an older version does not have the job: it may want something else", func(item *v1alpha1.DeployItem) { item.ResourceVersion = "9" }, "before"},
		{"an item of the same name with another UID does not have the job", func(item *v1alpha1.DeployItem) { item.UID = "b" }, "before"},
		{"an item of another name does not have the job", func(item *v1alpha1.DeployItem) { item.Name = "other" }, "before"},
		{"a job in the status of the item is replaced", func(item *v1alpha1.DeployItem) { item.Status.JobID = "own" }, "job"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var notified *v1alpha1.DeployItem
			dispatcher := &Dispatcher{}
			heard := ""
			dispatcher.OnDispatch = func(item *v1alpha1.DeployItem) { heard = item.Status.JobID }
			// A notified deployer reads the item through the dispatcher.
			dispatcher.Register("ours", func(item *v1alpha1.DeployItem) { notified = dispatcher.Overlay(item) })
			if !dispatcher.Dispatch(newItem("10"), "job", now) || notified == nil || notified.Status.JobID != "job" || heard != "job" {
				t.Fatalf("the deployer was notified of %+v", notified)
			}
			item := newItem("10")
			test.change(item)
			before := item.DeepCopy()
			shown := dispatcher.Overlay(item)
			if shown.Status.JobID != test.want || item.Status.JobID != before.Status.JobID {
				t.Errorf("job %s of an item with %s", shown.Status.JobID, item.Status.JobID)
			}
			if times := shown.Status.TransitionTimes; test.want == "job" && (times == nil || times.InitTime != nil || !times.TriggerTime.Equal(shown.Status.JobIDGenerationTime) || times.TriggerTime.Nanosecond() != 0) {
				t.Errorf("times %+v", times)
			}
		})
	}
}

// end passes the event of the deletion of an item to the dispatcher.
func end(dispatcher *Dispatcher, item *v1alpha1.DeployItem) {
	dispatcher.Handler(handler.Funcs{}).Delete(context.Background(), event.DeleteEvent{Object: item}, nil)
}

// TestForgetting: a dispatched job is forgotten when the status shows it, or when the item is
// deleted; it is kept for an item that was created just now and that no cache shows yet.
func TestForgetting(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns", Name: "item"}
	hand := func() *Dispatcher {
		dispatcher := &Dispatcher{}
		dispatcher.Register("ours", func(*v1alpha1.DeployItem) {})
		dispatcher.Dispatch(newItem("10"), "job", time.Unix(1000, 0))
		return dispatcher
	}
	for _, test := range []struct {
		reason string
		do     func(dispatcher *Dispatcher)
		open   int
	}{
		{"the status shows the job: it is forgotten", func(dispatcher *Dispatcher) {
			stored := newItem("11")
			stored.Status.JobID = "job"
			dispatcher.Overlay(stored)
		}, 0},
		{"the job is done, and another client has given the item another job: it is forgotten", func(dispatcher *Dispatcher) {
			done := newItem("12")
			done.Status.JobID, done.Status.JobIDFinished = "own", "job"
			if shown := dispatcher.Overlay(done); shown.Status.JobID != "own" {
				t.Errorf("job %s is done again", shown.Status.JobID)
			}
		}, 0},
		{"the cache does not show the new item yet: the job is kept", func(dispatcher *Dispatcher) { dispatcher.ObserveAbsence(key, dispatcher.ObservedVersion("ns")) }, 1},
		{"the cache has reached a newer version, so the item is deleted: the job is forgotten", func(dispatcher *Dispatcher) {
			dispatcher.Observe(newItem("11"))
			dispatcher.ObserveAbsence(key, dispatcher.ObservedVersion("ns"))
		}, 0},
		{"the watch of another namespace has reached a newer version: the job is kept", func(dispatcher *Dispatcher) {
			elsewhere := newItem("11")
			elsewhere.Namespace = "other"
			dispatcher.Observe(elsewhere)
			dispatcher.ObserveAbsence(key, dispatcher.ObservedVersion("ns"))
		}, 1},
		{"the cache has reached an older version: the job is kept", func(dispatcher *Dispatcher) {
			dispatcher.Observe(newItem("9"))
			dispatcher.ObserveAbsence(key, dispatcher.ObservedVersion("ns"))
		}, 1},
		{"the cache has reached the version of the item only after the read: the job is kept", func(dispatcher *Dispatcher) {
			seen := dispatcher.ObservedVersion("ns")
			dispatcher.Observe(newItem("10"))
			dispatcher.ObserveAbsence(key, seen)
		}, 1},
		{"the deletion of the item is seen: the job is forgotten", func(dispatcher *Dispatcher) { end(dispatcher, newItem("9")) }, 0},
		{"the deletion of an earlier item of the same name is seen: the job is kept", func(dispatcher *Dispatcher) {
			earlier := newItem("9")
			earlier.UID = "z"
			end(dispatcher, earlier)
		}, 1},
		{"the next job replaces the job", func(dispatcher *Dispatcher) { dispatcher.Dispatch(newItem("12"), "next", time.Unix(1001, 0)) }, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			dispatcher := hand()
			test.do(dispatcher)
			if dispatcher.Pending() != test.open {
				t.Errorf("%d jobs are open, want %d", dispatcher.Pending(), test.open)
			}
		})
	}
}

// TestNotRegistered: a job for a deployer of another process has to be stored.
func TestNotRegistered(t *testing.T) {
	other := &Dispatcher{}
	other.Register("other", func(*v1alpha1.DeployItem) { t.Error("a deployer is notified of a job of another type") })
	for reason, dispatcher := range map[string]*Dispatcher{"no dispatcher": nil, "no deployer": {}, "a deployer of another type": other} {
		t.Run(reason, func(t *testing.T) {
			item := newItem("10")
			dispatcher.Register("another", func(*v1alpha1.DeployItem) {})
			if dispatcher.Dispatch(item, "job", time.Unix(1000, 0)) || item.Status.JobID != "before" || dispatcher.Overlay(item) != item {
				t.Errorf("the job was dispatched: %+v", item.Status)
			}
			dispatcher.ObserveAbsence(keyOf(item), dispatcher.ObservedVersion("ns"))
		})
	}
}

// TestDispatchedBefore: the metrics get a job before a deployer can find it. A deployer that looks
// at the item for another reason would otherwise begin and end the job before, and the job
// would be counted as running for ever.
func TestDispatchedBefore(t *testing.T) {
	dispatcher, heard := &Dispatcher{}, false
	dispatcher.Register("ours", func(*v1alpha1.DeployItem) {})
	dispatcher.OnDispatch = func(*v1alpha1.DeployItem) {
		heard = true
		if shown := dispatcher.Overlay(newItem("10")); shown.Status.JobID != "before" {
			t.Errorf("a deployer finds %s already", shown.Status.JobID)
		}
	}
	item := newItem("10")
	if !dispatcher.Dispatch(item, "job", time.Unix(1000, 0)) || !heard || dispatcher.Overlay(newItem("10")).Status.JobID != "job" {
		t.Errorf("the job was not dispatched: heard %t", heard)
	}
}
