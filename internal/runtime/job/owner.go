package job

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// Owner identifies an object of ours that owns others.
type Owner struct {
	// Kind is the kind of the owner, for example Installation.
	Kind string
	// Object is the owner.
	Object metav1.Object
}

// refers reports whether a reference means an object of a kind of ours. Older
// versions of the group count, too.
func refers(reference metav1.OwnerReference, kind string) bool {
	return reference.Kind == kind && strings.HasPrefix(reference.APIVersion, v1alpha1.GroupName+"/")
}

// OwnerOf returns the first owner of a kind of ours that an object names.
func OwnerOf(object metav1.Object, kind string) (metav1.OwnerReference, bool) {
	for _, reference := range object.GetOwnerReferences() {
		if refers(reference, kind) {
			return reference, true
		}
	}
	return metav1.OwnerReference{}, false
}

// Owns reports whether an object belongs to the owner itself, and not to one of
// the same name that was deleted before.
func (o Owner) Owns(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(reference metav1.OwnerReference) bool {
		return refers(reference, o.Kind) && reference.UID == o.Object.GetUID()
	})
}

// Means reports whether a reference means the owner, or an earlier object of its
// name that was deleted.
func (o Owner) Means(reference metav1.OwnerReference) bool {
	return refers(reference, o.Kind) && (reference.UID == o.Object.GetUID() || reference.Name == o.Object.GetName())
}

// IsLike reports whether a reference means an object of the owner's kind.
func (o Owner) IsLike(reference metav1.OwnerReference) bool { return refers(reference, o.Kind) }

// MayReplace reports whether an object belongs to the owner, or to an earlier one of
// the same name: such an object may be taken over, any other is left alone.
func (o Owner) MayReplace(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), o.Means)
}
