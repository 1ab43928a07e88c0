package target_test

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/memory"
)

func object(name, x string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "ns", "name": name, "labels": map[string]any{"app": "web"}},
		"data":     map[string]any{"x": x},
	}}
}

func mapping(t *testing.T, cluster *memory.Cluster) *meta.RESTMapping {
	t.Helper()
	found, err := cluster.Mapping(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sights are both ways to look.
func sights(t *testing.T, cluster *memory.Cluster, wake func()) map[string]*target.Sight {
	m := mapping(t, cluster)
	return map[string]*target.Sight{
		"one":      target.SightOf(cluster, m, "ns", "a", wake),
		"selected": target.SightOfSelected(cluster, m, "ns", labels.Set{"app": "web"}, wake),
	}
}

// TestFirstLook is one request, and finds what is there.
func TestFirstLook(t *testing.T) {
	for name := range map[string]bool{"one": true, "selected": true} {
		cluster := memory.New()
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

// TestFollow makes no request after the watch has begun, wakes with news, and ends.
func TestFollow(t *testing.T) {
	for name := range map[string]bool{"one": true, "selected": true} {
		cluster, wakes := memory.New(), 0
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
				t.Errorf("%s: nobody was woken", name)
			}
			objects, err := sight.Look(t.Context())
			if err != nil || len(objects) != 1 || objects[0].Object["data"].(map[string]any)["x"] != x {
				t.Errorf("%s: %v, error %v", name, objects, err)
			}
		}
		cluster.Remove("ConfigMap", "ns", "a")
		if objects, err := sight.Look(t.Context()); err != nil || len(objects) != 0 {
			t.Errorf("%s: what is gone is remembered: %v, error %v", name, objects, err)
		}
		if got := cluster.Counts(); len(got) != 0 {
			t.Errorf("%s: requests although the watch knows it: %v", name, got)
		}
		sight.Close()
		sight.Close()
		if cluster.Watched() != 0 {
			t.Errorf("%s: the watch goes on", name)
		}
	}
}

// TestWithoutWatch asks each time, and says that only a timer can tell when.
func TestWithoutWatch(t *testing.T) {
	for name := range map[string]bool{"one": true, "selected": true} {
		cluster := memory.New()
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

// TestLookFails tells what the cluster says.
func TestLookFails(t *testing.T) {
	for name := range map[string]bool{"one": true, "selected": true} {
		cluster := memory.New()
		cluster.Fault = func(memory.Request) memory.Fault {
			return memory.Fault{Before: apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", nil)}
		}
		if objects, err := sights(t, cluster, func() {})[name].Look(t.Context()); !apierrors.IsForbidden(err) || objects != nil {
			t.Errorf("%s: %v, error %v", name, objects, err)
		}
	}
}
