package function

import (
	"fmt"
	"reflect"
	"slices"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// elementsOf returns the elements of a list of any type.
func elementsOf(name string, list any) ([]any, error) {
	switch list := list.(type) {
	case []any:
		return list, nil
	case nil:
		return nil, &failure.CallError{Name: name, Reason: "a list is needed, not nil"}
	}
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return nil, &failure.CallError{Name: name, Reason: "a list is needed, not " + operand.TypeName(list)}
	}
	elements := make([]any, v.Len())
	for i := range elements {
		elements[i] = v.Index(i).Interface()
	}
	return elements, nil
}

func has(wanted, list any) (bool, error) {
	if list == nil {
		return false, nil
	}
	elements, err := elementsOf("has", list)
	if err != nil {
		return false, err
	}
	return contains(elements, wanted), nil
}

func without(list any, unwanted ...any) ([]any, error) {
	elements, err := elementsOf("without", list)
	if err != nil {
		return nil, err
	}
	found := []any{}
	for _, element := range elements {
		if !contains(unwanted, element) {
			found = append(found, element)
		}
	}
	return found, nil
}

func uniq(list any) ([]any, error) {
	elements, err := elementsOf("uniq", list)
	if err != nil {
		return nil, err
	}
	found := []any{}
	for _, element := range elements {
		if !contains(found, element) {
			found = append(found, element)
		}
	}
	return found, nil
}

func contains(list []any, wanted any) bool {
	return slices.ContainsFunc(list, func(element any) bool { return operand.DeepEqual(wanted, element) })
}

// index follows keys and positions into a value, as that of text/template does.
func index(item any, path ...any) (any, error) {
	for _, step := range path {
		next, err := child(item, step)
		if err != nil {
			return nil, err
		}
		item = next
	}
	return item, nil
}

func child(item, step any) (any, error) {
	fail := func(reason string) (any, error) {
		return nil, &failure.CallError{Name: "index", Reason: reason}
	}
	v := reflect.ValueOf(item)
	switch v.Kind() {
	case reflect.Invalid:
		return fail("index of a value that does not exist")
	case reflect.Slice, reflect.Array, reflect.String:
		i, ok := operand.Integer(step)
		if !ok {
			return fail("cannot index a list with a value of type " + operand.TypeName(step))
		}
		if i < 0 || i >= int64(v.Len()) {
			return fail("index out of range")
		}
		return v.Index(int(i)).Interface(), nil
	case reflect.Map:
		key, ok := operand.Converted(step, v.Type().Key())
		if !ok {
			return fail("cannot index a map with a value of type " + operand.TypeName(step))
		}
		if found := v.MapIndex(key); found.IsValid() {
			return found.Interface(), nil
		}
		return reflect.Zero(v.Type().Elem()).Interface(), nil
	}
	return fail("cannot index a value of type " + operand.TypeName(item))
}

func length(item any) (int, error) {
	v := reflect.ValueOf(item)
	switch v.Kind() {
	case reflect.Slice, reflect.Array, reflect.String, reflect.Map:
		return v.Len(), nil
	}
	return 0, &failure.CallError{Name: "len", Reason: fmt.Sprintf("len of type %s", operand.TypeName(item))}
}
