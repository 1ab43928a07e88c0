package target_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/watch"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

func object(name, x string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "ns", "name": name, "labels": map[string]any{"app": "web"}},
		"data":     map[string]any{"x": x},
	}}
}

func mapping(t *testing.T, cluster *fakecluster.Cluster) *meta.RESTMapping {
	t.Helper()
	found, err := cluster.Mapping(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sights are both ways to look.
func sights(t *testing.T, cluster *fakecluster.Cluster, wake func()) map[string]*target.Sight {
	m := mapping(t, cluster)
	return map[string]*target.Sight{
		"one":      target.SightOf(cluster, m, "ns", "a", wake),
		"selected": target.SightOfSelected(cluster, m, "ns", labels.Set{"app": "web"}, wake),
	}
}

// TestFirstLook is one request, and finds what is there.
func TestFirstLook(t *testing.T) {
	for name := range map[string]bool{"one": true, "selected": true} {
		cluster := fakecluster.New()
		sight := sights(t, cluster, func() {})[name]
		if objects, err := sight.Look(t.Context()); err != nil || len(objects) != 0 {
			t.Errorf("%s: nothing is there, but %v, error %v", name, objects, err)
		}
		cluster.Put(object("a", "1"))
		if objects, err := sight.Look(t.Context()); err != nil || len(objects) != 1 {
			t.Errorf("%s: %v, error %v", name, objects, err)
		}
		if got := cluster.Counts(); got["get"]+got["list"] != 2 || got["watch"] != 0 {
			t.Errorf("%s: requests %v", name, got)
		}
		sight.Close()
	}
}

// TestFollow makes no request after the watch has begun, triggers with events, and ends.
func TestFollow(t *testing.T) {
	for name := range map[string]bool{"one": true, "selected": true} {
		cluster, wakes := fakecluster.New(), 0
		sight := sights(t, cluster, func() { wakes++ })[name]
		if _, err := sight.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := sight.Follow(); err != nil {
				t.Fatal(err)
			}
		}
		if cluster.Watched() != 1 {
			t.Errorf("%s: %d watches", name, cluster.Watched())
		}
		cluster.Counts()
		for _, x := range []string{"1", "2"} {
			before := wakes
			cluster.Put(object("a", x))
			if wakes == before {
				t.Errorf("%s: nothing was triggered", name)
			}
			objects, err := sight.Look(t.Context())
			if err != nil || len(objects) != 1 || objects[0].Object["data"].(map[string]any)["x"] != x {
				t.Errorf("%s: %v, error %v", name, objects, err)
			}
		}
		cluster.Remove("ConfigMap", "ns", "a")
		if objects, err := sight.Look(t.Context()); err != nil || len(objects) != 0 {
			t.Errorf("%s: a deleted object is remembered: %v, error %v", name, objects, err)
		}
		if got := cluster.Counts(); len(got) != 0 {
			t.Errorf("%s: requests although the watch knows it: %v", name, got)
		}
		sight.Close()
		sight.Close()
		if cluster.Watched() != 0 {
			t.Errorf("%s: the watch is still open", name)
		}
	}
}

// TestWithoutWatch asks each time, and says that only a timer can tell when.
func TestWithoutWatch(t *testing.T) {
	for name := range map[string]bool{"one": true, "selected": true} {
		cluster := fakecluster.New()
		cluster.NoWatch = errors.New("forbidden")
		cluster.Put(object("a", "1"))
		sight := sights(t, cluster, func() {})[name]
		for range 2 {
			if objects, err := sight.Look(t.Context()); err != nil || len(objects) != 1 {
				t.Errorf("%s: %v, error %v", name, objects, err)
			}
		}
		if err := sight.Follow(); err != nil {
			t.Errorf("%s: the watch has not failed yet: %v", name, err)
		}
		if err := sight.Follow(); !errors.Is(err, cluster.NoWatch) || !strings.Contains(err.Error(), "it cannot be watched") {
			t.Errorf("%s: error %v", name, err)
		}
		if objects, err := sight.Look(t.Context()); err != nil || len(objects) != 1 {
			t.Errorf("%s: %v, error %v", name, objects, err)
		}
		cluster.NoWatch = nil
		if err := sight.Follow(); err != nil {
			t.Errorf("%s: the watch works again: %v", name, err)
		}
		sight.Close()
	}
}

// TestLookFails reports what the cluster says.
func TestLookFails(t *testing.T) {
	for name := range map[string]bool{"one": true, "selected": true} {
		cluster := fakecluster.New()
		cluster.Fault = func(fakecluster.Request) fakecluster.Fault {
			return fakecluster.Fault{Before: apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", nil)}
		}
		if objects, err := sights(t, cluster, func() {})[name].Look(t.Context()); !apierrors.IsForbidden(err) || objects != nil {
			t.Errorf("%s: %v, error %v", name, objects, err)
		}
	}
}

// late is a cluster on which another client has begun to watch, so that a watch knows something at
// once: what it shows may be older or newer than what a request sees. Both are versions of an
// object; none for no object.
type late struct {
	*fakecluster.Cluster
	there, shows string
	requests     int
}

func at(version string) (objects []*unstructured.Unstructured) {
	if version != "" {
		objects = append(objects, object("a", version))
		objects[0].SetResourceVersion(version)
	}
	return objects
}

func (l *late) Get(context.Context, *meta.RESTMapping, string, string) (*unstructured.Unstructured, error) {
	l.requests++
	if objects := at(l.there); len(objects) > 0 {
		return objects[0], nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "a")
}

func (l *late) List(context.Context, *meta.RESTMapping, string, labels.Set) ([]*unstructured.Unstructured, error) {
	l.requests++
	return at(l.there), nil
}

func (l *late) Watch(*meta.RESTMapping, string, string, bool, func()) target.Watch { return l }

func (l *late) WatchSelected(*meta.RESTMapping, string, labels.Set, func()) target.SelectedWatch {
	return l
}

func (l *late) Objects() ([]*unstructured.Unstructured, bool, error) { return at(l.shows), true, nil }

func (l *late) State() (watch.State, error) {
	state := watch.State{Known: true}
	if objects := at(l.shows); len(objects) > 0 {
		state.Object = objects[0]
	}
	return state, nil
}

func (l *late) Close() error { return nil }

// TestJoined shows that a watch which others have begun neither hides what it showed
// before it was joined, nor is believed while it is behind.
func TestJoined(t *testing.T) {
	tests := []struct {
		reason string
		// first is what the first look sees, there what there is when following begins,
		// shows what the watch shows then.
		first, there, shows string
		wakes               int
		want                string
		// asked is how many more requests a second and a third look need.
		asked int
	}{
		{"the watch shows the same: no further look is needed", "2", "2", "2", 0, "2", 0},
		{"nothing is there, and the watch knows it", "", "", "", 0, "", 0},
		{"the object changed before the watch was joined", "2", "3", "3", 1, "3", 0},
		{"the object was created before the watch was joined: once that is certain, the watch is believed", "", "3", "3", 1, "3", 1},
		{"the object was deleted before the watch was joined", "2", "", "", 1, "", 1},
		{"the watch still shows a deleted object: each look asks the cluster until the watch has caught up", "", "", "1", 1, "", 2},
		{"the watch still shows what was replaced", "2", "2", "1", 1, "2", 2},
		{"the watch does not show yet what was seen", "2", "2", "", 1, "2", 2},
	}
	for _, test := range tests {
		for _, selected := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s (selected: %t)", test.reason, selected), func(t *testing.T) {
				on, wakes := &late{Cluster: fakecluster.New(), there: test.first}, 0
				m := mapping(t, on.Cluster)
				sight := target.SightOf(on, m, "ns", "a", func() { wakes++ })
				if selected {
					sight = target.SightOfSelected(on, m, "ns", labels.Set{"app": "web"}, func() { wakes++ })
				}
				expectVersion(t, sight, test.first)
				on.there, on.shows, on.requests = test.there, test.shows, 0
				if err := sight.Follow(); err != nil {
					t.Fatal(err)
				}
				if wakes != test.wakes {
					t.Errorf("%d triggers, want %d", wakes, test.wakes)
				}
				expectVersion(t, sight, test.want)
				expectVersion(t, sight, test.want)
				if on.requests != test.asked {
					t.Errorf("%d requests, want %d", on.requests, test.asked)
				}
			})
		}
	}
}

func expectVersion(t *testing.T, sight *target.Sight, want string) {
	t.Helper()
	objects, err := sight.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, object := range objects {
		got += object.GetResourceVersion()
	}
	if got != want {
		t.Errorf("version %q, want %q", got, want)
	}
}
