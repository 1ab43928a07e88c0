// Package methodtest finds values with methods among those that a template gets. A template calls
// methods as it likes, with any arguments: only their library knows what they take.
package methodtest

import (
	"reflect"
	"testing"
)

// List has the types that may have methods, by their names, each with the reason.
type List map[string]string

// Check reports each type with methods that is not listed: of a value, of what is in it, and of what
// listed methods return.
func (l List) Check(t testing.TB, what string, value any) {
	t.Helper()
	w := &walk{list: l, seen: map[reflect.Type]bool{}, report: func(found reflect.Type) {
		t.Errorf("%s: a value of type %s has methods: return a plain value or a struct without them, or list the type with a reason", what, found)
	}}
	w.value(reflect.ValueOf(value), 0)
}

// Unlisted returns the types with methods of a value that are not listed.
func (l List) Unlisted(value any) (found []string) {
	w := &walk{list: l, seen: map[reflect.Type]bool{}, report: func(t reflect.Type) { found = append(found, t.String()) }}
	w.value(reflect.ValueOf(value), 0)
	return found
}

type walk struct {
	list   List
	seen   map[reflect.Type]bool
	report func(reflect.Type)
}

// maxDepth ends a value that contains itself.
const maxDepth = 20

// value looks at a value and what it holds. Interfaces hide types, so that types alone do not say all.
func (w *walk) value(v reflect.Value, depth int) {
	if !v.IsValid() || depth > maxDepth {
		return
	}
	w.typed(v.Type())
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		w.value(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i), depth+1)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			w.value(entries.Key(), depth+1)
			w.value(entries.Value(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.value(v.Field(i), depth+1)
			}
		}
	}
}

// typed looks at a type and at those that lead on from it.
func (w *walk) typed(t reflect.Type) {
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		w.typed(t.Elem())
	case reflect.Map:
		w.typed(t.Key())
		w.typed(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if field := t.Field(i); field.IsExported() {
				w.typed(field.Type)
			}
		}
	}
	if t.Kind() == reflect.Pointer {
		return // what it points to has its methods, too
	}
	// Elements of lists are called by their addresses.
	methods := t
	if t.Kind() != reflect.Interface {
		methods = reflect.PointerTo(t)
	}
	if methods.NumMethod() == 0 {
		return
	}
	if w.list[t.String()] == "" {
		w.report(t)
		return
	}
	for i := range methods.NumMethod() {
		for j := range methods.Method(i).Type.NumOut() {
			if result := methods.Method(i).Type.Out(j); result != reflect.TypeFor[error]() {
				w.typed(result)
			}
		}
	}
}
