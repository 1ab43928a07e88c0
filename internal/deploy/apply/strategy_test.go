package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/api/deployer"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestMergeValues(t *testing.T) {
	list := func(values ...any) []any { return values }
	object := func(key string, value any) map[string]any { return map[string]any{key: value} }
	tests := []struct {
		reason           string
		live, manifest   any
		merge, overwrite any
	}{
		{"a scalar against another one", "a", "b", "a", "b"},
		{"a scalar against one of another type", "a", int64(1), "a", int64(1)},
		{"an empty number counts as not set", int64(0), int64(1), int64(1), int64(1)},
		{"an empty text counts as not set", "", "b", "b", "b"},
		{"false counts as not set", false, true, true, true},
		{"an empty scalar overwrites", "a", "", "a", ""},
		{"maps are merged", object("a", "1"), object("b", "2"), map[string]any{"a": "1", "b": "2"}, map[string]any{"a": "1", "b": "2"}},
		{"an empty map never clears", object("a", "1"), map[string]any{}, object("a", "1"), object("a", "1")},
		{"null", "a", nil, "a", nil},
		{"a list is replaced as a whole", list("a"), list("b", "c"), list("a"), list("b", "c")},
		{"an empty list clears", list("a"), list(), list("a"), list()},
		{"an empty list counts as not set", list(), list("b"), list("b"), list("b")},
		{"a map against a scalar", object("a", "1"), "b", object("a", "1"), "b"},
		{"a scalar against a map", "a", object("b", "1"), "a", object("b", "1")},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			for overwrite, want := range map[bool]any{false: test.merge, true: test.overwrite} {
				live := (&unstructured.Unstructured{Object: object("x", test.live)}).DeepCopy().Object
				mergeMaps(live, object("x", test.manifest), overwrite)
				if diff := cmp.Diff(want, live["x"]); diff != "" {
					t.Errorf("overwrite %t: -want +got\n%s", overwrite, diff)
				}
			}
		})
	}
}

