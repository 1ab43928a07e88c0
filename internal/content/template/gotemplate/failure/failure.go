// Package failure is why a template fails: because of a limit, in a function, or at a
// place of its text. No message repeats a value.
package failure

// Source is a template.
type Source struct {
	// Name is what messages call it: the name of an execution or the path of a file.
	Name string
	// Text is the template itself.
	Text string
}

// Error is an error of a template. Its text repeats no value that the template
// works with.
type Error struct {
	// Source is the template in which it happened: an included file, where it is
	// one. Its text is empty if it may hold values.
	Source Source
	// Computed is set if the template is not a file but a text of another template.
	Computed bool
	// Line counts from 1, 0 is unknown. Column counts from 0.
	Line, Column int
	Message      string
	Cause        error // the limit or the cancellation that ended the rendering, if any
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the limit or the cancellation that ended the rendering, if any.
func (e *Error) Unwrap() error { return e.Cause }

// CallError is the failure of a function.
type CallError struct {
	Name   string
	Reason string
	Cause  error
}

// Error implements error.
func (e *CallError) Error() string { return e.Reason }

// Unwrap gives the cause, which is not shown.
func (e *CallError) Unwrap() error { return e.Cause }

// Refusal ends a rendering because of a limit.
type Refusal struct {
	Reason string
	Cause  error
}

// Error implements error.
func (r *Refusal) Error() string { return r.Reason }

// Unwrap gives the cause, which is not shown.
func (r *Refusal) Unwrap() error { return r.Cause }
