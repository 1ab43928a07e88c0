package fakecluster

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/target"
)

var _ target.Cluster = New()

func configMap(name string, data map[string]any, finalizers ...any) *unstructured.Unstructured {
	metadata := map[string]any{"namespace": "ns", "name": name}
	if len(finalizers) > 0 {
		metadata["finalizers"] = finalizers
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}}
}

func of(t *testing.T, c *Cluster, apiVersion, kind string) *meta.RESTMapping {
	t.Helper()
	mapping, err := c.Mapping(t.Context(), schema.FromAPIVersionAndKind(apiVersion, kind))
	if err != nil {
		t.Fatal(err)
	}
	return mapping
}

// TestAsAnAPIServerDoes shows what tests of decisions rely on.
func TestAsAnAPIServerDoes(t *testing.T) {
	c := New()
	maps := of(t, c, "v1", "ConfigMap")
	created, err := c.Create(t.Context(), maps, configMap("a", map[string]any{"x": "1"}, "acme.example/hold"), "")
	if err != nil || created.GetUID() == "" || created.GetResourceVersion() == "" || created.GetGeneration() != 1 {
		t.Fatalf("created %v, error %v", created, err)
	}
	if _, err := c.Create(t.Context(), maps, configMap("a", nil), ""); !apierrors.IsAlreadyExists(err) {
		t.Errorf("created twice: %v", err)
	}
	changed := created.DeepCopy()
	changed.Object["data"] = map[string]any{"x": "2"}
	updated, err := c.Update(t.Context(), maps, changed, "")
	if err != nil || updated.GetUID() != created.GetUID() || updated.GetGeneration() != 2 {
		t.Errorf("updated %v, error %v", updated, err)
	}
	if _, err := c.Update(t.Context(), maps, changed, ""); !apierrors.IsConflict(err) {
		t.Errorf("an old version was written: %v", err)
	}
	patched, err := c.MergePatch(t.Context(), maps, "ns", "a", []byte(`{"data": {"x": null, "y": "3"}}`), "")
	if diff := cmp.Diff(map[string]any{"y": "3"}, patched.Object["data"]); err != nil || diff != "" {
		t.Errorf("patched, error %v, -want +got\n%s", err, diff)
	}
	wrong := types.UID("another")
	if _, err := c.Delete(t.Context(), maps, "ns", "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}}); !apierrors.IsConflict(err) {
		t.Errorf("the object of another identity was deleted: %v", err)
	}
	left, err := c.Delete(t.Context(), maps, "ns", "a", metav1.DeleteOptions{})
	if err != nil || left.GetDeletionTimestamp() == nil || c.Find("ConfigMap", "ns", "a") == nil {
		t.Errorf("a finalizer holds it: left %v, error %v", left, err)
	}
	left.SetFinalizers(nil)
	if gone, err := c.Update(t.Context(), maps, left, ""); err != nil || gone != nil || c.Find("ConfigMap", "ns", "a") != nil {
		t.Errorf("no finalizer holds it any more: %v, error %v", gone, err)
	}
	if left, err := c.Delete(t.Context(), maps, "ns", "a", metav1.DeleteOptions{}); left != nil || err != nil {
		t.Errorf("a deleted object: left %v, error %v", left, err)
	}
	for what, err := range map[string]error{
		"get": second(c.Get(t.Context(), maps, "ns", "a")), "update": second(c.Update(t.Context(), maps, changed, "")),
		"patch": second(c.MergePatch(t.Context(), maps, "ns", "a", []byte(`{}`), "")), "preview": second(c.Preview(t.Context(), maps, changed, "")),
	} {
		t.Run(what, func(t *testing.T) {
			if !apierrors.IsNotFound(err) {
				t.Errorf("%s of a deleted object: %v", what, err)
			}
		})
	}
}

func second(_ *unstructured.Unstructured, err error) error { return err }

