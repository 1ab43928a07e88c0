package job

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Error is the failure of a step, as the status of an object shows it.
type Error struct {
	// Operation is the step that failed.
	Operation string
	// Reason is a short word for the cause.
	Reason reasons.Reason
	// Message says what was being done and what to do. The message of the cause
	// is added when the error is shown.
	Message string
	// Codes classify the error.
	Codes []v1alpha1.ErrorCode
	// Cause is the error behind this one, if there is one.
	Cause error
}

// NewError returns an error without a cause.
func NewError(operation string, reason reasons.Reason, message string, codes ...v1alpha1.ErrorCode) *Error {
	return &Error{Operation: operation, Reason: reason, Message: message, Codes: codes}
}

// Wrap returns an error with a cause.
func Wrap(cause error, operation string, reason reasons.Reason, message string, codes ...v1alpha1.ErrorCode) *Error {
	return &Error{Operation: operation, Reason: reason, Message: message, Codes: codes, Cause: cause}
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Cause == nil:
		return e.Message
	case e.Message == "":
		return e.Cause.Error()
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Codes returns the codes of an error and of all errors behind it, without
// repetitions.
func Codes(err error) []v1alpha1.ErrorCode {
	var codes []v1alpha1.ErrorCode
	walk(err, func(err error) {
		if e, ok := err.(*Error); ok { //nolint:errorlint // walk visits each error of the chain
			for _, code := range e.Codes {
				if !slices.Contains(codes, code) {
					codes = append(codes, code)
				}
			}
		}
	})
	return codes
}

// walk visits an error and all errors behind it, the innermost first.
func walk(err error, visit func(error)) {
	switch err := err.(type) { //nolint:errorlint // walk visits each error of the chain
	case nil:
		return
	case interface{ Unwrap() []error }:
		for _, cause := range err.Unwrap() {
			walk(cause, visit)
		}
	case interface{ Unwrap() error }:
		walk(err.Unwrap(), visit)
	}
	visit(err)
}

// Outcome is what follows from an error.
type Outcome int

const (
	// None means that there was no error.
	None Outcome = iota
	// Waiting means that something outside has to happen first; an event reports it.
	Waiting
	// Conflict means that we acted on an outdated object; a newer one is under way.
	Conflict
	// Transient means that another attempt may succeed.
	Transient
	// Terminal means that another attempt would end the same way.
	Terminal
)

// OutcomeOf returns what follows from an error.
//
// The order matters. A wait carries codes of its own and is never an error, whatever is
// behind it. What is terminal stays so even if a conflict was its cause. AlreadyExists is a
// conflict because names of children follow from their parents: what is in the way is
// mostly our own object, which the cache does not show yet. A cache that is behind leads to the
// same, and so does an object that was deleted.
func OutcomeOf(err error) Outcome {
	_, stale := expectations.RetryAfter(err)
	switch {
	case err == nil:
		return None
	case IsWaiting(err):
		return Waiting
	case isTerminal(err):
		return Terminal
	case stale, apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return Conflict
	}
	return Transient
}

// waiting marks an error as the wait for something outside.
type waiting struct {
	error
	wake Wake
	// progress says that work is under way without an action of a user.
	progress bool
}

// Unwrap returns the error that names what the job waits for.
func (w waiting) Unwrap() error { return w.error }

// NewWaiting returns an error which says that something outside has to happen
// first. An event ends the wait, never a timer.
func NewWaiting(operation string, reason reasons.Reason, message string) error {
	return WaitFor(Wake{}, operation, reason, message)
}

// WaitFor returns the wait for something outside that a controller knows by kind and
// name.
func WaitFor(wake Wake, operation string, reason reasons.Reason, message string) error {
	return waiting{NewError(operation, reason, message, v1alpha1.ErrorUnfinished, v1alpha1.ErrorForInfoOnly, v1alpha1.ErrorNoRetry), wake, false}
}

// WaitForProgress returns the wait for work that is under way, such as pods that start. The status
// of an item does not show it as an error.
func WaitForProgress(operation, message string) error {
	return waiting{NewError(operation, reasons.Waiting, message, v1alpha1.ErrorUnfinished, v1alpha1.ErrorForInfoOnly, v1alpha1.ErrorNoRetry), Wake{}, true}
}

// WakeOf returns what ends the wait that an error reports.
func WakeOf(err error) Wake {
	var w waiting
	errors.As(err, &w)
	return w.wake
}

// IsWaiting reports whether an error is the wait for something outside.
func IsWaiting(err error) bool {
	var w waiting
	return errors.As(err, &w)
}

// IsProgress reports whether an error is the wait for work that is under way.
func IsProgress(err error) bool {
	var w waiting
	return errors.As(err, &w) && w.progress
}

// terminal marks an error as final for the job.
type terminal struct{ error }

// Unwrap returns the error that ended the job.
func (t terminal) Unwrap() error { return t.error }

// AsTerminal marks an error as one that another attempt would only repeat.
func AsTerminal(err error) error {
	if err == nil {
		return nil
	}
	return terminal{err}
}

func isTerminal(err error) bool {
	var t terminal
	if errors.As(err, &t) {
		return true
	}
	return slices.ContainsFunc(Codes(err), v1alpha1.ErrorCode.Unrecoverable)
}

// IsRefusal reports whether the API server refuses an object because of its content:
// another attempt would end the same way.
func IsRefusal(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// IsShutdown reports whether an error only says that the process is ending.
func IsShutdown(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// maxStatusMessage is how many bytes of a message a status has.
const maxStatusMessage = 8 << 10

// StatusMessage returns the message of an error as a status has it. A status has the message several
// times, and parts of it that others wrote, such as a target cluster, may be longer than an
// API server stores: then the job could never end.
func StatusMessage(err error) string { return truncate(err.Error()) }

func truncate(text string) string {
	if len(text) <= maxStatusMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxStatusMessage], "") + "…"
}

// EventMessage cuts a message to what an event can hold.
func EventMessage(message string) string {
	const limit = 1000
	if len(message) <= limit {
		return message
	}
	return strings.ToValidUTF8(message[:limit], "") + " ..."
}

// StatusError returns an error in the form of a status, or nil. Last is the error
// that the status shows so far: its times stay where nothing changed.
func StatusError(err error, last *v1alpha1.Error, now metav1.Time) *v1alpha1.Error {
	if err == nil {
		return nil
	}
	shown := &v1alpha1.Error{Message: StatusMessage(err), Codes: Codes(err), LastTransitionTime: now, LastUpdateTime: now}
	var e *Error
	if errors.As(err, &e) {
		shown.Operation, shown.Reason = e.Operation, string(e.Reason)
	}
	if last == nil || last.Operation != shown.Operation {
		return shown
	}
	shown.LastTransitionTime = last.LastTransitionTime
	if last.Reason == shown.Reason && last.Message == shown.Message && slices.Equal(last.Codes, shown.Codes) {
		shown.LastUpdateTime = last.LastUpdateTime
	}
	return shown
}
