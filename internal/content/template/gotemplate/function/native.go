package function

import (
	"fmt"
	"reflect"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// Native makes a Go function callable. Arguments may be numbers of any type where
// the function wants one of a certain type, and an error does not repeat arguments.
func (l *Library) Native(name string, function any) func(args ...any) (any, error) {
	value := reflect.ValueOf(function)
	return func(args ...any) (result any, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, crash(name, p)
			}
		}()
		if err := l.Step(); err != nil {
			return nil, err
		}
		if showsDigits[name] {
			args = operand.AllDigits(args)
		}
		in, err := arguments(name, value.Type(), args)
		if err != nil {
			return nil, err
		}
		if err := checkKeys(name, args); err != nil {
			return nil, err
		}
		out := value.Call(in)
		if len(out) == 2 && !out[1].IsNil() {
			return nil, restated(name, out[1].Interface().(error)) // text/template demands it
		}
		return out[0].Interface(), nil
	}
}

// arguments converts what a template gives to what a function takes.
func arguments(name string, function reflect.Type, args []any) ([]reflect.Value, error) {
	fixed := function.NumIn()
	if function.IsVariadic() {
		fixed--
	}
	switch {
	case function.IsVariadic() && len(args) < fixed:
		return nil, &failure.CallError{Name: name, Reason: fmt.Sprintf("wrong number of args for %s: want at least %d got %d", name, fixed, len(args))}
	case !function.IsVariadic() && len(args) != fixed:
		return nil, &failure.CallError{Name: name, Reason: fmt.Sprintf("wrong number of args for %s: want %d got %d", name, fixed, len(args))}
	}
	in := make([]reflect.Value, len(args))
	for i, arg := range args {
		var want reflect.Type
		if i < fixed {
			want = function.In(i)
		} else {
			want = function.In(fixed).Elem()
		}
		value, ok := operand.Converted(arg, want)
		if !ok {
			return nil, &failure.CallError{Name: name, Reason: fmt.Sprintf("wrong type for value %d; expected %s; got %s", i+1, operand.NameOf(want), operand.TypeName(arg))}
		}
		in[i] = value
	}
	return in, nil
}
