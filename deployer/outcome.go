package deployer

import (
	"errors"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Error is a failure as the status of an item shows it. The message and the codes of the cause are
// added to those of the error. Neither may hold a value that could be a credential.
type Error struct {
	// Operation is the step that failed.
	Operation string
	// Reason is a short word for the cause.
	Reason string
	// Message says what was being done and what to do. The message of the cause is added when the
	// error is shown.
	Message string
	// Codes classify the error.
	Codes []v1alpha1.ErrorCode
	// Cause is the error behind this one, if there is one.
	Cause error
}

// Error implements error.
func (e *Error) Error() string { return e.shown().Error() }

// Unwrap returns the error from which the status of an item is made, however it is wrapped; that
// one wraps the cause.
func (e *Error) Unwrap() error { return e.shown() }

func (e *Error) shown() *job.Error {
	return &job.Error{Operation: e.Operation, Reason: reasons.Reason(e.Reason), Message: e.Message, Codes: e.Codes, Cause: e.Cause}
}

// The outcome of an error of a deployer:
//
//   - Final errors end the job at once.
//   - Waiting errors say that something outside has to happen first. No further
//     attempt is made before Item.Requeue is called, or the Target or its Secret changes.
//   - All other errors are transient: another attempt follows, later each time, until
//     the time of the job is over.

// Final marks an error as one that another attempt would only repeat. An Error with
// one of the codes that the published API calls unrecoverable is final without it.
func Final(err error) error { return job.AsTerminal(err) }

// Waiting returns an error which says that a user or another client has to act first, for example
// to create a Secret. It is shown like an error, although nothing has failed: name the object and
// the remedy in the message. For progress without an action, such as pods that start, return
// WaitFor instead.
func Waiting(operation, reason, message string) error {
	return &Error{Operation: operation, Reason: reason, Cause: job.NewWaiting(operation, reasons.Reason(reason), message)}
}

// Outcome is what follows from an error.
type Outcome string

const (
	// OutcomeNone means that there is no error.
	OutcomeNone Outcome = "none"
	// OutcomeFinal means that the job ends.
	OutcomeFinal Outcome = "final"
	// OutcomeWaiting means that something outside has to happen first.
	OutcomeWaiting Outcome = "waiting"
	// OutcomeTransient means that another attempt follows.
	OutcomeTransient Outcome = "transient"
)

// OutcomeOf returns what follows from an error.
func OutcomeOf(err error) Outcome {
	switch job.OutcomeOf(err) {
	case job.None:
		return OutcomeNone
	case job.Terminal:
		return OutcomeFinal
	case job.Waiting:
		return OutcomeWaiting
	}
	return OutcomeTransient
}

// ConfigurationError returns the error about an invalid field of an item. It is final: the item has
// to be changed.
func ConfigurationError(field, message string) error {
	return &Error{Operation: published.ReconcileItem, Reason: string(reasons.InvalidConfiguration), Message: field + ": " + message, Codes: []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}}
}

// judge says what the result of an attempt means. Expired says that the time of
// the job is over; then nothing is waited for any more. The error that it returns
// is the one to show.
func judge(result Result, err error, expired bool, checkpoint string) (status.Verdict, error) {
	if err == nil && len(result.WaitingFor) > 0 {
		err = job.WaitForProgress(published.ReconcileItem, "waiting for "+listing(result.WaitingFor))
	}
	switch outcome := job.OutcomeOf(err); {
	case outcome == job.None:
		return status.Succeeded, nil
	case outcome == job.Terminal:
		return status.Failed, err
	case expired:
		return status.Failed, timeoutError(checkpoint, err)
	case outcome == job.Waiting:
		return status.Waiting, err
	}
	return status.Retrying, err
}

// timeoutError returns the error that the time of a job is over, where, and what was missing.
func timeoutError(checkpoint string, cause error) error {
	message := "timeout before the work could begin"
	if checkpoint != "" {
		message = fmt.Sprintf("timeout at: %q", checkpoint)
	}
	var shown error
	if cause != nil {
		// Only the text: the codes of a wait would say that the job has not failed.
		shown = errors.New(cause.Error())
	}
	return job.Wrap(shown, published.StandardTimeoutCheckerTimeoutExceeded, reasons.ProgressingTimeout, message, v1alpha1.ErrorTimeout)
}
