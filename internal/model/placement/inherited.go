package placement

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
)

// Inherited are the objects that other items have left to an item, and that its record does not have
// yet. An annotation that cannot be read counts as empty.
//
// Every user who may change the metadata of the item may write the annotation. So it does not prove
// that an object belongs to the item: only kinds that are left to other items count, and without a
// UID, because then the label of the object decides.
func Inherited(item *v1alpha1.DeployItem) deployer.ManagedResourceStatusList {
	var inherited deployer.ManagedResourceStatusList
	if json.Unmarshal([]byte(item.Annotations[v1alpha1.InheritedAnnotation]), &inherited) != nil {
		return nil
	}
	inherited = slices.DeleteFunc(inherited, func(entry deployer.ManagedResourceStatus) bool {
		return !HasContent(entry.Resource.GroupVersionKind().GroupKind())
	})
	for at := range inherited {
		inherited[at].Resource.UID = ""
	}
	return inherited
}

// HasContent reports whether more than the object itself is deleted with an object of a kind.
func HasContent(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Kind: "Namespace"} || IsDefinition(kind)
}

// IsDefinition reports whether a kind is that of the definitions of other kinds.
func IsDefinition(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}

// SayInherited says what stays because an item has inherited it; empty without anything.
func SayInherited(item *v1alpha1.DeployItem) string {
	var said []string
	for _, entry := range Inherited(item) {
		said = append(said, entry.Resource.Kind+" "+entry.Resource.Name+", which another item had, stays as long as something is in it")
	}
	return strings.Join(said, "; ")
}

// WithInherited returns the provider status of an item with what the item has inherited.
func WithInherited(item *v1alpha1.DeployItem) (*runtime.RawExtension, error) {
	known := Recorded(item.Status.ProviderStatus)
	added := slices.DeleteFunc(Inherited(item), func(entry deployer.ManagedResourceStatus) bool {
		return slices.ContainsFunc(known, func(other deployer.ManagedResourceStatus) bool { return sameObject(other.Resource, entry.Resource) })
	})
	if len(added) == 0 || item.Status.ProviderStatus == nil {
		return item.Status.ProviderStatus, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(item.Status.ProviderStatus.Raw, &fields); err != nil || fields == nil {
		return nil, errors.New("the provider status is not an object")
	}
	if err := set(fields, resourcesField, append(known, added...), false); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(fields)
	return &runtime.RawExtension{Raw: raw}, err
}

// sameObject reports whether two references name one object, whatever the version of its API.
func sameObject(a, b corev1.ObjectReference) bool {
	return a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() && a.Namespace == b.Namespace && a.Name == b.Name
}
