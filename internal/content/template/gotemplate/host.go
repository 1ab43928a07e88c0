package gotemplate

import (
	"errors"
	"fmt"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// host makes a function of the embedder callable.
//
//nolint:contextcheck // the meter holds the context of the rendering
func (r *renderer) host(name string, function Function) func(args ...any) (any, error) {
	return func(args ...any) (result any, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, &failure.CallError{Name: name, Reason: "the function crashed"}
			}
		}()
		if err := r.Step(); err != nil {
			return nil, err
		}
		given, err := plainArguments(name, args)
		if err != nil {
			return nil, err
		}
		result, err = function(r.Context(), given)
		if err != nil {
			if timeout := r.CheckTime(); timeout != nil {
				return nil, &failure.CallError{Name: name, Reason: timeout.Error(), Cause: errors.Join(timeout, err)}
			}
			return nil, &failure.CallError{Name: name, Reason: r.masks().Reason(err, given, r.known), Cause: err}
		}
		return operand.LocalValue(result), nil
	}
}

func plainArguments(name string, args []any) ([]any, error) {
	given := make([]any, len(args))
	for i, arg := range args {
		value, ok := operand.PlainValue(arg)
		if !ok {
			return nil, &failure.CallError{Name: name, Reason: fmt.Sprintf("argument %d of type %s cannot be used here", i+1, operand.TypeName(arg))}
		}
		given[i] = value
	}
	return given, nil
}
