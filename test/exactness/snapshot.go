package exactness

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/model/ownership"
)

// Key identifies an object: the name of the Target, the kind, namespace and name.
type Key struct{ Target, Kind, Namespace, Name string }

// String names the object.
func (k Key) String() string {
	return fmt.Sprintf("%s:%s %s/%s", k.Target, k.Kind, k.Namespace, k.Name)
}

// Snapshot is what there is on the target clusters.
type Snapshot map[Key]*unstructured.Unstructured

var observed = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "ServiceAccount"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
	{Group: "batch", Version: "v1", Kind: "CronJob"}, {Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
}

// Look lists everything that a landscape can touch.
func Look(ctx context.Context, space string, targets map[string]client.WithWatch) (Snapshot, error) {
	seen := Snapshot{}
	for name, target := range targets {
		for _, kind := range observed {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			options := []client.ListOption{client.InNamespace(space)}
			if kind.Kind == "ClusterRole" {
				options = nil
			}
			if err := target.List(ctx, list, options...); err != nil {
				return nil, fmt.Errorf("list %s on %s: %w", kind.Kind, name, err)
			}
			for i := range list.Items {
				if object := &list.Items[i]; !others(object, space) {
					seen[Key{name, kind.Kind, object.GetNamespace(), object.GetName()}] = object
				}
			}
		}
	}
	return seen, nil
}

// others reports whether an object is of the cluster, or a record of a release.
func others(object *unstructured.Unstructured, space string) bool {
	kind, _, _ := unstructured.NestedString(object.Object, "type")
	return kind == "helm.sh/release.v1" || object.GetName() == "kube-root-ca.crt" || object.GetKind() == "ServiceAccount" && object.GetName() == "default" ||
		object.GetKind() == "ClusterRole" && !strings.HasPrefix(object.GetName(), space+"-")
}

// Changes is what has happened between two snapshots. Of an object that another item wants
// than before, the marks of owners are no change; that it is the same object is a move.
func Changes(before, after Snapshot, moved func(Key) bool) map[Key]string {
	found := map[Key]string{}
	for key, old := range before {
		switch now := after[key]; {
		case now == nil:
			found[key] = "delete"
		case now.GetUID() != old.GetUID():
			found[key] = "replace"
		case moved(key) && reflect.DeepEqual(content(unmarked(old)), content(unmarked(now))):
			found[key] = "move"
		case moved(key):
			found[key] = moveAndUpdate
		case !reflect.DeepEqual(content(old), content(now)):
			found[key] = "update"
		}
	}
	for key := range after {
		if before[key] == nil {
			found[key] = "create"
		}
	}
	return found
}

// nothingMoves says that each object is wanted by the items that have wanted it before.
func nothingMoves(Key) bool { return false }

// moveAndUpdate is a move with which the object changes.
const moveAndUpdate = "move and update"

// unmarked is an object without the marks of owners.
func unmarked(object *unstructured.Unstructured) *unstructured.Unstructured {
	copied := object.DeepCopy()
	ownership.Strip(copied, func(string) bool { return false }, false)
	for _, field := range []string{"labels", "annotations"} {
		if content, _, _ := unstructured.NestedMap(copied.Object, "metadata", field); len(content) == 0 {
			unstructured.RemoveNestedField(copied.Object, "metadata", field)
		}
	}
	return copied
}

// content is an object without what changes with each write, and what controllers report.
func content(object *unstructured.Unstructured) map[string]any {
	copied := object.DeepCopy().Object
	delete(copied, "status")
	metadata, _ := copied["metadata"].(map[string]any)
	for key := range metadata {
		if !slices.Contains([]string{"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"}, key) {
			delete(metadata, key)
		}
	}
	return copied
}
