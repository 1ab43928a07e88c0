package function_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/function"
	"go.landscaper.dev/internal/content/template/gotemplate/worklimit"
)

// row is a call of a function, what it gives or says, and why that is asked.
type row struct {
	reason, name string
	args         []any
	want         any
}

func with(args ...any) []any { return args }

// library has the functions within the usual limits, but with fewer steps, so that using
// them up takes no time.
func library(t *testing.T) map[string]any {
	t.Helper()
	meter, cancel := worklimit.NewMeter(t.Context(), worklimit.Limits{Steps: 100_000})
	t.Cleanup(cancel)
	return (&function.Library{Meter: meter}).All()
}

func call(t *testing.T, name string, args []any) (any, error) {
	t.Helper()
	f, ok := library(t)[name].(func(...any) (any, error))
	if !ok {
		t.Fatalf("there is no function %s", name)
	}
	return f(args...)
}

func gives(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.reason, func(t *testing.T) {
			got, err := call(t, r.name, r.args)
			if err != nil || !reflect.DeepEqual(got, r.want) {
				t.Errorf("%s gives %#v, %v, want %#v", r.name, got, err, r.want)
			}
		})
	}
}

// fails wants a part of the message, and that it repeats no secret.
func fails(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.reason, func(t *testing.T) {
			got, err := call(t, r.name, r.args)
			if err == nil {
				t.Fatalf("%s gives %.200v", r.name, got)
			}
			if !strings.Contains(err.Error(), r.want.(string)) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s says %q", r.name, err)
			}
			var refused *failure.Refusal
			var failed *failure.CallError
			if !errors.As(err, &refused) && !errors.As(err, &failed) {
				t.Errorf("%s fails with a %T", r.name, err)
			}
		})
	}
}