// TestNothingIsStored shows that dry runs and previews change nothing.
func TestNothingIsStored(t *testing.T) {
	c := New()
	maps := of(t, c, "v1", "ConfigMap")
	c.Put(configMap("a", map[string]any{"x": "1"}))
	before := c.Find("ConfigMap", "ns", "a")
	wanted := configMap("a", map[string]any{"y": "2"})
	merged, err := c.Apply(t.Context(), maps, wanted, cluster.ApplyOptions{DryRun: true})
	if diff := cmp.Diff(map[string]any{"x": "1", "y": "2"}, merged.Object["data"]); err != nil || diff != "" {
		t.Errorf("error %v, -want +got\n%s", err, diff)
	}
	if _, err := c.Preview(t.Context(), maps, wanted, ""); err != nil {
		t.Error(err)
	}
	if _, err := c.PreviewNew(t.Context(), maps, wanted, ""); !apierrors.IsAlreadyExists(err) {
		t.Errorf("what exists is not new: %v", err)
	}
	if _, err := c.PreviewNew(t.Context(), maps, configMap("b", nil), ""); err != nil || c.Find("ConfigMap", "ns", "b") != nil {
		t.Errorf("a preview has created something, error %v", err)
	}
	if diff := cmp.Diff(before, c.Find("ConfigMap", "ns", "a")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	stored, err := c.Apply(t.Context(), maps, configMap("a", map[string]any{"x": "1"}), cluster.ApplyOptions{})
	if err != nil || stored.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("what is the same is no write: %v, error %v", stored, err)
	}
}

// TestKinds knows a kind by each of its names, and those that a definition adds.
func TestKinds(t *testing.T) {
	c := New()
	if kind, err := c.KindOf(t.Context(), schema.GroupVersion{Version: "v1"}, "configMaps"); err != nil || kind.Kind != "ConfigMap" {
		t.Errorf("%v, error %v", kind, err)
	}
	tenant := schema.GroupVersionKind{Group: "acme.example", Version: "v1", Kind: "Tenant"}
	if _, err := c.Mapping(t.Context(), tenant); !meta.IsNoMatchError(err) {
		t.Errorf("error %v", err)
	}
	c.Put(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "tenants.acme.example"},
		"spec": map[string]any{"group": "acme.example", "names": map[string]any{"kind": "Tenant", "plural": "tenants"}, "versions": []any{map[string]any{"name": "v1"}}},
	}})
	if mapping, err := c.Mapping(t.Context(), tenant); err != nil || mapping.Resource.Resource != "tenants" {
		t.Errorf("%v, error %v", mapping, err)
	}
}

// TestFaults shows both moments in which a request fails, and that each is counted.
func TestFaults(t *testing.T) {
	c := New()
	maps := of(t, c, "v1", "ConfigMap")
	broken := errors.New("broken")
	c.Fault = func(Request) Fault { return Fault{Before: broken} }
	if _, err := c.Create(t.Context(), maps, configMap("a", nil), ""); !errors.Is(err, broken) || c.Find("ConfigMap", "ns", "a") != nil {
		t.Errorf("error %v", err)
	}
	c.Fault = func(Request) Fault { return Fault{After: broken} }
	if _, err := c.Create(t.Context(), maps, configMap("a", nil), ""); !errors.Is(err, broken) || c.Find("ConfigMap", "ns", "a") == nil {
		t.Errorf("a lost answer: error %v", err)
	}
	c.Fault = nil
	if objects, err := c.List(t.Context(), maps, "", labels.Set{}); err != nil || len(objects) != 1 {
		t.Errorf("%v, error %v", objects, err)
	}
	if diff := cmp.Diff(map[string]int{"create": 2, "list": 1}, c.Counts()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestWatchAll triggers with events of any object of a kind, and with no others.
func TestWatchAll(t *testing.T) {
	c, wakes := New(), 0
	watch := c.WatchAll(of(t, c, "v1", "ConfigMap"), func() { wakes++ })
	c.Put(configMap("a", nil))
	c.Put(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "ns", "name": "s"}}})
	if wakes != 1 {
		t.Errorf("%d triggers", wakes)
	}
	if err := watch.Close(); err != nil || c.Watched() != 0 {
		t.Errorf("error %v, %d watches", err, c.Watched())
	}
	if names := c.Names(); len(names) != 2 {
		t.Errorf("%v", names)
	}
}
