package memlimit

import (
	"encoding/json"
	"reflect"
	"unsafe"
)

// The memory of values beside their content, measured with the runtime of Go 1.26: the word and the
// header behind an interface, a map with its first eight places, and the places of a larger one.
const (
	boxed       = 16
	listHeader  = 24
	smallMap    = 48
	firstPlaces = 272
	mapPlace    = Place
)

// Place is the memory of one more key in a map.
const Place = 80

// Text is the memory of a text that was made.
func Text(length int) int64 { return boxed + int64(length) }

// List is the memory of a list with capacity for a number of elements, without the elements.
func List(capacity int) int64 { return listHeader + 16*int64(capacity) }

// Map is the memory of a map with a number of keys, without keys and values.
func Map(length int) int64 {
	switch {
	case length == 0:
		return smallMap
	case length <= 8:
		return smallMap + firstPlaces
	}
	return smallMap + firstPlaces + mapPlace*int64(length)
}

// Deep is the memory of a value with everything in it. A part that occurs several times is counted
// once. It stops at most bytes.
func Deep(value any, most int64) int64 {
	s := sizes{most: most, seen: map[unsafe.Pointer]struct{}{}}
	s.add(value)
	return s.bytes
}

type sizes struct {
	bytes, most int64
	seen        map[unsafe.Pointer]struct{}
}

// first reports whether something was not counted before.
func (s *sizes) first(at unsafe.Pointer) bool {
	if at == nil {
		return true
	}
	if _, seen := s.seen[at]; seen {
		return false
	}
	s.seen[at] = struct{}{}
	return true
}

func (s *sizes) add(value any) {
	if s.bytes > s.most {
		return
	}
	switch value := value.(type) {
	case nil, bool:
	case int, int64, float64:
		s.bytes += boxed
	case string:
		s.bytes += Text(len(value))
	case json.Number:
		s.bytes += Text(len(value))
	case []any:
		if len(value) == 0 || s.first(unsafe.Pointer(unsafe.SliceData(value))) { //nolint:gosec // the address tells whether a list was counted, nothing is read there
			s.bytes += List(cap(value))
			for _, element := range value {
				s.add(element)
			}
		}
	case map[string]any:
		if s.first(reflect.ValueOf(value).UnsafePointer()) {
			s.bytes += Map(len(value))
			for key, field := range value {
				s.bytes += int64(len(key))
				s.add(field)
			}
		}
	default:
		s.other(reflect.ValueOf(value))
	}
}

// other counts what functions of the libraries return: lists and maps of other
// types, and objects that are no values.
func (s *sizes) other(value reflect.Value) {
	s.bytes += 64
	switch value.Kind() {
	case reflect.String:
		s.bytes += int64(value.Len())
	case reflect.Slice:
		element := value.Type().Elem()
		s.bytes += int64(element.Size()) * int64(value.Cap()) //nolint:gosec // the size of a type is small
		switch element.Kind() {
		case reflect.String, reflect.Interface, reflect.Slice, reflect.Map:
			for i := range value.Len() {
				s.add(value.Index(i).Interface())
			}
		}
	case reflect.Map:
		s.bytes += Map(value.Len())
		for iter := value.MapRange(); iter.Next(); {
			s.add(iter.Key().Interface())
			s.add(iter.Value().Interface())
		}
	}
}
