package remote

import (
	"errors"
	"strings"

	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/template/memlimit"
	"go.landscaper.dev/internal/landscape/plan"
)

// failure is an error on its way to the server: its text, and what the server decides by.
type failure struct {
	Text string
	Step plan.Step
	// Subinstallations says that it is those which cannot be worked out.
	Subinstallations bool
	// Import says that import executions have found it, with their Messages or a Cause.
	Import   bool
	Messages []string
	Cause    string
	// Temporary says that another attempt may succeed.
	Temporary bool
	// Answers are the numbers of the answers of the server that it comes from.
	Answers []int
}

func encodeFailure(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error(), Temporary: component.IsTemporary(err), Answers: answersIn(err, nil)}
	var busy *memlimit.Busy
	if errors.As(err, &busy) {
		// It has the process for itself: nothing else will ever give it more.
		f.Temporary, f.Text = false, strings.ReplaceAll(f.Text, busy.Error(), "it takes more memory than one work may: make less of it")
	}
	var step *plan.StepError
	if errors.As(err, &step) {
		f.Step = step.Step
	}
	var subs *plan.SubinstallationError
	f.Subinstallations = errors.As(err, &subs)
	var invalid *plan.ImportError
	if errors.As(err, &invalid) {
		f.Import, f.Messages = true, invalid.Messages
		if invalid.Cause != nil {
			f.Cause = invalid.Cause.Error()
		}
	}
	return f
}

// decode returns the error. The errors that the server has answered with are behind it, so that
// it is judged as they are.
func (f *failure) decode(answers []error) error {
	if f == nil {
		return nil
	}
	text := f.Text
	if f.Cause != "" {
		text = f.Cause
	}
	var err error = &remoteError{text, known(f.Answers, answers)}
	if f.Temporary {
		err = &temporaryError{err}
	}
	switch {
	case f.Subinstallations:
		err = plan.NewSubinstallationError(err)
	case f.Import && f.Cause != "":
		err = &plan.ImportError{Cause: err}
	case f.Import:
		err = &plan.ImportError{Messages: f.Messages}
	}
	if f.Step != "" {
		err = &plan.StepError{Step: f.Step, Cause: err}
	}
	return err
}

func known(numbers []int, answers []error) []error {
	var causes []error
	for _, number := range numbers {
		if number >= 0 && number < len(answers) {
			causes = append(causes, answers[number])
		}
	}
	return causes
}

// remoteError is an error of another process.
type remoteError struct {
	text   string
	causes []error
}

// Error implements error.
func (e *remoteError) Error() string { return e.text }

// Unwrap returns the errors of the server that are behind it.
func (e *remoteError) Unwrap() []error { return e.causes }

// temporaryError is a net.Error, which callers know to try again.
type temporaryError struct{ error }

// Timeout implements net.Error.
func (*temporaryError) Timeout() bool { return true }

// Temporary reports that another attempt may succeed.
func (*temporaryError) Temporary() bool { return true }

// Unwrap returns the error.
func (e *temporaryError) Unwrap() error { return e.error }

// errorText is an error of which only the text is left.
type errorText string

// Error implements error.
func (e errorText) Error() string { return string(e) }

// answerError is an error that the server has answered with.
type answerError struct {
	answerFailure
}

// Error implements error.
func (e *answerError) Error() string { return e.Text }

// Advice is what to do about it.
func (e *answerError) Advice() string { return e.answerFailure.Advice }

// answerFailure is an error on its way to the process.
type answerFailure struct {
	Text, Advice string
	// Number is that of the error among the answers.
	Number    int
	Temporary bool
}

func (f *answerFailure) decode() error {
	if f == nil {
		return nil
	}
	err := &answerError{*f}
	if f.Temporary {
		return &temporaryError{err}
	}
	return err
}

// answersIn collects the numbers of the answers behind an error.
func answersIn(err error, numbers []int) []int {
	if answer, ok := err.(*answerError); ok { //nolint:errorlint // the tree is walked here
		return append(numbers, answer.Number)
	}
	switch wrapped := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() error }:
		if next := wrapped.Unwrap(); next != nil {
			return answersIn(next, numbers)
		}
	case interface{ Unwrap() []error }:
		for _, next := range wrapped.Unwrap() {
			numbers = answersIn(next, numbers)
		}
	}
	return numbers
}
