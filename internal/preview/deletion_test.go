package preview

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/requests"
)

// TestWithLeft: of what is recorded on earlier clusters, the preview names what exists.
func TestWithLeft(t *testing.T) {
	ref := func(name string) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: name}
	}
	seen := func(cluster, name string, exists bool, unknown string) diff.Object {
		object := diff.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: name, Cluster: cluster, Unknown: unknown}
		if exists {
			object.Before = map[string]any{"kind": "ConfigMap"}
		}
		return object
	}
	on := func(cluster string, names ...string) requests.Leftovers {
		left := requests.Leftovers{Cluster: cluster}
		for _, name := range names {
			left.Objects = append(left.Objects, ref(name))
		}
		return left
	}
	for _, test := range []struct {
		reason   string
		recorded []requests.Leftovers
		objects  []diff.Object
		want     []requests.Leftovers
	}{
		{"an object that exists", []requests.Leftovers{on("old", "a")}, []diff.Object{seen("old", "a", true, "")}, []requests.Leftovers{on("old", "a")}},
		{"an object that an interrupted job has deleted", []requests.Leftovers{on("old", "a", "b")}, []diff.Object{seen("old", "a", false, ""), seen("old", "b", true, "")}, []requests.Leftovers{on("old", "b")}},
		{"nothing is left", []requests.Leftovers{on("old", "a")}, []diff.Object{seen("old", "a", false, "")}, nil},
		{"a release is left", []requests.Leftovers{{Cluster: "old", Release: "n/web"}}, nil, []requests.Leftovers{{Cluster: "old", Release: "n/web"}}},
		{"a cluster that cannot be asked", []requests.Leftovers{on("old", "a")}, []diff.Object{seen("old", "a", false, "refused")}, []requests.Leftovers{on("old", "a")}},
		{"a cluster that was not asked", []requests.Leftovers{on("old", "a")}, nil, []requests.Leftovers{on("old", "a")}},
		{"an object of the same name on the cluster of the Target does not exist", []requests.Leftovers{on("old", "a")}, []diff.Object{seen("", "a", false, "")}, []requests.Leftovers{on("old", "a")}},
		{"the Target leads to another cluster since the last job", nil, []diff.Object{seen("old", "a", true, ""), seen("old", "b", false, "")}, []requests.Leftovers{on("old", "a")}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := withLeft(test.recorded, test.objects)
			if len(got)+len(test.want) > 0 && !cmp.Equal(got, test.want) {
				t.Error(cmp.Diff(test.want, got))
			}
		})
	}
}
