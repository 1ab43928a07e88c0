package function

import (
	"errors"
	"regexp"
	"runtime"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
)

var digit = regexp.MustCompile(`\d+`)

// restated is the error of a function without the text of its arguments.
func restated(name string, err error) error {
	var inner *failure.Error
	var refused *failure.Refusal
	var failed *failure.CallError
	switch {
	case errors.As(err, &inner):
		return inner
	case errors.As(err, &refused), errors.As(err, &failed):
		return err
	}
	reason, known := reasons[name]
	if !known {
		reason = "the arguments do not fit"
	}
	return &failure.CallError{Name: name, Reason: reason}
}

// crash is the error of a function that panicked.
func crash(name string, recovered any) error {
	err, isError := recovered.(error)
	if !isError {
		return restated(name, errors.New("panic"))
	}
	var wrongType *runtime.TypeAssertionError
	if errors.As(err, &wrongType) {
		// It names types only.
		return &failure.CallError{Name: name, Reason: wrongType.Error()}
	}
	var fault runtime.Error
	if errors.As(err, &fault) {
		return &failure.CallError{Name: name, Reason: digit.ReplaceAllString(fault.Error(), "[...]")}
	}
	return restated(name, err)
}
