package repocontext

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// NotFoundError says that something does not exist, or must not be used, that a Context refers to.
type NotFoundError struct{ message string }

// Error implements error.
func (e *NotFoundError) Error() string { return e.message }

// ReadError says that the API server did not deliver an object, which may exist: another attempt
// may succeed.
type ReadError struct {
	// Object names what was to be read.
	Object string
	Cause  error
}

// Error implements error.
func (e *ReadError) Error() string {
	text := "read " + e.Object + ": " + e.Cause.Error()
	if apierrors.IsForbidden(e.Cause) {
		text += ": the administrator has to give this permission to the server"
	}
	return text
}

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Cause }

// unread explains why an object could not be read.
func unread(err error, kind, name string) error {
	if apierrors.IsNotFound(err) {
		return &NotFoundError{fmt.Sprintf("%s %s cannot be found in this namespace: create it, or correct the name", kind, name)}
	}
	return &ReadError{Object: kind + " " + name, Cause: err}
}
