package fakecluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster"
)

// labelled is a ConfigMap of a namespace with a label.
func labelled(namespace, name, tier string) *unstructured.Unstructured {
	object := configMap(name, nil)
	object.SetNamespace(namespace)
	object.SetLabels(map[string]string{"tier": tier})
	return object
}

// TestWatches: each watch reports its objects, whichever client has changed them and however.
func TestWatches(t *testing.T) {
	c := New()
	mapping := of(t, c, "v1", "ConfigMap")
	var heard []string
	note := func(who string) func() { return func() { heard = append(heard, who) } }
	one := c.Watch(mapping, "ns", "a", false, note("one"))
	all := c.WatchAll(mapping, note("all"))
	some := c.WatchSelected(mapping, "ns", labels.Set{"tier": "web"}, note("some"))
	steps := []struct {
		reason string
		do     func() error
		want   []string
	}{
		{"another client puts an object", func() error { c.Put(labelled("ns", "a", "web")); return nil }, []string{"all", "one", "some"}},
		{"an object with another label is created", func() error { return second(c.Create(t.Context(), mapping, labelled("ns", "b", "db"), "")) }, []string{"all", "some"}},
		{"another client puts an object of another namespace", func() error { c.Put(labelled("other", "a", "web")); return nil }, []string{"all", "some"}},
		{"an object is patched", func() error {
			return second(c.MergePatch(t.Context(), mapping, "ns", "a", []byte(`{"data":{"x":"1"}}`), ""))
		}, []string{"all", "one", "some"}},
		{"reading an object is no event", func() error { return second(c.Get(t.Context(), mapping, "ns", "a")) }, nil},
		{"applying an object without a change is no event", func() error {
			return second(c.Apply(t.Context(), mapping, labelled("ns", "a", "web"), cluster.ApplyOptions{}))
		}, nil},
		{"an object is deleted", func() error { return second(c.Delete(t.Context(), mapping, "ns", "a", metav1.DeleteOptions{})) }, []string{"all", "one", "some"}},
		{"deleting a deleted object is no event", func() error { return second(c.Delete(t.Context(), mapping, "ns", "a", metav1.DeleteOptions{})) }, nil},
		{"removing an object that never existed is no event", func() error { c.Remove("ConfigMap", "ns", "z"); return nil }, nil},
		{"an object with another label is removed", func() error { c.Remove("ConfigMap", "ns", "b"); return nil }, []string{"all", "some"}},
	}
	for _, step := range steps {
		t.Run(step.reason, func(t *testing.T) {
			heard = nil
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
			slices.Sort(heard)
			if diff := cmp.Diff(step.want, heard); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for _, watch := range []interface{ Close() error }{one, all, some, one} {
		if err := watch.Close(); err != nil {
			t.Error(err)
		}
	}
	heard = nil
	c.Put(labelled("ns", "a", "web"))
	if len(heard) != 0 || c.Watched() != 0 {
		t.Errorf("after the end %v heard of it, %d watch", heard, c.Watched())
	}
}

// TestSelected: what a selected watch shows is what a list shows, in the order of names.
func TestSelected(t *testing.T) {
	c := New()
	mapping := of(t, c, "v1", "ConfigMap")
	for _, object := range []*unstructured.Unstructured{labelled("ns", "c", "web"), labelled("ns", "a", "web"), labelled("ns", "b", "db"), labelled("other", "a", "web")} {
		c.Put(object)
	}
	for _, test := range []struct {
		reason, namespace string
		selector          labels.Set
		want              []string
	}{
		{"a namespace and a label", "ns", labels.Set{"tier": "web"}, []string{"ns/a", "ns/c"}},
		{"a namespace", "ns", nil, []string{"ns/a", "ns/b", "ns/c"}},
		{"a label in all namespaces", "", labels.Set{"tier": "web"}, []string{"ns/a", "ns/c", "other/a"}},
		{"a label that no object has", "", labels.Set{"tier": "web", "team": "x"}, nil},
		{"a namespace without objects", "none", nil, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			names := func(objects []*unstructured.Unstructured) (all []string) {
				for _, object := range objects {
					all = append(all, object.GetNamespace()+"/"+object.GetName())
					object.SetName("scribbled") // it is the caller's
				}
				return all
			}
			watch := c.WatchSelected(mapping, test.namespace, test.selector, func() {})
			watched, known, err := watch.Objects()
			if diff := cmp.Diff(test.want, names(watched)); err != nil || !known || diff != "" {
				t.Errorf("known: %v, %v, -want +got\n%s", known, err, diff)
			}
			listed, err := c.List(t.Context(), mapping, test.namespace, test.selector)
			if diff := cmp.Diff(test.want, names(listed)); err != nil || diff != "" {
				t.Errorf("%v, -want +got\n%s", err, diff)
			}
		})
	}
}

// TestNoWatch: a cluster whose watches fail still answers requests.
func TestNoWatch(t *testing.T) {
	c := New()
	c.NoWatch = errors.New("watches are not allowed")
	mapping := of(t, c, "v1", "ConfigMap")
	c.Put(configMap("a", nil))
	if _, err := c.Watch(mapping, "ns", "a", false, func() {}).State(); !errors.Is(err, c.NoWatch) {
		t.Errorf("%v", err)
	}
	if objects, known, err := c.WatchSelected(mapping, "ns", nil, func() {}).Objects(); !errors.Is(err, c.NoWatch) || known || objects != nil {
		t.Errorf("%v, known: %v, %v", objects, known, err)
	}
	if _, err := c.Get(t.Context(), mapping, "ns", "a"); err != nil {
		t.Error(err)
	}
}

// TestRefusals: what a real API server refuses is refused here, too; otherwise a test of a
// decision would pass that fails in the field.
func TestRefusals(t *testing.T) {
	c := New()
	mapping := of(t, c, "v1", "ConfigMap")
	c.Put(configMap("a", nil))
	unknown := c.Know(schema.GroupVersionKind{Group: "acme.example", Version: "v2", Kind: "ConfigMap"}, "configmaps", mapping.Scope)
	newer := configMap("a", nil)
	newer.SetAPIVersion("v2")
	for _, test := range []struct {
		reason string
		err    error
		is     func(error) bool
	}{
		{"an update in another version than it is sent to", second(c.Update(t.Context(), mapping, newer, "")), apierrors.IsBadRequest},
		{"a new object in another version", second(c.Create(t.Context(), unknown, configMap("b", nil), "")), apierrors.IsBadRequest},
		{"a preview of one, too", second(c.PreviewNew(t.Context(), unknown, configMap("b", nil), "")), apierrors.IsBadRequest},
		{"a patch that is not valid", second(c.MergePatch(t.Context(), mapping, "ns", "a", []byte(`[`), "")), apierrors.IsBadRequest},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if !test.is(test.err) {
				t.Errorf("%v", test.err)
			}
		})
	}
	if names := c.Names(); len(names) != 1 {
		t.Errorf("something was stored: %v", names)
	}
}

// TestKindsOfSeveralVersions: which version is meant without a word does not change from
// one question to the next.
func TestKindsOfSeveralVersions(t *testing.T) {
	c := New()
	for _, version := range []string{"v1", "v3", "v2", "v1beta1"} {
		c.Know(schema.GroupVersionKind{Group: "acme.example", Version: version, Kind: "Tenant"}, "tenants", of(t, c, "v1", "ConfigMap").Scope)
	}
	for range 50 {
		mapping, err := c.Mapping(t.Context(), schema.GroupVersionKind{Group: "acme.example", Kind: "Tenant"})
		if err != nil || mapping.GroupVersionKind.Version != "v3" {
			t.Fatalf("%v, %v", mapping, err)
		}
	}
}
