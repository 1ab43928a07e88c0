package target_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/target"
)

// answering is a cluster that answers each write with an object of a version.
type answering struct {
	target.Cluster
	version string
	// later says that something was written after the creation.
	later bool
	gone  bool
}

func (a *answering) Server() string { return "https://eu" }

func (a *answering) stored(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	object.SetName(name)
	object.SetNamespace("n")
	object.SetResourceVersion(a.version)
	created := metav1.Unix(1000, 0)
	object.SetCreationTimestamp(created)
	at := created
	if a.later {
		at = metav1.Unix(2000, 0)
	}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m", Time: &at}})
	return object
}

func (a *answering) Get(_ context.Context, _ *meta.RESTMapping, _, name string) (*unstructured.Unstructured, error) {
	return a.stored(name), nil
}

func (a *answering) Create(_ context.Context, _ *meta.RESTMapping, object *unstructured.Unstructured, _ string) (*unstructured.Unstructured, error) {
	return a.stored(object.GetName()), nil
}

func (a *answering) Update(_ context.Context, _ *meta.RESTMapping, object *unstructured.Unstructured, _ string) (*unstructured.Unstructured, error) {
	return a.stored(object.GetName()), nil
}

func (a *answering) MergePatch(_ context.Context, _ *meta.RESTMapping, _, name string, _ []byte, _ string) (*unstructured.Unstructured, error) {
	return a.stored(name), nil
}

func (a *answering) Apply(_ context.Context, _ *meta.RESTMapping, object *unstructured.Unstructured, _ cluster.ApplyOptions) (*unstructured.Unstructured, error) {
	return a.stored(object.GetName()), nil
}

func (a *answering) Delete(_ context.Context, _ *meta.RESTMapping, _, name string, _ metav1.DeleteOptions) (*unstructured.Unstructured, error) {
	if a.gone {
		return nil, nil
	}
	return a.stored(name), nil
}

// TestCounted: what counts is what the cluster answers.
func TestCounted(t *testing.T) {
	mapping := &meta.RESTMapping{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}
	secrets := &meta.RESTMapping{Resource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}}
	type step = func(t *testing.T, a *answering, c target.Cluster)
	check := func(t *testing.T, _ *unstructured.Unstructured, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	get := func(t *testing.T, _ *answering, c target.Cluster) {
		got, err := c.Get(t.Context(), mapping, "n", "web")
		check(t, got, err)
	}
	at := func(version string) step {
		return func(_ *testing.T, a *answering, _ target.Cluster) { a.version = version }
	}
	create := func(t *testing.T, a *answering, c target.Cluster) {
		got, err := c.Create(t.Context(), mapping, a.stored("web"), "m")
		check(t, got, err)
	}
	update := func(t *testing.T, _ *answering, c target.Cluster) {
		sent := (&answering{version: "1"}).stored("web")
		got, err := c.Update(t.Context(), mapping, sent, "m")
		check(t, got, err)
	}
	patch := func(t *testing.T, _ *answering, c target.Cluster) {
		got, err := c.MergePatch(t.Context(), mapping, "n", "web", nil, "m")
		check(t, got, err)
	}
	apply := func(options cluster.ApplyOptions) step {
		return func(t *testing.T, a *answering, c target.Cluster) {
			got, err := c.Apply(t.Context(), mapping, a.stored("web"), options)
			check(t, got, err)
		}
	}
	remove := func(t *testing.T, _ *answering, c target.Cluster) {
		got, err := c.Delete(t.Context(), mapping, "n", "web", metav1.DeleteOptions{})
		check(t, got, err)
	}
	later := func(_ *testing.T, a *answering, _ target.Cluster) { a.later = true }
	gone := func(_ *testing.T, a *answering, _ target.Cluster) { a.gone = true }
	for _, test := range []struct {
		reason string
		steps  []step
		want   string
	}{
		{"created", []step{create}, "created"},
		{"an update that changes something", []step{get, at("2"), update}, "changed"},
		{"an update that changes nothing has the version that was sent", []step{update}, ""},
		{"a patch that changes something", []step{get, at("2"), patch}, "changed"},
		{"a patch that changes nothing has the version that was read", []step{get, patch}, ""},
		{"applied to what does not exist", []step{apply(cluster.ApplyOptions{})}, "created"},
		{"applied to what was not read and is older", []step{later, apply(cluster.ApplyOptions{})}, "changed"},
		{"applied to what was read, with a change", []step{get, at("2"), apply(cluster.ApplyOptions{})}, "changed"},
		{"applied to what was read, without a change", []step{get, apply(cluster.ApplyOptions{})}, ""},
		{"a dry run", []step{apply(cluster.ApplyOptions{DryRun: true})}, ""},
		{"deleted at once", []step{get, gone, remove}, "deleted"},
		{"deleted, with a finalizer", []step{remove}, "deleted"},
		{"nothing was there to be deleted", []step{gone, remove}, ""},
		{"the record of a release does not count", []step{func(t *testing.T, a *answering, c target.Cluster) {
			got, err := c.Create(t.Context(), secrets, a.stored("sh.helm.release.v1.web.v1"), "m")
			check(t, got, err)
		}}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var notes []string
			words := map[deployer.Change]string{deployer.ObjectCreated: "created", deployer.ObjectChanged: "changed", deployer.ObjectDeleted: "deleted"}
			on := &answering{version: "1"}
			counting := target.Counted(on, func(change deployer.Change, object string) {
				if object != "https://eu configmaps n/web" {
					t.Errorf("the object is %s", object)
				}
				notes = append(notes, words[change])
			})
			for _, step := range test.steps {
				step(t, on, counting)
			}
			if got := strings.Join(notes, ","); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
