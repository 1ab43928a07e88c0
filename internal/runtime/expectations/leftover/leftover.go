// Package leftover finds what a controller remembers of an object. Tests use it: it looks into all
// stores, so that a new one that does not forget fails them.
package leftover

import (
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Of returns the places below a value at which one of some texts stands: the UID of an object, or its
// name. It does not look into clients, which have the objects of all.
func Of(value any, texts ...string) []string {
	s := search{texts: texts, seen: map[any]bool{}}
	s.look(reflect.ValueOf(value), "")
	return s.found
}

type search struct {
	texts []string
	seen  map[any]bool
	found []string
}

var reader = reflect.TypeFor[client.Reader]()

func (s *search) look(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		if slices.Contains(s.texts, v.String()) {
			s.found = append(s.found, path)
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() || v.Type().Implements(reader) {
			return
		}
		if v.Kind() == reflect.Pointer {
			at := [2]any{v.Pointer(), v.Type()}
			if s.seen[at] {
				return
			}
			s.seen[at] = true
		}
		s.look(v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			s.look(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			s.look(entries.Key(), path+"[key]")
			s.look(entries.Value(), path+"[]")
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			s.look(v.Index(i), path+"[]")
		}
	default: // nothing else holds a text
	}
}
