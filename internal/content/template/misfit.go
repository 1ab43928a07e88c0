package template

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/yamltext"
)

// misfit finds the value that a Go type cannot hold: its path in the document and
// what is expected there. The error of the JSON library says neither the position
// in a list nor anything without the value itself.
//
// It says nil, nil also of what the library has refused for another reason: then the caller
// has a general text.
func misfit(value any, target reflect.Type) (path []any, problem error) {
	for target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	if value == nil {
		return nil, nil
	}
	if custom(target) {
		raw, err := json.Marshal(value)
		if err != nil || json.Unmarshal(raw, reflect.New(target).Interface()) != nil {
			return nil, fmt.Errorf("%s is not a valid %s", kind(value), target.Name())
		}
		return nil, nil
	}
	switch target.Kind() {
	case reflect.Struct:
		return misfitStruct(value, target)
	case reflect.Map:
		return misfitMap(value, target)
	case reflect.Slice:
		return misfitList(value, target)
	case reflect.Interface:
		return nil, nil
	}
	raw, err := json.Marshal(value)
	if err != nil || json.Unmarshal(raw, reflect.New(target).Interface()) != nil {
		return nil, expected(value, target)
	}
	return nil, nil
}

var (
	jsonDecoder = reflect.TypeFor[json.Unmarshaler]()
	textDecoder = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func custom(target reflect.Type) bool {
	pointer := reflect.PointerTo(target)
	return pointer.Implements(jsonDecoder) || pointer.Implements(textDecoder)
}

func misfitStruct(value any, target reflect.Type) ([]any, error) {
	fields, isMap := value.(map[string]any)
	if !isMap {
		return nil, expected(value, target)
	}
	types := yamltext.Fields(target)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		for _, name := range slices.Sorted(maps.Keys(types)) {
			if !strings.EqualFold(key, name) {
				continue
			}
			if path, problem := misfit(fields[key], types[name]); problem != nil {
				return append([]any{key}, path...), problem
			}
		}
	}
	return nil, nil
}

func fieldNames(target reflect.Type) []string {
	return slices.Sorted(maps.Keys(yamltext.Fields(target)))
}

// key is a key of a map of the document, which may be a value of the user.
type key string

func misfitMap(value any, target reflect.Type) ([]any, error) {
	fields, isMap := value.(map[string]any)
	if !isMap {
		return nil, expected(value, target)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if path, problem := misfit(fields[name], target.Elem()); problem != nil {
			return append([]any{key(name)}, path...), problem
		}
	}
	return nil, nil
}

func misfitList(value any, target reflect.Type) ([]any, error) {
	elements, isList := value.([]any)
	if !isList {
		return nil, expected(value, target)
	}
	for i, element := range elements {
		if path, problem := misfit(element, target.Elem()); problem != nil {
			return append([]any{i}, path...), problem
		}
	}
	return nil, nil
}

var errMisfit = errors.New("the output does not have the fields and types that are expected")

func expected(value any, target reflect.Type) error {
	return fmt.Errorf("expected %s, got %s", yamltext.KindOf(target), kind(value))
}

// kind names the kind of a plain value.
func kind(value any) string {
	switch value.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case int64:
		return "an integer"
	}
	return "a number"
}
