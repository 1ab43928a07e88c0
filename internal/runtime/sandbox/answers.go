package sandbox

// An error that the server answers a question with gets a number. When it is behind the error of
// the work, the server finds it again by the number, and judges it as it was.

// Answered are the errors that the server has answered the questions of one work with.
type Answered struct{ errs []error }

// Add returns the number of an error.
func (a *Answered) Add(err error) int {
	a.errs = append(a.errs, err)
	return len(a.errs) - 1
}

// Restore returns an error of the process. Those of the numbers are behind it.
func (a *Answered) Restore(text string, numbers []int) error {
	restored := &restoredError{text: text}
	for _, number := range numbers {
		if number >= 0 && number < len(a.errs) {
			restored.causes = append(restored.causes, a.errs[number])
		}
	}
	return restored
}

// restoredError is an error of a process in the server.
type restoredError struct {
	text   string
	causes []error
}

// Error implements error.
func (e *restoredError) Error() string { return e.text }

// Unwrap returns the errors of the server that are behind it.
func (e *restoredError) Unwrap() []error { return e.causes }

// AnswerError is an error that the server has answered with, in the process.
type AnswerError struct {
	Text   string
	Number int
}

// Error implements error.
func (e *AnswerError) Error() string { return e.Text }

// AnswersIn returns the numbers of the answers behind an error.
func AnswersIn(err error) (numbers []int) {
	if answer, ok := err.(*AnswerError); ok { //nolint:errorlint // the tree is walked here
		return []int{answer.Number}
	}
	switch wrapped := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() error }:
		return AnswersIn(wrapped.Unwrap())
	case interface{ Unwrap() []error }:
		for _, next := range wrapped.Unwrap() {
			numbers = append(numbers, AnswersIn(next)...)
		}
	}
	return numbers
}
