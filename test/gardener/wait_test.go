package gardener

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestWaitBeginsNow: what an API server remembers of some time ago, which a watch without
// a version may begin with, is not taken for what is waited for.
func TestWaitBeginsNow(t *testing.T) {
	object := func(answer string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "a", "name": "b"}, "data": map[string]any{"is": answer},
		}}
	}
	events := watch.NewFakeWithChanSize(2, false)
	cluster := fake.NewClientBuilder().WithObjects(object("asked")).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			// In memory there are no fields to select by, and a list has no version.
			err := c.List(ctx, list, client.InNamespace("a"))
			list.SetResourceVersion("9")
			return err
		},
		Watch: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
			given := &client.ListOptions{}
			given.ApplyOptions(options)
			if given.Raw == nil || given.Raw.ResourceVersion != "9" {
				events.Add(object("answered before"))
			}
			events.Modify(object("answered"))
			return events, nil
		},
	}).Build()
	var seen []string
	waited := object("")
	err := Wait(t.Context(), cluster, waited, func(now *unstructured.Unstructured) (bool, error) {
		is, _, err := unstructured.NestedString(now.Object, "data", "is")
		seen = append(seen, is)
		return is != "asked", err
	})
	if is, _, _ := unstructured.NestedString(waited.Object, "data", "is"); err != nil || is != "answered" {
		t.Errorf("it has seen %v, %v", seen, err)
	}
}
