package remote

import (
	"errors"

	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/runtime/sandbox"
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
	// Reason is that of a wrong import or export, and NoComponent says that there is no component:
	// the command line says how to give what is missing.
	Reason      dataflow.Reason
	NoComponent bool
	// Answers are the numbers of the answers of the server that it comes from.
	Answers []int
}

func encodeFailure(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error(), Temporary: component.IsTemporary(err), Answers: sandbox.AnswersIn(err)}
	var step *plan.StepError
	if errors.As(err, &step) {
		f.Step = step.Step
	}
	f.NoComponent = errors.Is(err, plan.ErrNoComponent)
	if wrong, ok := errors.AsType[*dataflow.Error](err); ok {
		f.Reason = wrong.Reason
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
func (f *failure) decode(answered *sandbox.Answered) error {
	if f == nil {
		return nil
	}
	text := f.Text
	if f.Cause != "" {
		text = f.Cause
	}
	err := answered.Restore(text, f.Answers)
	if f.Temporary {
		err = &temporaryError{err}
	}
	if f.Reason != "" {
		err = &kindOfError{err, &dataflow.Error{Reason: f.Reason}}
	}
	if f.NoComponent {
		err = &kindOfError{err, plan.ErrNoComponent}
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

// temporaryError is a net.Error, which callers know to try again.
type temporaryError struct{ error }

// Timeout implements net.Error.
func (*temporaryError) Timeout() bool { return true }

// Temporary reports that another attempt may succeed.
func (*temporaryError) Temporary() bool { return true }

// Unwrap returns the error.
func (e *temporaryError) Unwrap() error { return e.error }

// kindOfError has the text of one error, and is of the kind of another one.
type kindOfError struct {
	error

	kind error
}

// Unwrap returns both.
func (e *kindOfError) Unwrap() []error { return []error{e.error, e.kind} }

// errorText is an error of which only the text is left.
type errorText string

// Error implements error.
func (e errorText) Error() string { return string(e) }

// advisedError is an error that the server has answered with.
type advisedError struct {
	*sandbox.AnswerError
	advice string
}

// Advice is what to do about it.
func (e *advisedError) Advice() string { return e.advice }

// Unwrap returns the error.
func (e *advisedError) Unwrap() error { return e.AnswerError }

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
	err := &advisedError{&sandbox.AnswerError{Text: f.Text, Number: f.Number}, f.Advice}
	if f.Temporary {
		return &temporaryError{err}
	}
	return err
}
