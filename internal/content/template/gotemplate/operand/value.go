// Package operand holds the values that templates work with: how they are copied in
// and out, how numbers compare, and what kinds and types are called.
package operand

import (
	"encoding/json"
	"math"
	"reflect"
)

// LocalCopy returns bindings for a template: a deep copy, because templates can
// change what they get, with integers as the type that functions of Go take.
func LocalCopy(bindings map[string]any) map[string]any {
	copied := make(map[string]any, len(bindings))
	for name, value := range bindings {
		copied[name] = LocalValue(value)
	}
	return copied
}

// LocalValue returns one value for a template, copied as LocalCopy does.
func LocalValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for key, field := range value {
			copied[key] = LocalValue(field)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, element := range value {
			copied[i] = LocalValue(element)
		}
		return copied
	case int64:
		if value >= math.MinInt && value <= math.MaxInt {
			return int(value)
		}
	}
	return value
}

// Made is localValue for a value that only the caller has: it is changed in place.
func Made(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if changed := Made(field); !same(changed, field) {
				value[key] = changed
			}
		}
	case []any:
		for i, element := range value {
			value[i] = Made(element)
		}
	case int64:
		return LocalValue(value)
	}
	return value
}

// PlainValue returns a value of a template as a plain value. A plain value is not copied.
func PlainValue(value any) (any, bool) {
	switch value := value.(type) {
	case nil, bool, string, int64, float64, json.Number:
		return value, true
	case map[string]any:
		return plainMap(value)
	case []any:
		return plainList(value)
	case File:
		return string(value), true
	}
	v := reflect.ValueOf(value)
	switch {
	case v.CanInt():
		return v.Int(), true
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		return int64(v.Uint()), true //nolint:gosec // the case bounds it
	case v.CanFloat():
		return v.Float(), true
	case v.Kind() == reflect.String:
		return v.String(), true
	case v.Kind() == reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = v.Index(i).Interface()
		}
		return plainList(list)
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		fields := make(map[string]any, v.Len())
		for iter := v.MapRange(); iter.Next(); {
			fields[iter.Key().String()] = iter.Value().Interface()
		}
		return plainMap(fields)
	}
	return nil, false
}

func plainMap(value map[string]any) (any, bool) {
	var copied map[string]any
	for key, field := range value {
		plain, ok := PlainValue(field)
		if !ok {
			return nil, false
		}
		if same(plain, field) {
			continue
		}
		if copied == nil {
			copied = make(map[string]any, len(value))
			for k, v := range value {
				copied[k] = v
			}
		}
		copied[key] = plain
	}
	if copied == nil {
		return value, true
	}
	return copied, true
}

func plainList(value []any) (any, bool) {
	var copied []any
	for i, element := range value {
		plain, ok := PlainValue(element)
		if !ok {
			return nil, false
		}
		if same(plain, element) {
			continue
		}
		if copied == nil {
			copied = append([]any(nil), value...)
		}
		copied[i] = plain
	}
	if copied == nil {
		return value, true
	}
	return copied, true
}

// same reports whether a conversion changed nothing.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	case string:
		_, ok := b.(string)
		return ok
	}
	return a == b
}

// File is the content of a file. It prints as text and is still a list of bytes.
type File []byte

// String returns the content as text.
func (f File) String() string { return string(f) }

// Converted returns an argument as a value of a type.
func Converted(arg any, want reflect.Type) (reflect.Value, bool) {
	if arg == nil {
		switch want.Kind() {
		case reflect.Interface, reflect.Map, reflect.Slice, reflect.Pointer:
			return reflect.Zero(want), true
		}
		return reflect.Value{}, false
	}
	value := reflect.ValueOf(arg)
	if value.Type().AssignableTo(want) {
		return value, true
	}
	switch want.Kind() {
	case reflect.String:
		if file, isFile := arg.(File); isFile {
			return reflect.ValueOf(string(file)), true
		}
	case reflect.Int, reflect.Int64, reflect.Uint32:
		if n, ok := Integer(arg); ok && !overflows(n, want) {
			return reflect.ValueOf(n).Convert(want), true
		}
	case reflect.Float64:
		if f, ok := Float(arg); ok {
			return reflect.ValueOf(f), true
		}
	}
	return reflect.Value{}, false
}

func overflows(n int64, want reflect.Type) bool {
	if want.Kind() == reflect.Uint32 {
		return n < 0 || n > math.MaxUint32
	}
	return want.OverflowInt(n)
}
