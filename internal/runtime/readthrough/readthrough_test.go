package readthrough

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeRuntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
)

func value(size int) v1alpha1.AnyJSON {
	return v1alpha1.NewAnyJSON([]byte(`"` + strings.Repeat("x", size-2) + `"`))
}

func data(name string, size int) *v1alpha1.DataObject {
	return &v1alpha1.DataObject{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: name, ResourceVersion: "7", Labels: map[string]string{"of": "a"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Operation: metav1.ManagedFieldsOperationUpdate}},
		},
		Data: value(size),
	}
}

func target(size int) *v1alpha1.Target {
	config := value(size)
	return &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "edge", ResourceVersion: "7"},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: &config},
	}
}

func transformed[T client.Object](t *testing.T, object T) T {
	t.Helper()
	got, err := Transform(object)
	if err != nil {
		t.Fatal(err)
	}
	return got.(T)
}

func TestTransform(t *testing.T) {
	annotated := func(object *v1alpha1.DataObject, annotations map[string]string) client.Object {
		object.Annotations = annotations
		return object
	}
	forged := data("forged", 10)
	forged.ManagedFields = []metav1.ManagedFieldsEntry{{Operation: omitted}}
	tests := []struct {
		reason  string
		object  client.Object
		omitted bool
		size    int
	}{
		{"a usual value costs no request", data("a", Limit), false, 0},
		{"a large value is read when it is needed", data("a", Limit+1), true, Limit + 1},
		{"also that of a Target", target(Limit + 1), true, Limit + 1},
		{"a Target with a usual kubeconfig", target(6_000), false, 0},
		{"a Target that refers to a Secret", &v1alpha1.Target{Spec: v1alpha1.TargetSpec{SecretRef: &v1alpha1.LocalSecretReference{Name: "s"}}}, false, 0},
		{"large annotations, which a value may be moved to", annotated(data("a", 10), map[string]string{"x": strings.Repeat("x", Limit)}), true, 0},
		{"a mark that another client has sent", forged, false, 0},
		{"other kinds are kept", &v1alpha1.DeployItem{}, false, 0},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := transformed(t, test.object)
			if Omitted(got) != test.omitted || OmittedSize(got) != test.size {
				t.Errorf("omitted %v, %d bytes; want %v, %d", Omitted(got), OmittedSize(got), test.omitted, test.size)
			}
			if !test.omitted && len(got.GetManagedFields()) > 0 {
				t.Error("it has managed fields")
			}
			if size := sizeOfValue(got); size > Limit {
				t.Errorf("%d bytes are kept", size)
			}
		})
	}
}

// TestKeptReference: lists of the cache are read for the Secret of a DataObject.
func TestKeptReference(t *testing.T) {
	object := data("a", 10)
	object.Annotations = map[string]string{v1alpha1.DataObjectSecretAnnotation: "s", "x": strings.Repeat("x", Limit)}
	if got := transformed(t, object).Annotations; len(got) != 1 || got[v1alpha1.DataObjectSecretAnnotation] != "s" {
		t.Errorf("kept are %d annotations", len(got))
	}
}

// TestMemory: 300 objects of 1 MB of one tenant, as a cache holds them.
func TestMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cached := make([]*v1alpha1.DataObject, 300)
	for i := range cached {
		cached[i] = transformed(t, data(fmt.Sprint(i), 1<<20))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d objects of 1 MiB take %d KiB", len(cached), kept>>10)
	if kept > 8<<20 {
		t.Errorf("%d MiB are kept, want at most 8", kept>>20)
	}
	runtime.KeepAlive(cached)
}

// cacheAndServer are a client on a cache, which has transformed objects, and the number of requests
// to the API server.
func cacheAndServer(t *testing.T, objects ...client.Object) (client.Client, client.WithWatch, *int) {
	t.Helper()
	scheme, requests := kubeRuntime.NewScheme(), 0
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server, kept := fake.NewClientBuilder().WithScheme(scheme), map[client.ObjectKey]client.Object{}
	for _, object := range objects {
		stored := object.DeepCopyObject().(client.Object)
		stored.SetManagedFields(nil)
		server.WithObjects(stored)
		kept[client.ObjectKeyFromObject(object)] = transformed(t, object)
	}
	live := server.Build()
	counted := interceptor.NewClient(live, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
		requests++
		return c.Get(ctx, key, into, options...)
	}})
	cache := interceptor.NewClient(live, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			kept[key].(*v1alpha1.DataObject).DeepCopyInto(into.(*v1alpha1.DataObject))
			return nil
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			for _, object := range objects {
				list.(*v1alpha1.DataObjectList).Items = append(list.(*v1alpha1.DataObjectList).Items, *kept[client.ObjectKeyFromObject(object)].(*v1alpha1.DataObject))
			}
			return nil
		},
	})
	return New(cache, counted), live, &requests
}

func TestRead(t *testing.T) {
	through, server, requests := cacheAndServer(t, data("large", 2*Limit), data("small", 100), data("deleted", 2*Limit))
	check := func(doing string, object *v1alpha1.DataObject, size, want int) {
		t.Helper()
		if len(object.Data.RawMessage) != size || Omitted(object) || object.Labels["of"] != "a" {
			t.Errorf("%s: %d bytes, labels %v", doing, len(object.Data.RawMessage), object.Labels)
		}
		if *requests != want {
			t.Errorf("%s: %d requests, want %d", doing, *requests, want)
		}
	}
	got := &v1alpha1.DataObject{}
	for i, name := range []string{"small", "large"} {
		if err := through.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: name}, got); err != nil {
			t.Fatal(err)
		}
		check(name, got, []int{100, 2 * Limit}[i], i)
	}
	if err := through.Update(t.Context(), got); err != nil {
		t.Errorf("an object that was read with its value can be written: %v", err)
	}
	if err := server.Delete(t.Context(), data("deleted", 10)); err != nil {
		t.Fatal(err)
	}
	list := &v1alpha1.DataObjectList{}
	if err := through.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 2 {
		t.Fatalf("%d objects, want 2 without the deleted one", len(list.Items))
	}
	check("list", &list.Items[0], 2*Limit, 3)
	check("list", &list.Items[1], 100, 3)

	list = &v1alpha1.DataObjectList{}
	if err := through.List(t.Context(), list, AsCached); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 3 || !Omitted(&list.Items[0]) || *requests != 3 {
		t.Errorf("as cached: %d objects, %d requests", len(list.Items), *requests)
	}
	if err := through.Update(t.Context(), &list.Items[0]); err == nil {
		t.Error("an update without the value is sent")
	}
	if err := through.Patch(t.Context(), &list.Items[0], client.MergeFrom(data("large", 10))); err == nil {
		t.Error("a patch without the value is sent")
	}
}

// TestLargeLists: a list holds all values at the same time.
func TestLargeLists(t *testing.T) {
	objects := make([]client.Object, 70)
	for i := range objects {
		objects[i] = data(fmt.Sprintf("o-%02d", i), 1<<20)
	}
	through, _, requests := cacheAndServer(t, objects...)
	err := through.List(t.Context(), &v1alpha1.DataObjectList{})
	if err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("got %v", err)
	}
	if *requests != 65 {
		t.Errorf("%d requests, want 65", *requests)
	}
}