func TestReplacement(t *testing.T) {
	tests := []struct{ reason, live, manifest, want string }{
		{
			"what others rely on stays, everything else is as the manifest says",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u","resourceVersion":"5","labels":{"foreign":"x"},"finalizers":["f"],"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"o"}]},"data":{"a":"1","b":"1"}}`,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"wrong","finalizers":["g","f"]},"data":{"a":"2"}}`,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u","resourceVersion":"5","finalizers":["f","g"],"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"o"}]},"data":{"a":"2"}}`,
		},
		{
			"the status belongs to its controller",
			`{"apiVersion":"acme.example/v1","kind":"Tenant","metadata":{"name":"a"},"status":{"a":1}}`,
			`{"apiVersion":"acme.example/v1","kind":"Tenant","metadata":{"name":"a"},"status":{"b":1}}`,
			`{"apiVersion":"acme.example/v1","kind":"Tenant","metadata":{"name":"a"},"status":{"a":1}}`,
		},
		{
			"the address of a service cannot be changed",
			`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"clusterIP":"10.0.0.1","ports":[]}}`,
			`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}`,
			`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"clusterIP":"10.0.0.1","ports":[{"port":80}]}}`,
		},
		{
			"a job's selector is made by the cluster",
			`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"x":"y"}},"template":{"metadata":{"labels":{"x":"y"}}}}}`,
			`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"template":{"spec":{}}}}`,
			`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"x":"y"}},"template":{"metadata":{"labels":{"x":"y"}},"spec":{}}}}`,
		},
		{
			"a bound volume stays bound",
			`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a"},"spec":{"volumeName":"v","storageClassName":"fast"}}`,
			`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a"},"spec":{"storageClassName":"slow"}}`,
			`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a"},"spec":{"volumeName":"v","storageClassName":"slow"}}`,
		},
		{
			"a kind of another group is not the one with the same name",
			`{"apiVersion":"serving.example/v1","kind":"Service","metadata":{"name":"a"},"spec":{"clusterIP":"10.0.0.1"}}`,
			`{"apiVersion":"serving.example/v1","kind":"Service","metadata":{"name":"a"},"spec":{}}`,
			`{"apiVersion":"serving.example/v1","kind":"Service","metadata":{"name":"a"},"spec":{}}`,
		},
		{
			"secrets of a service account stay if the manifest has none",
			`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"},"secrets":[{"name":"s"}]}`,
			`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"}}`,
			`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"},"secrets":[{"name":"s"}]}`,
		},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := replacement(parse(t, test.live), parse(t, test.manifest), "us")
			if diff := cmp.Diff(parse(t, test.want).Object, got.Object); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	tests := []struct {
		reason, object string
		want           []string
	}{
		{"an object", `{"kind":"ConfigMap","metadata":{"name":"a"}}`, []string{"m"}},
		{"a list", `{"kind":"List","items":[{"kind":"A"},{"kind":"B"}]}`, []string{"m.items[0]", "m.items[1]"}},
		{"a list of lists", `{"kind":"List","items":[{"kind":"AList","items":[{"kind":"A"}]}]}`, []string{"m.items[0].items[0]"}},
		{"an empty list", `{"kind":"ConfigMapList","items":[]}`, nil},
		{"an object that has items itself", `{"kind":"Basket","metadata":{"name":"a"},"items":[{}]}`, []string{"m"}},
		{"an object that has items and no name", `{"kind":"Basket","items":[{}]}`, []string{"m"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			expanded, err := Expand([]Entry{{Position: "m", Object: parse(t, test.object)}})
			if err != nil {
				t.Errorf("%v", err)
			}
			var got []string
			for _, entry := range expanded {
				got = append(got, entry.Position)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for _, wrong := range []string{`{"kind":"List","items":{}}`, `{"kind":"List","items":["text"]}`} {
		if _, err := Expand([]Entry{{Object: parse(t, wrong)}}); err == nil {
			t.Errorf("%s was accepted", wrong)
		}
	}
}

func TestInventory(t *testing.T) {
	ref := func(apiVersion, kind, namespace, name string) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
	}
	object := func(policy deployer.ManifestPolicy, ref corev1.ObjectReference) Object {
		content := &unstructured.Unstructured{}
		content.SetAPIVersion(ref.APIVersion)
		content.SetKind(ref.Kind)
		content.SetNamespace(ref.Namespace)
		content.SetName(ref.Name)
		return Object{Entry: Entry{Policy: policy, Object: content}, Mapping: &meta.RESTMapping{Scope: meta.RESTScopeNamespace, Resource: schema.GroupVersionResource{}}}
	}
	old := ref("apps/v1beta1", "Deployment", "a", "web")
	old.UID = "u"
	recorded := Inventory{{Policy: "manage", Resource: old}, {Policy: "keep", Resource: ref("v1", "Secret", "a", "orphan")}}
	objects := []Object{
		object("manage", ref("v1", "ConfigMap", "a", "new")),
		object("immutable", ref("apps/v1", "Deployment", "a", "web")),
		object("manage", ref("v1", "Namespace", "", "a")),
		object("manage", ref("apiextensions.k8s.io/v1", CRDKind, "", "x")),
		object("ignore", ref("v1", "ConfigMap", "a", "ignored")),
	}
	union := recorded.With(objects)
	var names []string
	for _, entry := range union {
		names = append(names, string(entry.Policy)+" "+entry.Resource.Name+" "+string(entry.Resource.UID))
	}
	want := []string{"manage x ", "manage a ", "manage new ", "immutable web u", "keep orphan "}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the union has everything of before and of now, in the published order: -want +got\n%s", diff)
	}
	if recorded[0].Policy != "manage" {
		t.Error("the recorded inventory was changed")
	}
	if orphans := union.Orphans(objects); len(orphans) != 1 || orphans[0].Resource.Name != "orphan" {
		t.Errorf("orphans %v", orphans)
	}
	if rest := union.Without(ref("v1", "Secret", "a", "orphan")); len(rest) != 4 || len(union) != 5 {
		t.Errorf("without the orphan there are %d of %d", len(rest), len(union))
	}
}
