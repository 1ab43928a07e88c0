// Package diff compares live objects with what they would become, and leaves out what is
// confidential. It depends on no cluster and no controller.
package diff

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Field is a field that differs.
type Field struct {
	// Path leads to the field: spec.template.spec.containers[0].image.
	Path string `json:"path"`
	// Before and After are the values; nil for none.
	Before any `json:"before,omitempty"`
	After  any `json:"after,omitempty"`
	// Secret means that the values are not shown.
	Secret bool `json:"secret,omitempty"`
}

// Fields returns the fields in which two values differ, sorted by their paths.
func Fields(before, after any) []Field { return fields("", before, after) }

func fields(path string, before, after any) []Field {
	left, isMap := before.(map[string]any)
	right, areMaps := after.(map[string]any)
	if isMap && areMaps {
		var found []Field
		all := maps.Clone(left)
		if all == nil {
			all = map[string]any{}
		}
		maps.Copy(all, right)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			found = append(found, fields(join(path, key), left[key], right[key])...)
		}
		return found
	}
	first, isList := before.([]any)
	second, areLists := after.([]any)
	if isList && areLists && len(first) == len(second) {
		var found []Field
		for i := range first {
			found = append(found, fields(fmt.Sprintf("%s[%d]", path, i), first[i], second[i])...)
		}
		return found
	}
	if reflect.DeepEqual(before, after) || nothing(before) && nothing(after) {
		return nil
	}
	return []Field{{Path: path, Before: before, After: after}}
}

func join(path, key string) string {
	if strings.ContainsAny(key, "./") {
		return path + "['" + key + "']"
	}
	return strings.TrimPrefix(path+"."+key, ".")
}

// nothing reports whether a value is as good as none: API servers leave out what is
// empty.
func nothing(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}
