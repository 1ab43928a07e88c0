package readiness

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

const (
	startingPod = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, status: {conditions: [{type: Ready, status: "False", message: pulling the image}]}}`
	readyPod    = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, status: {conditions: [{type: Ready, status: "True"}]}}`
)

// checkOf returns a check of one object that was just written.
func checkOf(t *testing.T, cluster *fakecluster.Cluster, wake func(), text string) (*Check, *unstructured.Unstructured) {
	t.Helper()
	stored := cluster.Put(parse(t, text))
	mapping, err := cluster.Mapping(t.Context(), stored.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	check := NewCheck(cluster, Unready, wake)
	check.Add(mapping, stored)
	return check, stored
}

func TestReadyAtOnce(t *testing.T) {
	cluster := fakecluster.New()
	check, _ := checkOf(t, cluster, func() {}, readyPod)
	if unready, err := check.Look(t.Context()); err != nil || len(unready) != 0 {
		t.Errorf("unready %v, error %v", unready, err)
	}
	if got := cluster.Counts(); len(got) != 0 {
		t.Errorf("requests for what the write has answered: %v", got)
	}
}

func TestWaitAndWake(t *testing.T) {
	cluster, wakes := fakecluster.New(), 0
	check, _ := checkOf(t, cluster, func() { wakes++ }, startingPod)
	for range 3 {
		unready, err := check.Look(t.Context())
		want := Unfinished{Kind: "Pod", Namespace: "ns", Name: "p", Finding: Finding{Why: "its condition Ready is not True: pulling the image"}}
		if len(unready) == 1 {
			want.object = unready[0].object
		}
		if err != nil || !slices.Equal(unready, []Unfinished{want}) {
			t.Fatalf("unready %v, error %v", unready, err)
		}
	}
	if got := cluster.Counts(); got["watch"] != 1 || got["get"] != 0 {
		t.Errorf("one watch is enough: %v", got)
	}
	cluster.Put(parse(t, readyPod))
	if wakes != 1 {
		t.Errorf("%d triggers", wakes)
	}
	if unready, err := check.Look(t.Context()); err != nil || len(unready) != 0 {
		t.Errorf("unready %v, error %v", unready, err)
	}
	if cluster.Watched() != 0 {
		t.Error("the watch is open although everything is ready")
	}
}

func TestObjectBeingDeleted(t *testing.T) {
	cluster := fakecluster.New()
	check, _ := checkOf(t, cluster, func() {}, startingPod)
	if _, err := check.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	cluster.Remove("Pod", "ns", "p")
	unready, err := check.Look(t.Context())
	if err != nil || len(unready) != 1 || unready[0].Why != "it does not exist any more" {
		t.Errorf("unready %v, error %v", unready, err)
	}
	check.Close()
	if cluster.Watched() != 0 {
		t.Error("the watch is left")
	}
}

// TestOldState shows that a watch which is behind our own write proves nothing.
func TestOldState(t *testing.T) {
	cluster := fakecluster.New()
	cluster.Put(parse(t, readyPod))
	written := parse(t, startingPod)
	written.SetResourceVersion("5")
	mapping, err := cluster.Mapping(t.Context(), written.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	check := NewCheck(cluster, Unready, func() {})
	check.Add(mapping, written)
	if unready, err := check.Look(t.Context()); err != nil || len(unready) != 1 {
		t.Errorf("what was ready before the write counts: %v, error %v", unready, err)
	}
	for range 5 {
		cluster.Put(parse(t, readyPod))
	}
	if unready, err := check.Look(t.Context()); err != nil || len(unready) != 0 {
		t.Errorf("unready %v, error %v", unready, err)
	}
}

func TestWithoutWatch(t *testing.T) {
	broken := errors.New("connection refused")
	tests := []struct {
		reason string
		change func(*fakecluster.Cluster)
		want   string
	}{
		{"the pod is read instead of watched, and a timer triggers the next look", func(*fakecluster.Cluster) {}, "Pod ns/p is not ready: its condition Ready is not True: pulling the image"},
		{"the pod is deleted", func(c *fakecluster.Cluster) { c.Remove("Pod", "ns", "p") }, "Pod ns/p is not ready: it does not exist any more"},
		{"the pod cannot be read, either", func(c *fakecluster.Cluster) {
			c.Fault = func(fakecluster.Request) fakecluster.Fault { return fakecluster.Fault{Before: broken} }
		}, "connection refused"},
		{"the pod has become ready", func(c *fakecluster.Cluster) { c.Put(&unstructured.Unstructured{Object: ready}) }, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			cluster.NoWatch = errors.New("forbidden")
			check, _ := checkOf(t, cluster, func() {}, startingPod)
			test.change(cluster)
			unready, err := check.Look(t.Context())
			if (err == nil) != (test.want == "") || len(unready) != 0 || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("unready %v, error %v, want %q", unready, err, test.want)
			}
		})
	}
}

var ready = map[string]any{
	"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "ns"},
	"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
}

func TestOneErrorKeepsTheOthers(t *testing.T) {
	cluster := fakecluster.New()
	check, _ := checkOf(t, cluster, func() {}, startingPod)
	other := cluster.Put(parse(t, strings.ReplaceAll(startingPod, "name: p", "name: q")))
	mapping, err := cluster.Mapping(t.Context(), other.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	check.Add(mapping, other)
	cluster.NoWatch = errors.New("forbidden")
	if _, err := check.Look(t.Context()); err == nil {
		t.Error("no error")
	}
	cluster.NoWatch = nil
	if unready, err := check.Look(t.Context()); err != nil || len(unready) != 2 {
		t.Errorf("unready %v, error %v", unready, err)
	}
}
