package export

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

func watched(t *testing.T, cluster *fakecluster.Cluster, wake func()) *Watcher {
	t.Helper()
	values, err := Compile(&deployer.Exports{Exports: []deployer.Export{{
		Key: "a", JSONPath: ".status.login", FromResource: &deployer.TypedObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", Namespace: "ns"},
		FromObjectReference: &deployer.FromObjectReference{APIVersion: "v1", Kind: "Secret", JSONPath: ".data.p"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := values[0].Watch(t.Context(), cluster, wake)
	if err != nil {
		t.Fatal(err)
	}
	return watcher
}

func put(cluster *fakecluster.Cluster, kind, name string, field string, content map[string]any) {
	cluster.Put(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"namespace": "ns", "name": name}, field: content,
	}})
}

// TestWatcher follows a value through both of its objects.
func TestWatcher(t *testing.T) {
	cluster, wakes := fakecluster.New(), 0
	watcher := watched(t, cluster, func() { wakes++ })
	last := ""
	step := func(what string, there bool, value any) {
		t.Helper()
		version, known, err := watcher.Version()
		if err != nil || !known || version == last {
			t.Errorf("%s: version %q after %q, known %t, error %v", what, version, last, known, err)
		}
		last = version
		got, found, err := watcher.Read(t.Context())
		if err != nil || found != there || (there && got != value) {
			t.Errorf("%s: %v, there %t, error %v", what, got, found, err)
		}
	}
	step("nothing is there", false, nil)
	put(cluster, "Pod", "p", "status", map[string]any{"login": map[string]any{"name": "first"}})
	step("a reference to nothing", false, nil)
	put(cluster, "Secret", "first", "data", map[string]any{"p": "1"})
	step("a value", true, "1")
	put(cluster, "Secret", "second", "data", map[string]any{"p": "2"})
	put(cluster, "Pod", "p", "status", map[string]any{"login": map[string]any{"name": "second"}})
	step("another reference", true, "2")
	cluster.Remove("Secret", "ns", "second")
	step("the value is deleted", false, nil)
	if wakes == 0 {
		t.Error("nothing was triggered")
	}
	if cluster.Watched() != 2 {
		t.Errorf("%d watches", cluster.Watched())
	}
	watcher.Close()
	watcher.Close()
	if cluster.Watched() != 0 {
		t.Errorf("%d watches are left", cluster.Watched())
	}
}

// TestWatcherMissesNothing triggers when the second object may have changed between the read and
// the start of its watch: others may have begun the same watch before, so that it has reported the
// change already.
func TestWatcherMissesNothing(t *testing.T) {
	cluster, wakes := fakecluster.New(), 0
	watcher := watched(t, cluster, func() { wakes++ })
	defer watcher.Close()
	put(cluster, "Pod", "p", "status", map[string]any{"login": map[string]any{"name": "first"}})
	put(cluster, "Secret", "first", "data", map[string]any{"p": "1"})
	wakes = 0
	if _, there, err := watcher.Read(t.Context()); !there || err != nil || wakes != 1 {
		t.Errorf("there %t, error %v, %d triggers", there, err, wakes)
	}
	if _, there, err := watcher.Read(t.Context()); !there || err != nil || wakes != 1 {
		t.Errorf("nothing has changed: there %t, error %v, %d triggers", there, err, wakes)
	}
}

// TestWatcherFails reports what cannot be watched or read.
func TestWatcherFails(t *testing.T) {
	cluster, broken := fakecluster.New(), errors.New("forbidden")
	watcher := watched(t, cluster, func() {})
	cluster.NoWatch = broken
	if _, known, err := watcher.Version(); known || !errors.Is(err, broken) {
		t.Errorf("known %t, error %v", known, err)
	}
	cluster.Fault = func(fakecluster.Request) fakecluster.Fault { return fakecluster.Fault{Before: broken} }
	if _, there, err := watcher.Read(t.Context()); there || !errors.Is(err, broken) {
		t.Errorf("there %t, error %v", there, err)
	}
}
