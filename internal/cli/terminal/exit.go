// Package terminal is what all commands share: where they read and write, how
// they end, and how they complain.
package terminal

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The exit codes of commands.
const (
	// ExitFailed means that something went wrong that no other code tells.
	ExitFailed = 1
	// ExitEndedBadly means that what was waited for ended in a failed phase.
	ExitEndedBadly = 2
	// ExitNotFound means that an object, or the whole API, does not exist.
	ExitNotFound = 3
	// ExitForbidden means that permissions are missing, so that the result is
	// missing or, with --strict, not complete.
	ExitForbidden = 4
	// ExitTimeout means that the time was over before the end.
	ExitTimeout = 5
	// ExitUsage means that the command line is wrong.
	ExitUsage = 64
	// ExitInterrupted means that the user stopped the command.
	ExitInterrupted = 130
)

// ExitCodesVariable is the variable that, with the value 2, is the same as --strict-exit-codes.
const ExitCodesVariable = "LANDSCAPER_CLI_EXIT_CODES"

// ExitError is an error that ends the program with a certain code.
type ExitError struct {
	// Code is the exit code.
	Code int
	// Err says what happened.
	Err error
}

// Error implements error.
func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// Exitf returns an error that ends the program with a certain code.
func Exitf(code int, format string, args ...any) error {
	return &ExitError{Code: code, Err: fmt.Errorf(format, args...)}
}

// Silent ends the program with a certain code and no message: what was printed says it.
func Silent(code int) error { return &ExitError{Code: code, Err: errSilent} }

var errSilent = errors.New("")

// ExitCode returns the code for an error. Commands of older releases knew 0 and 1
// only, and scripts may rely on that.
func ExitCode(err error, strict bool) int {
	var exit *ExitError
	code := ExitFailed
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		code = exit.Code
	case errors.Is(err, context.Canceled):
		code = ExitInterrupted
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		code = ExitForbidden
	case apierrors.IsNotFound(err):
		code = ExitNotFound
	}
	if !strict && code != ExitInterrupted {
		return ExitFailed
	}
	return code
}
