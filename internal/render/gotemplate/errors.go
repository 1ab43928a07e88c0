package gotemplate

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"text/template"
)

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
	cause        error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the limit or the cancellation that ended the rendering, if any.
func (e *Error) Unwrap() error { return e.cause }

// callError is the failure of a function.
type callError struct {
	name   string
	reason string
	cause  error
}

func (e *callError) Error() string { return e.reason }

func (e *callError) Unwrap() error { return e.cause }

var position = regexp.MustCompile(`^(\d+)(?::(\d+))?:`)

// explain turns an error of text/template into an Error.
func (r *renderer) explain(err error, p *program) *Error {
	var inner *Error
	if errors.As(err, &inner) {
		return inner
	}
	e := &Error{Source: p.Source, Computed: p.computed, Message: err.Error()}
	var refused *refusal
	if errors.As(err, &refused) {
		e.cause = refused.cause
	}
	var failed *callError
	if errors.As(err, &failed) {
		e.cause = failed.cause
	}
	var executed template.ExecError
	if errors.As(err, &executed) {
		e.Message = executed.Err.Error()
	}
	e.relocate(r)
	e.locate()
	if cause := errors.Unwrap(executed.Err); cause != nil {
		e.Message = e.withCause(cause)
	}
	if p.computed && !r.known(p.Text) {
		// The text was computed, and so was its error.
		e.Source.Text = ""
		e.Message = fmt.Sprintf("template: %s:%d: the text is not a valid template or fails", p.Name, e.Line)
		if refused != nil {
			e.Message = fmt.Sprintf("template: %s:%d: %s", p.Name, e.Line, refused.reason)
		}
	}
	return e
}

// locate finds the position in a message of text/template.
func (e *Error) locate() {
	rest, found := strings.CutPrefix(e.Message, "template: "+e.Source.Name+":")
	match := position.FindStringSubmatch(rest)
	if !found || match == nil {
		return
	}
	e.Line, _ = strconv.Atoi(match[1])
	e.Column, _ = strconv.Atoi(match[2])
}

// withCause returns the message with what may be said of the cause: an error of a
// function of ours says nothing of values, any other may.
func (e *Error) withCause(cause error) string {
	before := strings.TrimSuffix(e.Message, cause.Error())
	var refused *refusal
	if errors.As(cause, &refused) {
		return fmt.Sprintf("template: %s:%d:%d: %s", e.Source.Name, e.Line, e.Column, refused.reason)
	}
	var failed *callError
	if errors.As(cause, &failed) {
		return before + failed.reason
	}
	return before + "it failed"
}

// known tells whether a text stands literally in a template or a file.
func (r *renderer) known(text string) bool {
	for _, p := range r.programs {
		if p.computed {
			continue
		}
		if strings.Contains(p.Text, text) {
			return true
		}
		for _, t := range p.template.Templates() {
			if t.Tree == nil || t.Root == nil {
				continue
			}
			for _, literal := range literalsOf(t.Root) {
				if literal == text {
					return true
				}
			}
		}
	}
	return false
}

var digit = regexp.MustCompile(`\d+`)

// failure is the error of a function without the text of its arguments.
func failure(name string, err error) error {
	var inner *Error
	var refused *refusal
	var failed *callError
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
	return &callError{name: name, reason: reason}
}

// crash is the error of a function that panicked.
func crash(name string, recovered any) error {
	err, isError := recovered.(error)
	if !isError {
		return failure(name, errors.New("panic"))
	}
	var wrongType *runtime.TypeAssertionError
	if errors.As(err, &wrongType) {
		// It names types only.
		return &callError{name: name, reason: wrongType.Error()}
	}
	var fault runtime.Error
	if errors.As(err, &fault) {
		return &callError{name: name, reason: digit.ReplaceAllString(fault.Error(), "[...]")}
	}
	return failure(name, err)
}
