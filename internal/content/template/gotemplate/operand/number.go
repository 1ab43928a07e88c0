package operand

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/content/template/gotemplate/failure"
)

// Integers of bindings are integers here. Upstream makes every number a float64, and existing
// templates rely on that. The functions below treat both alike, so that these templates still work.

// Integer returns a number without a fraction.
func Integer(value any) (int64, bool) {
	switch value := value.(type) {
	case int:
		return int64(value), true
	case int64:
		return value, true
	case float64:
		return number.Whole(value)
	case json.Number:
		n, err := value.Int64()
		return n, err == nil
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return v.Int(), true
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		return int64(v.Uint()), true //nolint:gosec // the case bounds it
	}
	return 0, false
}

// Float returns a number as a float.
func Float(value any) (float64, bool) {
	switch value := value.(type) {
	case float64:
		return value, true
	case float32:
		return float64(value), true
	case json.Number:
		f, err := value.Float64()
		return f, err == nil
	}
	n, ok := Integer(value)
	return float64(n), ok
}

// Exact returns a number without loss.
func Exact(value any) (*big.Float, bool) {
	switch value := value.(type) {
	case float64:
		if math.IsNaN(value) {
			return nil, false
		}
		return big.NewFloat(value), true
	case json.Number:
		return number.Big(value)
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return new(big.Float).SetInt64(v.Int()), true
	case v.CanUint():
		return new(big.Float).SetUint64(v.Uint()), true
	case v.CanFloat() && !math.IsNaN(v.Float()):
		return big.NewFloat(v.Float()), true
	}
	return nil, false
}

// ordered compares two numbers.
func ordered(a, b any) (order int, numbers bool) {
	if x, isInt := a.(int); isInt {
		if y, isInt := b.(int); isInt {
			return cmp.Compare(x, y), true
		}
	}
	x, isNumber := Exact(a)
	if !isNumber {
		return 0, false
	}
	y, isNumber := Exact(b)
	if !isNumber {
		return 0, false
	}
	return x.Cmp(y), true
}

var errNoComparison = errors.New("missing argument for comparison")

// Eq reports whether the first argument is equal to one of the others.
func Eq(first any, others ...any) (bool, error) {
	if len(others) == 0 {
		return false, &failure.CallError{Reason: errNoComparison.Error()}
	}
	for _, other := range others {
		equal, err := equalBasic(first, other)
		if err != nil || equal {
			return equal, err
		}
	}
	return false, nil
}

// equalBasic compares as text/template does, but all numbers with each other.
func equalBasic(a, b any) (bool, error) {
	if order, numbers := ordered(a, b); numbers {
		return order == 0, nil
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if !x.IsValid() || !y.IsValid() {
		return isNil(x) && isNil(y), nil
	}
	switch {
	case x.Kind() != y.Kind() && isNumber(x) && isNumber(y): // one is not a number (NaN)
		return false, nil
	case x.Kind() != y.Kind():
		return false, incomparable(a, b)
	case isNil(x) || isNil(y):
		return isNil(x) && isNil(y), nil
	case x.Kind() == reflect.String:
		return x.String() == y.String(), nil
	case !x.Comparable() || !y.Comparable():
		return false, &failure.CallError{Reason: fmt.Sprintf("non-comparable type %s, use deepEqual", TypeName(b))}
	}
	return a == b, nil
}

func isNumber(v reflect.Value) bool { return v.CanInt() || v.CanUint() || v.CanFloat() }

func isNil(v reflect.Value) bool {
	if !v.IsValid() {
		return true
	}
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Pointer, reflect.Func, reflect.Chan, reflect.Interface:
		return v.IsNil()
	}
	return false
}

func incomparable(a, b any) error {
	return &failure.CallError{Reason: fmt.Sprintf("incompatible types for comparison: %s and %s", TypeName(a), TypeName(b))}
}

// Ne reports whether two values differ.
func Ne(a, b any) (bool, error) {
	equal, err := Eq(a, b)
	return !equal, err
}

