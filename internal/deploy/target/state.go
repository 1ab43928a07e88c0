package target

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/cluster/answerlimit"
)

const (
	// maxState is what is kept of one object while an item waits, as an estimate of its memory. It is
	// enough for almost all objects in full.
	maxState = 32 << 10
	// stateDepth is how deep parts of larger objects are looked at.
	stateDepth = 5
)

// State returns what is kept of an answer of a cluster while an item waits: the object itself if it is
// small, otherwise a copy with its smallest parts. They have what identifies the object, and mostly
// its conditions. A rule has to judge the object before: what it would look at may be left out.
//
// A cluster may answer each request with more than ten MiB, and an item waits for hundreds of objects.
func State(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object == nil || answerlimit.SizeOf(object) <= maxState {
		return object
	}
	left := int64(maxState)
	metadata, _ := object.Object["metadata"].(map[string]any)
	kept := map[string]any{}
	for _, field := range []string{"apiVersion", "kind"} {
		kept[field] = object.Object[field]
	}
	if size := answerlimit.SizeOf(&unstructured.Unstructured{Object: kept}); size > left {
		return &unstructured.Unstructured{Object: map[string]any{}}
	}
	identity := map[string]any{}
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion", "generation", "deletionTimestamp"} {
		if value, exists := metadata[field]; exists && fits(value, &left) {
			identity[field] = value
		}
	}
	for field, value := range smallest(object.Object, &left, stateDepth) {
		kept[field] = value
	}
	rest, _ := kept["metadata"].(map[string]any)
	if rest == nil {
		rest = map[string]any{}
	}
	for field, value := range identity {
		rest[field] = value
	}
	kept["metadata"] = rest
	return &unstructured.Unstructured{Object: kept}
}

// fits reports whether a value fits into what is left, and takes it.
func fits(value any, left *int64) bool {
	size := answerlimit.SizeOfValue(value)
	if size > *left {
		return false
	}
	*left -= size
	return true
}

// smallest returns a copy of a map with the values that fit, the smallest first. Of a
// map that does not fit as a whole, the parts are looked at.
func smallest(from map[string]any, left *int64, depth int) map[string]any {
	type field struct {
		name string
		size int64
	}
	fields := make([]field, 0, len(from))
	for name, value := range from {
		fields = append(fields, field{name, int64(len(name)) + answerlimit.SizeOfValue(value)})
	}
	slices.SortFunc(fields, func(a, b field) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name)) })
	kept := map[string]any{}
	for _, field := range fields {
		value := from[field.name]
		switch nested, isMap := value.(map[string]any); {
		case field.size <= *left:
			*left -= field.size
			kept[field.name] = value
		case isMap && depth > 0 && fits(field.name, left):
			kept[field.name] = smallest(nested, left, depth-1)
		}
	}
	return kept
}
