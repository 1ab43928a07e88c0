package blueprint

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/suggest"
	"go.landscaper.dev/internal/yamltext"
)

// maxWarnings bounds how many unknown fields are told.
const maxWarnings = 50

// unknownFields lists the fields of a description that have no effect. Parts
// that are free, such as schemas, defaults and templates, are not looked into.
func unknownFields(fields map[string]any) []string {
	return UnknownFields(fields, reflect.TypeFor[v1alpha1.Blueprint]())
}

// UnknownFields lists the fields that have no effect in a description of a type,
// such as v1alpha1.InstallationTemplate.
func UnknownFields(fields map[string]any, into reflect.Type) []string {
	search := unknownSearch{}
	search.value("", fields, into)
	if more := len(search.found) - maxWarnings; more > 0 {
		search.found = append(search.found[:maxWarnings], fmt.Sprintf("%d more fields are unknown", more))
	}
	return search.found
}

type unknownSearch struct{ found []string }

var freeForm = reflect.TypeFor[json.Unmarshaler]()

func (s *unknownSearch) value(path string, value any, into reflect.Type) {
	for into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	if reflect.PointerTo(into).Implements(freeForm) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		s.fields(path, value, into)
	case []any:
		if into.Kind() != reflect.Slice {
			return
		}
		for i, element := range value {
			s.value(fmt.Sprintf("%s[%d]", path, i), element, into.Elem())
		}
	}
}

func (s *unknownSearch) fields(path string, value map[string]any, into reflect.Type) {
	known := map[string]reflect.Type{}
	if into.Kind() == reflect.Struct {
		known = yamltext.Fields(into)
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		at := name
		if path != "" {
			at = path + "." + name
		}
		field, exists := known[name]
		switch {
		case into.Kind() == reflect.Map:
			s.value(at, value[name], into.Elem())
		case into.Kind() != reflect.Struct:
			return
		case exists:
			s.value(at, value[name], field)
		default:
			s.found = append(s.found, fmt.Sprintf("%.200s: unknown field, it is ignored%s", at, suggestion(name, known)))
		}
	}
}

// suggestion names the known field that is most like an unknown one.
func suggestion(name string, known map[string]reflect.Type) string {
	if best := suggest.Name(name, slices.Sorted(maps.Keys(known))); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return ""
}
