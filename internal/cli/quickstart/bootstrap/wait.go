package bootstrap

import (
	"context"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/deploy/readiness"
)

// Wait returns when those of the objects that run programs are rolled out. The progress
// says what is missing until then.
func Wait(ctx context.Context, c client.WithWatch, objects []*unstructured.Unstructured, progress io.Writer) error {
	for _, object := range objects {
		if !readiness.IsWorkload(object.GroupVersionKind().GroupKind()) {
			continue
		}
		if err := waitFor(ctx, c, object, progress); err != nil {
			return err
		}
	}
	return nil
}

// waitFor follows one object. A watch that breaks is resumed.
func waitFor(ctx context.Context, c client.WithWatch, object *unstructured.Unstructured, progress io.Writer) error {
	name := object.GetKind() + " " + object.GetName()
	missing := "nothing is known of it yet"
	look := func(event watch.Event) (bool, error) {
		why := "it is deleted"
		if seen, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != watch.Deleted {
			why = readiness.Unready(seen).Why
		}
		if why != missing && why != "" {
			fmt.Fprintf(progress, "waiting for %s: %s\n", name, why)
		}
		missing = why
		return why == "", nil
	}
	if _, err := watchtools.UntilWithSync(ctx, one(c, object), &unstructured.Unstructured{}, nil, look); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("wait for %s in namespace %s: %s: %w", name, object.GetNamespace(), missing, err)
	}
	return nil
}

// waitGone returns when objects are deleted.
func waitGone(ctx context.Context, c client.WithWatch, objects []*unstructured.Unstructured, progress io.Writer) error {
	for _, object := range objects {
		name := object.GetKind() + " " + object.GetName()
		absent := func(store cache.Store) (bool, error) {
			there := len(store.List()) > 0
			if there {
				fmt.Fprintf(progress, "waiting until %s is deleted\n", name)
			}
			return !there, nil
		}
		gone := func(event watch.Event) (bool, error) { return event.Type == watch.Deleted, nil }
		if _, err := watchtools.UntilWithSync(ctx, one(c, object), &unstructured.Unstructured{}, absent, gone); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return fmt.Errorf("wait until %s is deleted: %w", name, err)
		}
	}
	return nil
}

// one lists and watches a single object.
func one(c client.WithWatch, object *unstructured.Unstructured) *cache.ListWatch {
	list := func() *unstructured.UnstructuredList {
		empty := &unstructured.UnstructuredList{}
		empty.SetGroupVersionKind(object.GroupVersionKind())
		return empty
	}
	only := func(options metav1.ListOptions) *client.ListOptions {
		return &client.ListOptions{Namespace: object.GetNamespace(), FieldSelector: fields.OneTermEqualSelector("metadata.name", object.GetName()), Raw: &options}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			all := list()
			err := c.List(ctx, all, only(options))
			return all, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, list(), only(options))
		},
	}
}
