package local

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/repository"
)

// replaceable are component versions that may be replaced by others.
type replaceable struct {
	present atomic.Pointer[repository.Repository]
}

func (r *replaceable) set(next repository.Repository) { r.present.Store(&next) }

// Lookup implements repository.Repository.
func (r *replaceable) Lookup(ctx context.Context, name, version string) (*repository.Version, error) {
	if in := *r.present.Load(); in != nil {
		return in.Lookup(ctx, name, version)
	}
	return nil, &repository.NotFoundError{Name: name, Version: version, In: "the folder, which has no components"}
}

// Change takes over what has changed in the folder: objects that are other ones, those that are not there
// any more, and components. All Installations get a job. After an error, the next change goes on with what
// was written until then.
func (l *Landscape) Change(objects []*unstructured.Unstructured, components repository.Repository) error {
	next, err := l.prepared(objects)
	if err != nil {
		return err
	}
	l.components.set(components)
	// Installations, which are written last, are deleted first.
	for _, old := range slices.Backward(slices.Clone(l.written)) {
		if find(next, old) != nil {
			continue
		}
		if err := l.Resource.Delete(old.GroupVersionKind(), keyOf(old)); err != nil {
			return fmt.Errorf("delete %s %s: %w", old.GetKind(), old.GetName(), err)
		}
		l.forget(old)
	}
	for _, object := range next {
		if object.GetKind() != "Installation" && reflect.DeepEqual(find(l.written, object), object) {
			continue
		}
		if err := l.write(object); err != nil {
			return err
		}
	}
	return nil
}

// forget removes an object from what was written.
func (l *Landscape) forget(object *unstructured.Unstructured) {
	l.written = slices.DeleteFunc(l.written, func(known *unstructured.Unstructured) bool {
		return known.GetKind() == object.GetKind() && keyOf(known) == keyOf(object)
	})
}

func keyOf(object *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func find(objects []*unstructured.Unstructured, like *unstructured.Unstructured) *unstructured.Unstructured {
	for _, object := range objects {
		if object.GetKind() == like.GetKind() && keyOf(object) == keyOf(like) {
			return object
		}
	}
	return nil
}

// write creates an object of the folder, or replaces it: its finalizers, its owners and its status stay.
func (l *Landscape) write(given *unstructured.Unstructured) error {
	object := given.DeepCopy()
	live := l.Resource.Find(object.GroupVersionKind(), keyOf(object))
	if live != nil {
		object.SetFinalizers(live.GetFinalizers())
		object.SetOwnerReferences(live.GetOwnerReferences())
	}
	if object.GetKind() == "Installation" {
		Request(object)
	}
	if err := l.Resource.Put(object); err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), keyOf(object), err)
	}
	l.forget(given)
	l.written = append(l.written, given)
	return nil
}

// Delete deletes Installations of the resource cluster, as a user would.
func (l *Landscape) Delete() error {
	for _, object := range l.Resource.Objects() {
		if object.GetKind() != "Installation" || object.GetLabels()[v1alpha1.EncompassedByLabel] != "" {
			continue
		}
		if err := l.Resource.Delete(object.GroupVersionKind(), keyOf(object)); err != nil {
			return fmt.Errorf("delete Installation %s: %w", keyOf(object), err)
		}
	}
	return nil
}
