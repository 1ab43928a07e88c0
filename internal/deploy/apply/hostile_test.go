package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/runtime/job"
)

// TestIncompleteObjects: a missing part is reported with its place in the configuration, as
// something that the user must change, and before any request to the cluster.
func TestIncompleteObjects(t *testing.T) {
	const at = "manifests[7].manifest"
	for _, test := range []struct{ reason, object, want string }{
		{"nothing", `{}`, at + ": the object has no apiVersion"},
		{"no version", `{"kind":"Secret","metadata":{"name":"a"},"data":{"p":"Tr0ubador"}}`, at + ": the object has no apiVersion"},
		{"no kind", `{"apiVersion":"v1","metadata":{"name":"a"}}`, at + ": the object has no kind"},
		{"a kind that is a number", `{"apiVersion":"v1","kind":7,"metadata":{"name":"a"}}`, at + ": the object has no kind"},
		{"no name", `{"apiVersion":"v1","kind":"Secret","metadata":{}}`, at + ": the Secret has no metadata.name"},
		{"no metadata", `{"apiVersion":"v1","kind":"Secret"}`, at + ": the Secret has no metadata.name"},
		{"metadata that are a text", `{"apiVersion":"v1","kind":"Secret","metadata":"Tr0ubador"}`, at + ": the Secret has no metadata.name"},
		{"a name that the API server would make up", `{"apiVersion":"v1","kind":"Secret","metadata":{"generateName":"a-"}}`, "generateName cannot be used here"},
		{"a name that is a list", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":["Tr0ubador"]}}`, at + ": the Secret has no metadata.name"},
		{"a version with too many parts", `{"apiVersion":"a/b/c","kind":"Secret","metadata":{"name":"a"}}`, at + ".apiVersion: it must be VERSION or GROUP/VERSION"},
		{"no namespace", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`, at + ": Secret a has no metadata.namespace"},
		{"a namespace that is null", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":null}}`, at + ": Secret a has no metadata.namespace"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			_, err := Prepare(t.Context(), cluster, []Entry{{Position: at, Object: parse(t, test.object)}}, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "Tr0ubador") {
				t.Fatalf("%v, want %q", err, test.want)
			}
			var problem *job.Error
			if !errors.As(err, &problem) || len(problem.Codes) != 1 || problem.Codes[0] != v1alpha1.ErrorConfigurationProblem {
				t.Errorf("codes of %+v", problem)
			}
			if len(cluster.Requests) != 0 {
				t.Errorf("the cluster was asked: %v", cluster.Requests)
			}
		})
	}
}

// TestStrangeDefinitions: a definition is text of the user, too. The API server says what is wrong
// with it; until then it defines no kind.
func TestStrangeDefinitions(t *testing.T) {
	const head = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"x"}`
	tenant := schema.GroupVersionKind{Group: "acme.example", Version: "v1", Kind: "Tenant"}
	for _, test := range []struct {
		reason, text string
		scope        string
	}{
		{"a usual definition", head + `,"spec":{"group":"acme.example","scope":"Cluster","names":{"kind":"Tenant","plural":"tenants"},"versions":[{"name":"v1"}]}}`, "root"},
		{"an unknown scope counts as namespaced", head + `,"spec":{"group":"acme.example","scope":"cluster","names":{"kind":"Tenant"},"versions":[{"name":"v1"}]}}`, "namespace"},
		{"a version between values that are not valid", head + `,"spec":{"group":"acme.example","scope":"Cluster","names":{"kind":"Tenant"},"versions":[null,"v1",7,{"name":"v2"},{"name":"v1"}]}}`, "root"},
		{"a version that the definition does not have", head + `,"spec":{"group":"acme.example","names":{"kind":"Tenant"},"versions":[{"name":"v2"}]}}`, ""},
		{"no specification", head + `}`, ""},
		{"a specification that is a text", head + `,"spec":"acme.example"}`, ""},
		{"versions that are a map", head + `,"spec":{"group":"acme.example","names":{"kind":"Tenant"},"versions":{"name":"v1"}}}`, ""},
		{"a version whose name is a number", head + `,"spec":{"group":"acme.example","names":{"kind":"Tenant"},"versions":[{"name":1}]}}`, ""},
		{"names that are a list", head + `,"spec":{"group":"acme.example","names":["Tenant"],"versions":[{"name":"v1"}]}}`, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			mapping, defined := definitions([]Entry{{Object: parse(t, test.text)}})[tenant]
			if defined != (test.scope != "") || defined && string(mapping.Scope.Name()) != test.scope {
				t.Errorf("defines it: %v, %+v", defined, mapping)
			}
		})
	}
}

// TestStrangePointers: a pointer that leads through a value other than a map finds nothing, and
// breaks nothing.
func TestStrangePointers(t *testing.T) {
	for _, test := range []struct{ reason, pointer, live, manifest, want string }{
		{"through a list of both", "/spec/0", `{"spec":[1]}`, `{"spec":[2]}`, `{"spec":[2]}`},
		{"through a text of the live object", "/spec/a", `{"spec":"x"}`, `{"spec":{"a":1,"b":2}}`, `{"spec":{"b":2}}`},
		{"through null", "/spec/a", `{"spec":null}`, `{"spec":{"a":1}}`, `{"spec":{}}`},
		{"null is a value", "/spec/a", `{"spec":{"a":null}}`, `{"spec":{"a":1}}`, `{"spec":{"a":null}}`},
		{"an empty name is a name", "/spec/", `{"spec":{"":1}}`, `{"spec":{}}`, `{"spec":{"":1}}`},
		{"a tilde and a one are no slash", "/spec/~01", `{"spec":{"~1":1,"/":2}}`, `{"spec":{}}`, `{"spec":{"~1":1}}`},
		{"a whole part", "/spec", `{"spec":{"a":1}}`, `{"spec":{"b":2}}`, `{"spec":{"a":1}}`},
		{"a whole part that does not exist", "/spec", `{}`, `{"spec":{"b":2},"x":1}`, `{"x":1}`},
		{"deep, where there is nothing", "/a/b/c/d", `{}`, `{"x":1}`, `{"x":1}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			pointer, err := ParsePointer(test.pointer)
			if err != nil {
				t.Fatal(err)
			}
			read := func(text string) map[string]any { return parse(t, text).Object }
			live, manifest := read(test.live), read(test.manifest)
			for range 2 { // again it changes nothing more
				pointer.carry(live, manifest)
				if diff := cmp.Diff(read(test.want), manifest); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
			if diff := cmp.Diff(read(test.live), live); diff != "" {
				t.Errorf("the live object was changed:\n%s", diff)
			}
		})
	}
}

