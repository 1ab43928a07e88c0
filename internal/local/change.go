package local

import (
	"context"
	"fmt"
	"reflect"
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
// any more, and components. All Installations get a job.
func (l *Landscape) Change(objects []*unstructured.Unstructured, components repository.Repository) error {
	l.components.set(components)
	before := l.options.Objects
	l.options.Objects = objects
	next, err := l.prepared()
	if err != nil {
		return err
	}
	for _, old := range before {
		if find(next, old) == nil {
			if err := l.Resource.Delete(old.GroupVersionKind(), keyOf(old)); err != nil {
				return fmt.Errorf("delete %s %s: %w", old.GetKind(), old.GetName(), err)
			}
		}
	}
	for _, object := range next {
		if object.GetKind() != "Installation" && reflect.DeepEqual(find(before, object), object) {
			continue
		}
		if err := l.write(object); err != nil {
			return err
		}
	}
	return nil
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

// write creates an object of the folder, or changes the fields that the folder has: the finalizers and the
// labels of controllers stay.
func (l *Landscape) write(object *unstructured.Unstructured) error {
	object = object.DeepCopy()
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
