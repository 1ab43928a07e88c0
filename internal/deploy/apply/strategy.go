package apply

import (
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// systemFields are the fields of the metadata that only an API server sets.
var systemFields = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"}

// replacement returns what an object becomes that is replaced by its manifest: the manifest, and
// what others must be able to rely on. Finalizers, owners, labels and annotations belong to those
// who set them; a few fields cannot be removed at all.
func replacement(live, manifest *unstructured.Unstructured, owner string) *unstructured.Unstructured {
	object := manifest.DeepCopy()
	copyMetadata(live, object)
	carryForeign(live, object, owner)
	carryStatus(live, object)
	for _, path := range carriedOver[live.GroupVersionKind().GroupKind()] {
		carryField(live, object, path)
	}
	return object
}

// carriedOver are the fields that an API server or a controller fills in once and
// that cannot be changed any more.
var carriedOver = map[schema.GroupKind][][]string{
	{Kind: "Service"}:               {{"spec", "clusterIP"}},
	{Group: "batch", Kind: "Job"}:   {{"spec", "selector"}, {"spec", "template", "metadata", "labels"}},
	{Kind: "ServiceAccount"}:        {{"secrets"}},
	{Kind: "PersistentVolumeClaim"}: {{"spec", "volumeName"}, {"spec", "storageClassName"}},
}

// carriedAlways are those of the fields above that win over the manifest.
var carriedAlways = map[schema.GroupKind]bool{{Kind: "Service"}: true, {Group: "batch", Kind: "Job"}: true}

func carryField(live, object *unstructured.Unstructured, path []string) {
	value, found, err := unstructured.NestedFieldCopy(live.Object, path...)
	if err != nil || !found {
		return
	}
	_, own, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	if own && !carriedAlways[live.GroupVersionKind().GroupKind()] {
		return
	}
	// The parents exist in the manifest, or the API server says what is wrong.
	_ = unstructured.SetNestedField(object.Object, value, path...)
}

func copyMetadata(live, object *unstructured.Unstructured) {
	for _, field := range systemFields {
		value, found, err := unstructured.NestedFieldCopy(live.Object, "metadata", field)
		if err == nil && found {
			_ = unstructured.SetNestedField(object.Object, value, "metadata", field)
		} else {
			unstructured.RemoveNestedField(object.Object, "metadata", field)
		}
	}
	finalizers := live.GetFinalizers()
	for _, finalizer := range object.GetFinalizers() {
		if !slices.Contains(finalizers, finalizer) {
			finalizers = append(finalizers, finalizer)
		}
	}
	if len(finalizers) > 0 {
		object.SetFinalizers(finalizers)
	}
	owners := live.GetOwnerReferences()
	for _, owner := range object.GetOwnerReferences() {
		if !slices.ContainsFunc(owners, func(other ownerReference) bool { return other.UID == owner.UID }) {
			owners = append(owners, owner)
		}
	}
	if len(owners) > 0 {
		object.SetOwnerReferences(owners)
	}
}

// carryStatus leaves the status to its writer.
func carryStatus(live, object *unstructured.Unstructured) {
	if status, ok := live.Object["status"]; ok {
		object.Object["status"] = runtime.DeepCopyJSONValue(status)
	} else {
		delete(object.Object, "status")
	}
}

// Merge returns an object with a patch merged over it. What only an API server sets
// stays as it is.
func Merge(live *unstructured.Unstructured, patch map[string]any) *unstructured.Unstructured {
	return merged(live, &unstructured.Unstructured{Object: patch}, true)
}

// merged returns the live object filled up from the manifest. Where both have a
// value, the manifest wins if overwrite is set.
//
// Both are copied first: what comes from a watch or from the item is shared.
func merged(live, manifest *unstructured.Unstructured, overwrite bool) *unstructured.Unstructured {
	object := live.DeepCopy()
	from := manifest.DeepCopy().Object
	delete(from, "status")
	mergeMaps(object.Object, from, overwrite)
	copySystem(live, object)
	return object
}

func copySystem(live, object *unstructured.Unstructured) {
	for _, field := range systemFields {
		if value, found, err := unstructured.NestedFieldCopy(live.Object, "metadata", field); err == nil && found {
			_ = unstructured.SetNestedField(object.Object, value, "metadata", field)
		}
	}
}

func mergeMaps(live, manifest map[string]any, overwrite bool) {
	for key, value := range manifest {
		present, ok := live[key]
		if !ok {
			live[key] = value
			continue
		}
		live[key] = mergeValues(present, value, overwrite)
	}
}

func mergeValues(live, manifest any, overwrite bool) any {
	liveMap, liveIsMap := live.(map[string]any)
	manifestMap, manifestIsMap := manifest.(map[string]any)
	switch {
	case liveIsMap && manifestIsMap:
		mergeMaps(liveMap, manifestMap, overwrite)
		return liveMap
	case overwrite:
		return manifest
	case empty(live) && manifest != nil && !manifestIsMap:
		return manifest
	}
	return live
}

// empty reports whether a value counts as not set.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case int64:
		return value == 0
	case float64:
		return value == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// withLabels returns a copy of an object with further labels.
func withLabels(object *unstructured.Unstructured, labels map[string]string) *unstructured.Unstructured {
	labelled := object.DeepCopy()
	all := labelled.GetLabels()
	if all == nil {
		all = make(map[string]string, len(labels))
	}
	maps.Copy(all, labels)
	labelled.SetLabels(all)
	return labelled
}

// withAnnotations returns a copy of an object with further annotations.
func withAnnotations(object *unstructured.Unstructured, annotations map[string]string) *unstructured.Unstructured {
	annotated := object.DeepCopy()
	all := annotated.GetAnnotations()
	if all == nil {
		all = make(map[string]string, len(annotations))
	}
	maps.Copy(all, annotations)
	annotated.SetAnnotations(all)
	return annotated
}

// Equal reports whether two states of an object are the same.
func Equal(a, b *unstructured.Unstructured) bool {
	return apiequality.Semantic.DeepEqual(a.Object, b.Object)
}