// TestSame: the version of an API is no part of what an object is; its group is.
func TestSame(t *testing.T) {
	web := corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "ns", Name: "web", UID: "1"}
	for _, test := range []struct {
		reason string
		change func(*corev1.ObjectReference)
		want   bool
	}{
		{"the object itself", func(*corev1.ObjectReference) {}, true},
		{"a different API version", func(r *corev1.ObjectReference) { r.APIVersion = "apps/v1beta1" }, true},
		{"a different UID: the object was created again", func(r *corev1.ObjectReference) { r.UID = "2" }, true},
		{"a different group", func(r *corev1.ObjectReference) { r.APIVersion = "acme.example/v1" }, false},
		{"the group of no name", func(r *corev1.ObjectReference) { r.APIVersion = "v1" }, false},
		{"a different kind", func(r *corev1.ObjectReference) { r.Kind = "StatefulSet" }, false},
		{"a kind in lower case", func(r *corev1.ObjectReference) { r.Kind = "deployment" }, false},
		{"a different namespace", func(r *corev1.ObjectReference) { r.Namespace = "other" }, false},
		{"no namespace", func(r *corev1.ObjectReference) { r.Namespace = "" }, false},
		{"a different name", func(r *corev1.ObjectReference) { r.Name = "web2" }, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			other := web
			test.change(&other)
			if Same(web, other) != test.want || Same(other, web) != test.want {
				t.Errorf("%+v is the same: %v", other, Same(web, other))
			}
			recorded := Inventory{{Resource: web}}
			if marked := recorded.WithUID(other, "new"); (marked[0].Resource.UID == "new") != test.want {
				t.Errorf("the identity was noted: %v", marked[0].Resource.UID)
			}
			if left := recorded.Without(other); (len(left) == 0) != test.want {
				t.Errorf("left is %v", left)
			}
			if len(recorded) != 1 || recorded[0].Resource != web {
				t.Errorf("what was recorded has changed: %v", recorded)
			}
		})
	}
}

// TestMergesShareNothing: what comes from a watch or from the item belongs to others.
func TestMergesShareNothing(t *testing.T) {
	const live = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u","resourceVersion":"7","finalizers":["f/x"],"labels":{"l":"1"}},"data":{"x":{"deep":["1"]}},"status":{"s":1}}`
	const manifest = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"wrong","finalizers":["f/y"],"labels":{"m":"2"}},"data":{"y":{"deep":["2"]}},"status":{"s":"mine"}}`
	makers := map[string]func(live, manifest *unstructured.Unstructured) *unstructured.Unstructured{
		"replaced": func(live, manifest *unstructured.Unstructured) *unstructured.Unstructured {
			return replacement(live, manifest, "us")
		},
		"merged": func(live, manifest *unstructured.Unstructured) *unstructured.Unstructured {
			return merged(live, manifest, false)
		},
		"merged over it": func(live, manifest *unstructured.Unstructured) *unstructured.Unstructured {
			return merged(live, manifest, true)
		},
		"patched": func(live, manifest *unstructured.Unstructured) *unstructured.Unstructured {
			return Merge(live, manifest.Object)
		},
	}
	for reason, combine := range makers {
		t.Run(reason, func(t *testing.T) {
			was, wanted := parse(t, live), parse(t, manifest)
			made := combine(was, wanted)
			if made.GetUID() != "u" || made.GetResourceVersion() != "7" {
				t.Errorf("what only an API server sets was taken from the manifest: %v", made.Object["metadata"])
			}
			if diff := cmp.Diff(map[string]any{"s": int64(1)}, made.Object["status"]); diff != "" {
				t.Errorf("the status belongs to its writer:\n%s", diff)
			}
			if again := combine(made, wanted); !Equal(again, made) {
				t.Errorf("a second time it is another one:\n%s", cmp.Diff(made.Object, again.Object))
			}
			scribble(made.Object)
			if diff := cmp.Diff(parse(t, live).Object, was.Object); diff != "" {
				t.Errorf("the live object has changed:\n%s", diff)
			}
			if diff := cmp.Diff(parse(t, manifest).Object, wanted.Object); diff != "" {
				t.Errorf("the manifest has changed:\n%s", diff)
			}
		})
	}
}

// scribble writes over everything in a value.
func scribble(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			scribble(inner)
			value[key] = "scribbled"
		}
		value["new"] = "scribbled"
	case []any:
		for i, inner := range value {
			scribble(inner)
			value[i] = "scribbled"
		}
	}
}
