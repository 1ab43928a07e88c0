package rollout

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestRequests counts: n objects of one kind and namespace cost at most n+2 requests
// when they are new, n+2 when nothing has changed, and n+5 to delete.
func TestRequests(t *testing.T) {
	const n = 50
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, namespace: ns}}`, i))
	}
	cluster, j := fakecluster.New(), &testJob{}
	first := start(t, j, cluster, wishFor(objects(t, texts...)), nil)
	mustEnd(t, first)
	if diff := cmp.Diff(map[string]int{"create": n}, cluster.Counts()); diff != "" {
		t.Errorf("new, -want +got\n%s", diff)
	}
	second := start(t, j, cluster, wishFor(objects(t, texts...)), first.Inventory())
	mustEnd(t, second)
	if diff := cmp.Diff(map[string]int{"list": 1}, cluster.Counts()); diff != "" {
		t.Errorf("unchanged, -want +got\n%s", diff)
	}
	removal, err := BeginRemoval(t.Context(), j, cluster, Teardown{Name: "test", Owner: wishFor(nil).Owner}, second.Inventory())
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, removal)
	if diff := cmp.Diff(map[string]int{"list": 1, "delete": n}, cluster.Counts()); diff != "" {
		t.Errorf("removed, -want +got\n%s", diff)
	}
}

// TestListMissesObjects shows that an object without our label is looked at by itself.
func TestListMissesObjects(t *testing.T) {
	cluster, j := fakecluster.New(), &testJob{}
	texts := []string{configMap, `{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: ns}}`, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns}}`}
	first := start(t, j, cluster, wishFor(objects(t, texts...)), nil)
	mustEnd(t, first)
	object := cluster.Find("ConfigMap", "ns", "b")
	object.SetLabels(nil)
	cluster.Put(object)
	cluster.Remove("ConfigMap", "ns", "c")
	cluster.Counts()
	mustEnd(t, start(t, j, cluster, wishFor(objects(t, texts...)), first.Inventory()))
	if diff := cmp.Diff(map[string]int{"list": 1, "get": 2, "update": 1, "create": 1}, cluster.Counts()); diff != "" {
		t.Errorf("requests, -want +got\n%s", diff)
	}
	if cluster.Find("ConfigMap", "ns", "b").GetLabels()[label] != "item" || cluster.Find("ConfigMap", "ns", "c") == nil {
		t.Error("an object was not mended")
	}
}

func TestPatchAfterDeployment(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("raced"))
	tests := []struct {
		reason string
		times  int
		fails  bool
	}{
		{"an object is patched", 0, false},
		{"a conflict is looked at again", patchAttempts - 1, false},
		{"conflicts are not looked at without end", patchAttempts, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster, j := fakecluster.New(), &testJob{}
			desiredState := wishFor(objects(t, configMap))
			desiredState.Objects[0].PatchAfterDeployment = map[string]any{"data": map[string]any{"suspended": "true"}}
			left := test.times
			cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
				if request.Verb != "update" || left == 0 {
					return fakecluster.Fault{}
				}
				left--
				return fakecluster.Fault{Before: conflict}
			}
			r := start(t, j, cluster, desiredState, nil)
			_, err := r.Continue(t.Context())
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			if test.fails {
				var shown *jobError
				if !errors.As(err, &shown) || shown.Operation != "ReconcileManifests" || shown.Reason != "PatchAfterDeployment" || !strings.Contains(err.Error(), "ConfigMap ns/a") {
					t.Errorf("error %+v", shown)
				}
			}
			mustEnd(t, r)
			if diff := cmp.Diff(map[string]any{"x": "1", "suspended": "true"}, cluster.Find("ConfigMap", "ns", "a").Object["data"]); diff != "" {
				t.Errorf("data, -want +got\n%s", diff)
			}
		})
	}
}

// TestOrphanGroups shows that orphans go as their own groups say, and that groups that
// delete all do so only if there are orphans.
func TestOrphanGroups(t *testing.T) {
	cluster, j := fakecluster.New(), &testJob{}
	first := start(t, j, cluster, wishFor(objects(t, configMap, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}`)), nil)
	mustEnd(t, first)
	all := []deletion.Group{{Types: []deployer.ResourceType{{APIVersion: "v1", Kind: "Pod"}}, All: true}, {Nature: deployer.EmptyResources}}
	cluster.Put(objects(t, pod)[0].Object)
	desiredState := wishFor(objects(t, configMap, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}`))
	desiredState.OrphanGroups = all
	second := start(t, j, cluster, desiredState, first.Inventory())
	mustEnd(t, second)
	if cluster.Find("Pod", "ns", "p") == nil {
		t.Error("there are no orphans, but objects were deleted")
	}
	desiredState = wishFor(objects(t, configMap))
	desiredState.OrphanGroups = all
	third := start(t, j, cluster, desiredState, second.Inventory())
	mustEnd(t, third)
	if diff := cmp.Diff([]string{"ConfigMap ns/a", "Secret ns/s"}, cluster.Names()); diff != "" {
		t.Errorf("left, -want +got\n%s", diff)
	}
	if len(third.Inventory()) != 1 {
		t.Errorf("what no group takes stays and is forgotten: %v", third.Inventory())
	}
}
