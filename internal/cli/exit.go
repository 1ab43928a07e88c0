package cli

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/inspect"
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

// exitCodesVariable, with the value 2, is the same as --strict-exit-codes.
const exitCodesVariable = "LANDSCAPER_CLI_EXIT_CODES"

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

func exitf(code int, format string, args ...any) error {
	return &ExitError{Code: code, Err: fmt.Errorf(format, args...)}
}

// exitCode returns the code for an error. Commands of older releases knew 0 and 1
// only, and scripts may rely on that.
func exitCode(err error, strict bool) int {
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

// explain adds to an error of the API server what to do about it.
func (c *connection) explain(err error) error {
	switch {
	case apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return exitf(ExitNotFound, "the CustomResourceDefinition %s is not installed in %s: choose another cluster with --context or --kubeconfig, or install it with landscaper install", missingResource(err), c.where)
	case apierrors.IsUnauthorized(err):
		return exitf(ExitForbidden, "%s does not accept the credentials of the kubeconfig: %w", c.where, err)
	}
	return err
}

func missingResource(err error) string {
	var read *inspect.ReadError
	if errors.As(err, &read) {
		return read.Resource.String()
	}
	return v1alpha1.Resource("installations").String()
}
