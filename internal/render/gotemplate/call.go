package gotemplate

import (
	"errors"
	"fmt"
	"math"
	"reflect"
)

// native makes a Go function callable. Arguments may be numbers of any type where
// the function wants one of a certain type, the result is booked, and an error
// does not repeat arguments.
func (r *renderer) native(name string, function any) func(args ...any) (any, error) {
	value := reflect.ValueOf(function)
	estimate := estimates[name]
	return func(args ...any) (result any, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, crash(name, p)
			}
		}()
		if err := r.step(); err != nil {
			return nil, err
		}
		if showsDigits[name] {
			args = allDigits(args)
		}
		in, err := arguments(name, value.Type(), args)
		if err != nil {
			return nil, err
		}
		if err := checkKeys(name, args); err != nil {
			return nil, err
		}
		if estimate != nil {
			bytes, err := estimate(r, args)
			if err != nil {
				return nil, err
			}
			if bytes < 0 || bytes > r.Limits.Text {
				return nil, r.spend(r.Limits.Text + 1)
			}
		}
		if err := r.keep(transient[name]); err != nil {
			return nil, err
		}
		out := value.Call(in)
		r.free(transient[name])
		if len(out) == 2 && !out[1].IsNil() {
			return nil, failure(name, out[1].Interface().(error)) // text/template demands it
		}
		result = out[0].Interface()
		return result, r.account(name, args, result)
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
		return nil, &callError{name: name, reason: fmt.Sprintf("wrong number of args for %s: want at least %d got %d", name, fixed, len(args))}
	case !function.IsVariadic() && len(args) != fixed:
		return nil, &callError{name: name, reason: fmt.Sprintf("wrong number of args for %s: want %d got %d", name, fixed, len(args))}
	}
	in := make([]reflect.Value, len(args))
	for i, arg := range args {
		var want reflect.Type
		if i < fixed {
			want = function.In(i)
		} else {
			want = function.In(fixed).Elem()
		}
		value, ok := converted(arg, want)
		if !ok {
			return nil, &callError{name: name, reason: fmt.Sprintf("wrong type for value %d; expected %s; got %s", i+1, want, typeName(arg))}
		}
		in[i] = value
	}
	return in, nil
}

// converted returns an argument as a value of a type.
func converted(arg any, want reflect.Type) (reflect.Value, bool) {
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
		if n, ok := integer(arg); ok && !overflows(n, want) {
			return reflect.ValueOf(n).Convert(want), true
		}
	case reflect.Float64:
		if f, ok := float(arg); ok {
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

// host makes a function of the embedder callable.
func (r *renderer) host(name string, function Function) func(args ...any) (any, error) {
	return func(args ...any) (result any, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, &callError{name: name, reason: "the function crashed"}
			}
		}()
		if err := r.step(); err != nil {
			return nil, err
		}
		if _, err := r.measure(args...); err != nil {
			return nil, err
		}
		given, err := plainArguments(name, args)
		if err != nil {
			return nil, err
		}
		result, err = function(r.ctx, given)
		if err != nil {
			if timeout := r.checkTime(); timeout != nil {
				return nil, &callError{name: name, reason: timeout.Error(), cause: errors.Join(timeout, err)}
			}
			return nil, &callError{name: name, reason: r.masks().Reason(err, given, r.known), cause: err}
		}
		if _, err := r.measure(result); err != nil {
			return nil, err
		}
		result = localValue(result)
		return result, r.keep(r.deep(result))
	}
}

func plainArguments(name string, args []any) ([]any, error) {
	given := make([]any, len(args))
	for i, arg := range args {
		value, ok := plainValue(arg)
		if !ok {
			return nil, &callError{name: name, reason: fmt.Sprintf("argument %d of type %s cannot be used here", i+1, typeName(arg))}
		}
		given[i] = value
	}
	return given, nil
}
