// Package readthrough bounds what the caches of the server hold of one object: the large value of a
// DataObject or Target is not kept, and read from the API server when a controller asks for it.
// Otherwise, the values of a few hundred objects of one tenant would fill the memory of the server,
// whether anything uses them or not.
package readthrough

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// Limit is up to which size caches keep the value of an object, and its annotations. Values that
// Installations usually pass on are smaller, so that they cost no request.
const Limit = 32 << 10

// omitted marks an object whose value was left out, by the operation of its only managed field. No
// user can write the mark: an API server knows other operations alone, and caches keep no managed
// fields of an API server.
const omitted = metav1.ManagedFieldsOperationType("Omitted")

// Transform is the transformation of all objects in the caches: managed fields are for the API
// server, except for who has asked for a job, and large values are left out.
func Transform(object any) (any, error) {
	if holder, ok := object.(metav1.ObjectMetaAccessor); ok {
		omit(object, holder.GetObjectMeta())
	}
	return object, nil
}

func omit(object any, meta metav1.Object) {
	if inst, ok := object.(*v1alpha1.Installation); ok {
		markRequester(inst)
		return
	}
	meta.SetManagedFields(nil)
	var value *v1alpha1.AnyJSON
	switch object := object.(type) {
	case *v1alpha1.DataObject:
		value = &object.Data
	case *v1alpha1.Target:
		value = object.Spec.Configuration
	case *deliveryv1alpha1.DeliveryPlan:
		// It is read where it is used, which is rare.
		object.Spec.Content = nil
		return
	case *metav1.PartialObjectMetadata:
		// The versions and labels of Secrets and ConfigMaps are all that is used of them.
		meta.SetAnnotations(nil)
		return
	default:
		return
	}
	if value != nil && len(value.RawMessage) > Limit {
		size := len(value.RawMessage)
		value.RawMessage = nil
		mark(meta, size)
	}
	if sizeOf(meta.GetAnnotations()) > Limit {
		kept := map[string]string{}
		// What lists of the cache are read for, see AsCached.
		if name, found := meta.GetAnnotations()[v1alpha1.DataObjectSecretAnnotation]; found && len(name) <= 253 {
			kept[v1alpha1.DataObjectSecretAnnotation] = name
		}
		meta.SetAnnotations(kept)
		mark(meta, OmittedSize(meta))
	}
}

func mark(meta metav1.Object, size int) {
	meta.SetManagedFields([]metav1.ManagedFieldsEntry{{Operation: omitted, Manager: strconv.Itoa(size)}})
}

// Omitted reports whether a part of an object was left out.
func Omitted(object metav1.Object) bool {
	fields := object.GetManagedFields()
	return len(fields) == 1 && fields[0].Operation == omitted
}

// OmittedSize returns the size of the value that was left out of an object.
func OmittedSize(object metav1.Object) int {
	if !Omitted(object) {
		return 0
	}
	size, _ := strconv.Atoi(object.GetManagedFields()[0].Manager) // mark has written it
	return size
}

func sizeOf(annotations map[string]string) (size int) {
	for key, value := range annotations {
		size += len(key) + len(value)
	}
	return size
}
