package targetsync

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
)

var key = types.NamespacedName{Namespace: "blue", Name: "fleet"}

// TestDue walks through what begins a run.
func TestDue(t *testing.T) {
	tests := []struct {
		reason string
		change func(*v1alpha1.TargetSync, *memories)
		want   bool
	}{
		{"nothing has happened", func(*v1alpha1.TargetSync, *memories) {}, false},
		{"the specification has changed", func(sync *v1alpha1.TargetSync, _ *memories) { sync.Generation = 2 }, true},
		{"a label has changed", func(sync *v1alpha1.TargetSync, _ *memories) { sync.Labels = map[string]string{"a": "b"} }, true},
		{"any annotation has changed", func(sync *v1alpha1.TargetSync, _ *memories) { sync.Annotations = map[string]string{"a": "b"} }, true},
		{"a user requests a run", func(sync *v1alpha1.TargetSync, _ *memories) {
			sync.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
		}, true},
		{"an unknown operation means nothing", func(sync *v1alpha1.TargetSync, _ *memories) {
			sync.Annotations = map[string]string{v1alpha1.OperationAnnotation: "abort"}
		}, false},
		{"a user requests a new token", func(sync *v1alpha1.TargetSync, _ *memories) {
			sync.Spec.TokenRotation = &v1alpha1.TokenRotation{Enabled: true}
			sync.Annotations = map[string]string{v1alpha1.RotateTokenAnnotation: ""}
		}, true},
		{"a user requests a new token while the rotation is switched off", func(sync *v1alpha1.TargetSync, _ *memories) {
			sync.Annotations = map[string]string{v1alpha1.RotateTokenAnnotation: ""}
		}, false},
		{"our own write of a Secret", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{secretSubject, "eu"}, "7") }, false},
		{"another client has changed a Secret", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{secretSubject, "eu"}, "8") }, true},
		{"another client has deleted a Secret", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{secretSubject, "eu"}, gone) }, true},
		{"our own write of a Target", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{targetSubject, "eu"}, "9") }, false},
		{"another client has changed a Target", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{targetSubject, "eu"}, "10") }, true},
		{"what we have deleted ourselves", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{secretSubject, "old"}, gone) }, false},
		{"another client has labelled a Secret", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{secretSubject, "new"}, "1") }, true},
		{"the access is as we have read it", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{secretSubject, "access"}, "5") }, false},
		{"another client has changed the access", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{secretSubject, "access"}, "6") }, true},
		{"the access is deleted", func(_ *v1alpha1.TargetSync, m *memories) { m.notify(key, subject{secretSubject, "access"}, gone) }, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			all := &memories{}
			sync := fleet()
			m := all.of(key, "u")
			m.starts(sync)
			m.next, m.access.version = now.Add(interval), "5"
			m.secrets["eu"], m.targets["eu"] = syncplan.Secret{Version: "7"}, "9"
			test.change(sync, all)
			if got := m.due(sync, now); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
	t.Run("its time has come", func(t *testing.T) {
		m := (&memories{}).of(key, "u")
		m.starts(fleet())
		m.next = now
		if m.due(fleet(), now.Add(-time.Second)) || !m.due(fleet(), now) {
			t.Error("not when its time comes")
		}
	})
	t.Run("after a restart", func(t *testing.T) {
		if !(&memories{}).of(key, "u").due(fleet(), now) {
			t.Error("nothing is done")
		}
	})
	t.Run("another object with the same name", func(t *testing.T) {
		all := &memories{}
		first := all.of(key, "u")
		if all.of(key, "u") != first || all.of(key, "v") == first {
			t.Error("it is mistaken for the first one")
		}
	})
}

func TestChangedSince(t *testing.T) {
	all := func(string) bool { return true }
	listed := map[string]string{"a": "5", "b": "7"}
	tests := []struct {
		reason   string
		versions map[string]string
		at       string
		selects  func(string) bool
		want     bool
	}{
		{"nothing has changed", map[string]string{"a": "5", "b": "7"}, "10", all, false},
		{"the watch is behind the list", map[string]string{"a": "4", "b": "7"}, "7", all, false},
		{"a Secret has changed", map[string]string{"a": "11", "b": "7"}, "11", all, true},
		{"a Secret is new", map[string]string{"a": "5", "b": "7", "c": "12"}, "12", all, true},
		{"a Secret was deleted before the list", map[string]string{"a": "5", "b": "7", "c": "6"}, "7", all, false},
		{"a Secret is deleted", map[string]string{"a": "5"}, "12", all, true},
		{"the watch does not have a Secret yet", map[string]string{"a": "5"}, "6", all, false},
		{"a Secret that is not selected is new", map[string]string{"a": "5", "b": "7", "c": "12"}, "12", func(name string) bool { return name != "c" }, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := changedSince(listed, "10", test.versions, test.at, test.selects); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestAttributed(t *testing.T) {
	by := func(maker string) metav1.Object {
		return &metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.TargetSyncNameAnnotation: maker}}
	}
	tests := []struct {
		reason string
		object metav1.Object
		alone  bool
		want   bool
	}{
		{"an object of this TargetSync, next to others", by("fleet"), false, true},
		{"that of another one", by("other"), false, false},
		{"an object of upstream, for the only TargetSync", &metav1.ObjectMeta{}, true, true},
		{"an object of upstream, next to another TargetSync that may need it", &metav1.ObjectMeta{}, false, false},
		{"an object of a TargetSync that is deleted", by("gone"), true, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := attributed(test.object, "fleet", test.alone); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
