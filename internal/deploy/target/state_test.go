package target

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/cluster/answerlimit"
)

func TestState(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	many := map[string]any{}
	for i := range 20_000 {
		many[fmt.Sprint(i)] = map[string]any{"a": int64(i)}
	}
	object := func(change func(object, metadata map[string]any)) *unstructured.Unstructured {
		metadata := map[string]any{"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7", "generation": int64(3), "labels": map[string]any{"app": "web"}}
		content := map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
			"spec":   map[string]any{"group": "g", "names": map[string]any{"kind": "K"}, "ttlSecondsAfterFinished": int64(5)},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": "True"}}},
		}
		change(content, metadata)
		return &unstructured.Unstructured{Object: content}
	}
	spec := func(object map[string]any) map[string]any { return object["spec"].(map[string]any) }
	tests := []struct {
		reason string
		object *unstructured.Unstructured
		whole  bool
	}{
		{"a small object is kept as it is", object(func(map[string]any, map[string]any) {}), true},
		{"a definition with long schemas", object(func(o, _ map[string]any) { spec(o)["versions"] = []any{long} }), false},
		{"a long annotation", object(func(_, m map[string]any) { m["annotations"] = map[string]any{"a": long} }), false},
		{"a field that no kind has", object(func(o, _ map[string]any) { o["zzz"] = long }), false},
		{"fields without end", object(func(o, _ map[string]any) { o["many"] = many }), false},
		{"labels without end", object(func(_, m map[string]any) { m["annotations"] = many }), false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			state := State(test.object)
			if (state == test.object) != test.whole {
				t.Errorf("as it is: %v, want %v", state == test.object, test.whole)
			}
			if size := answerlimit.SizeOf(state); size > 2*maxState {
				t.Errorf("it takes %d bytes", size)
			}
			kind, _, _ := unstructured.NestedString(state.Object, "spec", "names", "kind")
			conditions, _, _ := unstructured.NestedSlice(state.Object, "status", "conditions")
			if state.GetName() != "web" || state.GetUID() != "u" || state.GetResourceVersion() != "7" || state.GetGeneration() != 3 ||
				state.GetKind() != "Deployment" || kind != "K" || len(conditions) != 1 || state.GetLabels()["app"] != "web" {
				t.Errorf("kept is only %v", state.Object)
			}
		})
	}
	hostile := object(func(o, m map[string]any) { o["kind"], m["uid"] = long, long })
	if size := answerlimit.SizeOf(State(hostile)); size > 2*maxState {
		t.Errorf("an object with a kind of 1 MiB takes %d bytes", size)
	}
}
