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
// v1alpha1.InstallationTemplate.
func UnknownFields(fields map[string]any, into reflect.Type) []string {
	return Search{}.Ignored("", fields, into)
}

// Search looks for fields that a type does not have. A type with an unmarshaller of its own is not
// looked into, as it may accept anything.
type Search struct {
	// AnyCase is for what is decoded without regard to upper and lower case.
	AnyCase bool
	// Aliases are the types that are looked into although they have an unmarshaller, each with the names
	// that this one accepts besides the fields. If the type is a list, it accepts one element alone, too.
	Aliases map[reflect.Type][]string
	// Show is how a name is shown, which may be a value of an import; nil shows all.
	Show func(name string) string
}

// UnknownField is a field that a type does not have.
type UnknownField struct {
	// Path is where the field is, with its name as it is shown.
	Path string
	// Meant is the field that the name is most like; empty if all are different.
	Meant string
}

// Question asks whether another field is meant, as the end of a message.
func (f UnknownField) Question() string {
	if f.Meant == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", f.Meant)
}

// Ignored lists the unknown fields of a description whose decoder ignores them. Paths begin with a
// prefix.
func (s Search) Ignored(prefix string, fields map[string]any, into reflect.Type) []string {
	var list []string
	unknown := s.Unknown(prefix, fields, into)
	for i, field := range unknown {
		if i == maxUnknownFields {
			return append(list, fmt.Sprintf("%d more fields are unknown", len(unknown)-i))
		}
		list = append(list, fmt.Sprintf("%.200s: unknown field, it is ignored%s", field.Path, field.Question()))
	}
	return list
}

// Unknown returns the unknown fields of a description.
func (s Search) Unknown(prefix string, fields map[string]any, into reflect.Type) []UnknownField {
	found := search{Search: s}
	found.value(prefix, fields, into)
	return found.fields
}

type search struct {
	Search
	fields []UnknownField
}

var freeForm = reflect.TypeFor[json.Unmarshaler]()

func (s *search) value(path string, value any, into reflect.Type) {
	for into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	_, readable := s.Aliases[into]
	if !readable && reflect.PointerTo(into).Implements(freeForm) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if readable && into.Kind() == reflect.Slice {
			s.value(path, value, into.Elem())
			return
		}
		s.object(path, value, into)
	case []any:
		if into.Kind() != reflect.Slice {
			return
		}
		for i, element := range value {
			s.value(fmt.Sprintf("%s[%d]", path, i), element, into.Elem())
		}
	}
}

func (s *search) object(path string, value map[string]any, into reflect.Type) {
	if into.Kind() != reflect.Struct && into.Kind() != reflect.Map {
		return
	}
	known := map[string]reflect.Type{}
	if into.Kind() == reflect.Struct {
		known = Fields(into)
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		at := name
		if s.Show != nil {
			at = s.Show(name)
		}
		if path != "" {
			at = path + "." + at
		}
		field, exists := s.find(known, name)
		switch {
		case into.Kind() == reflect.Map:
			s.value(at, value[name], into.Elem())
		case exists:
			s.value(at, value[name], field)
		case !s.matches(s.Aliases[into], name):
			s.fields = append(s.fields, UnknownField{Path: at, Meant: suggest.Name(name, slices.Sorted(maps.Keys(known)))})
		}
	}
}

func (s *search) find(known map[string]reflect.Type, name string) (reflect.Type, bool) {
	if field, exists := known[name]; exists || !s.AnyCase {
		return field, exists
	}
	for candidate, field := range known {
		if strings.EqualFold(candidate, name) {
			return field, true
		}
	}
	return nil, false
}

func (s *search) matches(aliases []string, name string) bool {
	return slices.ContainsFunc(aliases, func(alias string) bool { return alias == name || s.AnyCase && strings.EqualFold(alias, name) })
}
