package apply

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/deployer"
)

// Inventory is what is recorded of the objects of an item. It may name objects that do not exist,
// but never misses one that does: entries are added before the objects and removed after them.
type Inventory deployer.ManagedResourceStatusList

// Same reports whether two references name the same object, whatever the version
// of its API.
func Same(a, b corev1.ObjectReference) bool {
	return a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name && group(a) == group(b)
}

// SameObject reports whether two objects have the same name, whatever the version of their
// API.
func SameObject(a, b *unstructured.Unstructured) bool {
	return a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() && a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
}

func group(ref corev1.ObjectReference) string {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).Group
}

// Key identifies an object, whatever the version of its API.
type Key struct{ group, kind, namespace, name string }

// KeyOf returns the key of an object.
func KeyOf(ref corev1.ObjectReference) Key { return Key{group(ref), ref.Kind, ref.Namespace, ref.Name} }

// positions says where entries are. An item may have thousands, so that none is looked for one by one.
func (i Inventory) positions() map[Key]int {
	positions := make(map[Key]int, len(i))
	for at := len(i) - 1; at >= 0; at-- {
		positions[KeyOf(i[at].Resource)] = at
	}
	return positions
}

// References are the objects of the entries.
func (i Inventory) References() []corev1.ObjectReference {
	references := make([]corev1.ObjectReference, len(i))
	for at := range i {
		references[at] = i[at].Resource
	}
	return references
}

// With returns the inventory together with the objects that are about to be
// applied. What is known of objects in both stays. Objects that are to be ignored are not
// ours any more: they are neither recorded nor orphans.
func (i Inventory) With(objects []Object) Inventory {
	var ignored []corev1.ObjectReference
	for _, object := range objects {
		if object.Policy == deployer.IgnorePolicy {
			ignored = append(ignored, object.Reference())
		}
	}
	union := i.Without(ignored...)
	positions := union.positions()
	for _, object := range objects {
		if object.Policy == deployer.IgnorePolicy {
			continue
		}
		entry := deployer.ManagedResourceStatus{
			Policy: object.Policy, Resource: object.Reference(),
			AnnotateBeforeDelete: object.AnnotateBeforeDelete, PatchBeforeDelete: object.PatchBeforeDelete,
		}
		if at, known := positions[KeyOf(entry.Resource)]; known {
			entry.Resource.UID = union[at].Resource.UID
			union[at] = entry
			continue
		}
		positions[KeyOf(entry.Resource)] = len(union)
		union = append(union, entry)
	}
	return union.sorted()
}

// Orphans returns the entries that are not among the objects.
//
// Groups and kinds count, versions of the API do not: an object that is listed in a newer
// version is no orphan.
func (i Inventory) Orphans(objects []Object) Inventory {
	wanted := Inventory(nil).With(objects).positions()
	var orphans Inventory
	for _, entry := range i {
		if _, isWanted := wanted[KeyOf(entry.Resource)]; !isWanted {
			orphans = append(orphans, entry)
		}
	}
	return orphans
}

// WithUID returns the inventory with the identity of an object.
func (i Inventory) WithUID(ref corev1.ObjectReference, uid types.UID) Inventory {
	return i.WithUIDs(map[Key]types.UID{KeyOf(ref): uid})
}

// WithUIDs returns the inventory with the identities of objects.
func (i Inventory) WithUIDs(uids map[Key]types.UID) Inventory {
	changed := slices.Clone(i)
	seen := make(map[Key]bool, len(uids))
	for at := range changed {
		key := KeyOf(changed[at].Resource)
		if uid, known := uids[key]; known && !seen[key] {
			changed[at].Resource.UID, seen[key] = uid, true
		}
	}
	return changed
}

// Without returns the inventory without some objects.
func (i Inventory) Without(refs ...corev1.ObjectReference) Inventory {
	drop := make(map[Key]bool, len(refs))
	for _, ref := range refs {
		drop[KeyOf(ref)] = true
	}
	return slices.DeleteFunc(slices.Clone(i), func(entry deployer.ManagedResourceStatus) bool { return drop[KeyOf(entry.Resource)] })
}

// sorted returns the inventory in the published order.
func (i Inventory) sorted() Inventory {
	slices.SortStableFunc(i, func(a, b deployer.ManagedResourceStatus) int {
		return cmp.Or(
			cmp.Compare(rank(a.Resource), rank(b.Resource)),
			cmp.Compare(a.Resource.Kind, b.Resource.Kind),
			cmp.Compare(a.Resource.Namespace, b.Resource.Namespace),
			cmp.Compare(a.Resource.Name, b.Resource.Name))
	})
	return i
}

// rank is the stage of a recorded object.
func rank(ref corev1.ObjectReference) Stage {
	switch {
	case ref.Kind == CRDKind:
		return StageDefinitions
	case ref.Namespace == "":
		return StageCluster
	}
	return StageNamespaced
}