// Lt reports whether a is less than b.
func Lt(a, b any) (bool, error) { return less(a, b, func(order int) bool { return order < 0 }) }

// Le reports whether a is at most b.
func Le(a, b any) (bool, error) { return less(a, b, func(order int) bool { return order <= 0 }) }

// Gt reports whether a is more than b.
func Gt(a, b any) (bool, error) { return less(a, b, func(order int) bool { return order > 0 }) }

// Ge reports whether a is at least b.
func Ge(a, b any) (bool, error) { return less(a, b, func(order int) bool { return order >= 0 }) }

func less(a, b any, fits func(order int) bool) (bool, error) {
	if order, numbers := ordered(a, b); numbers {
		return fits(order), nil
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case !x.IsValid() || !y.IsValid():
		return false, &failure.CallError{Reason: "invalid type for comparison: a value does not exist"}
	case isNumber(x) && isNumber(y): // one is not a number (NaN)
		return false, nil
	case x.Kind() != reflect.String || y.Kind() != reflect.String:
		return false, incomparable(a, b)
	case x.String() < y.String():
		return fits(-1), nil
	case x.String() > y.String():
		return fits(1), nil
	}
	return fits(0), nil
}

// DeepEqual compares values with everything in them, numbers by what they are.
func DeepEqual(a, b any) bool {
	if x, isText := a.(string); isText {
		y, isText := b.(string)
		return isText && x == y
	}
	if order, numbers := ordered(a, b); numbers {
		return order == 0
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, field := range a {
			other, found := b[key]
			if !found || !DeepEqual(field, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !DeepEqual(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// Upstream calls every number of a binding a float64. Here the integers among them are of type int;
// they answer to both names.

// KindOf is the kind of a value as templates for upstream know it.
func KindOf(value any) string {
	switch value.(type) {
	case int, json.Number:
		return "float64"
	case File:
		return "slice"
	}
	return reflect.ValueOf(value).Kind().String()
}

// KindIs compares a kind; an integer has two.
func KindIs(target string, value any) bool {
	_, isInt := value.(int)
	return target == KindOf(value) || isInt && target == "int"
}

// TypeOf is the type of a value as templates for upstream know it.
func TypeOf(value any) string {
	switch value.(type) {
	case int, json.Number:
		return "float64"
	case File:
		return "[]uint8"
	}
	return fmt.Sprintf("%T", value)
}

// TypeName is the type of a value in messages.
func TypeName(value any) string {
	switch value := value.(type) {
	case nil:
		return "nil"
	case json.Number:
		if number.IsInteger(value) {
			return "integer"
		}
	}
	return NameOf(reflect.TypeOf(value))
}

// NameOf is what messages call a type: what it is in YAML, not in Go.
func NameOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[json.Number]():
		return "number"
	case reflect.TypeFor[File]():
		return "file"
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[time.Duration]():
		return "duration"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Map:
		return "map"
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Func:
		return "function"
	}
	return "object"
}

// TypeIs compares a type; an integer has two.
func TypeIs(target string, value any) bool {
	_, isInt := value.(int)
	return target == TypeOf(value) || isInt && target == "int"
}

// TypeIsLike is TypeIs for a value or a pointer to one.
func TypeIsLike(target string, value any) bool {
	return TypeIs(target, value) || "*"+target == TypeOf(value)
}

// Digits returns a number without a fraction as an integer, so that it prints as
// digits and not as 1e+06.
func Digits(value any) any {
	if f, isFloat := value.(float64); isFloat {
		if n, ok := Integer(f); ok {
			return n
		}
	}
	return value
}

// AllDigits does that for arguments and for elements of lists among them.
func AllDigits(args []any) []any {
	shown := make([]any, len(args))
	for i, arg := range args {
		shown[i] = Digits(arg)
		if list, isList := arg.([]any); isList {
			copied := make([]any, len(list))
			for j, element := range list {
				copied[j] = Digits(element)
			}
			shown[i] = copied
		}
	}
	return shown
}
