package apiserver

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

func connect(t *testing.T, options Options) *kubernetes.Clientset {
	t.Helper()
	server := New(options)
	t.Cleanup(server.Close)
	typed, err := kubernetes.NewForConfig(server.Config("test.invalid"))
	if err != nil {
		t.Fatal(err)
	}
	return typed
}

// TestWrites: the rules of an API server that controllers rely on.
func TestWrites(t *testing.T) {
	typed := connect(t, Options{})
	maps, ctx := typed.CoreV1().ConfigMaps("default"), t.Context()
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"example.org/a"}}}, metav1.CreateOptions{})
	if err != nil || made.UID == "" || made.ResourceVersion == "" {
		t.Fatalf("%v, %v", made, err)
	}
	if _, err := maps.Create(ctx, made.DeepCopy(), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second creation: %v", err)
	}
	changed := made.DeepCopy()
	changed.Data = map[string]string{"a": "b"}
	if changed, err = maps.Update(ctx, changed, metav1.UpdateOptions{}); err != nil || changed.ResourceVersion == made.ResourceVersion {
		t.Fatalf("an update: %v", err)
	}
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old version: %v", err)
	}
	same, err := maps.Update(ctx, changed.DeepCopy(), metav1.UpdateOptions{})
	if err != nil || same.ResourceVersion != changed.ResourceVersion {
		t.Errorf("an update without a change makes a version: %v", err)
	}
	if dry, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"a":"c"}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}); err != nil || dry.Data["a"] != "c" {
		t.Errorf("a dry run: %v, %v", dry, err)
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	left, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil || left.DeletionTimestamp == nil || left.Data["a"] != "b" {
		t.Fatalf("a deletion with a finalizer: %v, %v", left, err)
	}
	if _, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the last finalizer: %v", err)
	}
}

// TestWatch: a watch has what comes after its version, with selectors, and what is collected as garbage.
func TestWatch(t *testing.T) {
	typed := connect(t, Options{})
	maps := typed.CoreV1().ConfigMaps("default")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	create := func(name string, owner *corev1.ConfigMap) *corev1.ConfigMap {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"watched": "yes"}}}
		if owner != nil {
			object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
		}
		made, err := maps.Create(ctx, object, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	first := create("first", nil)
	events, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: first.ResourceVersion, LabelSelector: "watched=yes"})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	create("second", first)
	if _, err := maps.Patch(ctx, "first", types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(ctx, "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		kind watch.EventType
		name string
	}{{watch.Added, "second"}, {watch.Deleted, "first"}, {watch.Deleted, "second"}} {
		event := <-events.ResultChan()
		object, isMap := event.Object.(*corev1.ConfigMap)
		if !isMap || event.Type != want.kind || object.Name != want.name {
			t.Errorf("%s %v, want %s %s", event.Type, event.Object, want.kind, want.name)
		}
	}
}

// TestSeveralOwners: what is collected as garbage with one owner is not deleted once more with the other, and
// not by the deletion of all.
func TestSeveralOwners(t *testing.T) {
	for _, test := range []struct {
		reason string
		delete func(context.Context, typedcorev1.ConfigMapInterface) error
	}{
		{"the first owner", func(ctx context.Context, maps typedcorev1.ConfigMapInterface) error {
			return maps.Delete(ctx, "a", metav1.DeleteOptions{})
		}},
		{"all", func(ctx context.Context, maps typedcorev1.ConfigMapInterface) error {
			return maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		}},
	} {
		deleted := map[string]int{}
		typed := connect(t, Options{Changed: func(_ *Server, change Change) {
			switch {
			case change.Before == nil && change.After == nil:
				t.Errorf("%s: a change of nothing", test.reason)
			case change.After == nil:
				deleted[change.Before.GetName()]++
			}
		}})
		maps, ctx := typed.CoreV1().ConfigMaps("default"), t.Context()
		var owners []metav1.OwnerReference
		for _, name := range []string{"a", "b", "c"} {
			made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			owners = append(owners, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: made.UID})
		}
		if err := test.delete(ctx, maps); err != nil {
			t.Errorf("%s: %v", test.reason, err)
		}
		if len(deleted) != 3 || deleted["a"] != 1 || deleted["b"] != 1 || deleted["c"] != 1 {
			t.Errorf("%s: deleted %v", test.reason, deleted)
		}
	}
}

// TestPages: a list in pages has all objects, also of namespaces of which one begins as the other.
func TestPages(t *testing.T) {
	typed := connect(t, Options{})
	for _, namespace := range []string{"a", "a-b"} {
		_, err := typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		if err == nil {
			_, err = typed.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	options := metav1.ListOptions{Limit: 1}
	for {
		page, err := typed.CoreV1().ConfigMaps("").List(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range page.Items {
			found = append(found, object.Namespace+"/"+object.Name)
		}
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	if !slices.Equal(found, []string{"a-b/c", "a/c"}) {
		t.Errorf("the pages have %v", found)
	}
}

// TestReplicas: a workload that names no replicas has one, also after it has named some.
func TestReplicas(t *testing.T) {
	typed := connect(t, Options{})
	deployments, ctx := typed.AppsV1().Deployments("default"), t.Context()
	for _, test := range []struct {
		reason, spec string
		want         int32
	}{
		{"none named", `{"minReadySeconds":1}`, 1},
		{"some named", `{"minReadySeconds":1,"replicas":3}`, 3},
		{"nothing is wanted", `{"minReadySeconds":1,"replicas":0}`, 0},
		{"none named any more", `{"minReadySeconds":1}`, 1},
	} {
		body := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":` + test.spec + `}`
		made, err := deployments.Patch(ctx, "a", types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: "test"})
		if err != nil || made.Spec.Replicas == nil || *made.Spec.Replicas != test.want {
			t.Errorf("%s: %v, %v", test.reason, made.Spec.Replicas, err)
		}
	}
}

// TestMemory: all objects together, and each of them, are bounded.
func TestMemory(t *testing.T) {
	typed := connect(t, Options{Memory: 2 << 20})
	maps := typed.CoreV1().ConfigMaps("default")
	create := func(name string, size int) error {
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, BinaryData: map[string][]byte{"a": make([]byte, size)}}, metav1.CreateOptions{})
		return err
	}
	if err := create("large", 2<<20); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("a large object: %v", err)
	}
	if err := errorsOf(create("a", 1<<20), create("b", 1<<20)); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("many objects: %v", err)
	}
}

// errorsOf is the last error.
func errorsOf(first, second error) error {
	if second != nil {
		return second
	}
	return first
}
