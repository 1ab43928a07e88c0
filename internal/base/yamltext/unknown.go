package yamltext

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/suggest"
)

// maxUnknownFields bounds how many unknown fields are listed.
const maxUnknownFields = 50

// UnknownFields lists the fields that have no effect in a description of a type, such as
// v1alpha1.InstallationTemplate. A type with an unmarshaller of its own is not looked into.
func UnknownFields(fields map[string]any, into reflect.Type) []string {
	return unknownSearch{}.all("", fields, into)
}

// UnknownFieldsAnyCase is UnknownFields for what is decoded without regard to upper and
// lower case. Paths begin with a prefix.
func UnknownFieldsAnyCase(prefix string, fields map[string]any, into reflect.Type) []string {
	return unknownSearch{anyCase: true}.all(prefix, fields, into)
}

func (s unknownSearch) all(prefix string, fields map[string]any, into reflect.Type) []string {
	search := &s
	search.value(prefix, fields, into)
	if more := len(search.found) - maxUnknownFields; more > 0 {
		search.found = append(search.found[:maxUnknownFields], fmt.Sprintf("%d more fields are unknown", more))
	}
	return search.found
}

type unknownSearch struct {
	anyCase bool
	found   []string
}

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
		known = Fields(into)
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		at := name
		if path != "" {
			at = path + "." + name
		}
		field, exists := s.find(known, name)
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

func (s *unknownSearch) find(known map[string]reflect.Type, name string) (reflect.Type, bool) {
	if field, exists := known[name]; exists || !s.anyCase {
		return field, exists
	}
	for candidate, field := range known {
		if strings.EqualFold(candidate, name) {
			return field, true
		}
	}
	return nil, false
}

// suggestion names the known field that is most like an unknown one.
func suggestion(name string, known map[string]reflect.Type) string {
	if best := suggest.Name(name, slices.Sorted(maps.Keys(known))); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return ""
}
