package gotemplate

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
)

var position = regexp.MustCompile(`^(\d+)(?::(\d+))?:`)

// explain turns an error of text/template into an Error.
func (r *renderer) explain(err error, p *program) *Error {
	var inner *Error
	if errors.As(err, &inner) {
		return inner
	}
	e := &Error{Source: p.Source, Computed: p.computed, Message: err.Error()}
	var refused *failure.Refusal
	if errors.As(err, &refused) {
		e.Cause = refused.Cause
	}
	var failed *failure.CallError
	if errors.As(err, &failed) {
		e.Cause = failed.Cause
	}
	var executed template.ExecError
	if errors.As(err, &executed) {
		e.Message = executed.Err.Error()
	}
	r.relocate(e)
	locate(e)
	if cause := errors.Unwrap(executed.Err); cause != nil {
		e.Message = withCause(e, cause)
	} else {
		e.Message = inWords(e.Message)
	}
	if p.computed && !r.known(p.Text) {
		// The text was computed, and so was its error.
		e.Source.Text = ""
		e.Message = fmt.Sprintf("template: %s:%d: the text is not a valid template or fails", p.Name, e.Line)
		if refused != nil {
			e.Message = fmt.Sprintf("template: %s:%d: %s", p.Name, e.Line, refused.Reason)
		}
	}
	return e
}

// goTypes are the places where a message of text/template names a type of Go, and what stands
// there instead: readers know YAML, and the type is often that of anything.
var goTypes = []struct {
	place *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`can't evaluate field (\S+) in type .+$`), "can't evaluate field $1: the value has no fields"},
	{regexp.MustCompile(`nil pointer evaluating (?:interface \{\}|\S+)\.(\S+)`), "can't evaluate field $1: the value does not exist"},
	{regexp.MustCompile(`map\[string\](?:interface \{\}|any)`), "map"},
	{regexp.MustCompile(`\[\](?:interface \{\}|any|string)`), "list"},
	{regexp.MustCompile(`\b(?:interface \{\}|reflect\.Value)`), "value"},
	{regexp.MustCompile(`\bjson\.Number\b`), "number"},
}

// inWords puts the types in a message of text/template into words.
func inWords(message string) string {
	head, said, found := strings.Cut(message, ">: ")
	if !found {
		return message
	}
	for _, t := range goTypes {
		said = t.place.ReplaceAllString(said, t.words)
	}
	return head + ">: " + said
}

// locate finds the position in a message of text/template.
func locate(e *Error) {
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
func withCause(e *Error, cause error) string {
	before := strings.TrimSuffix(e.Message, cause.Error())
	var refused *failure.Refusal
	if errors.As(cause, &refused) {
		return fmt.Sprintf("template: %s:%d:%d: %s", e.Source.Name, e.Line, e.Column, refused.Reason)
	}
	var failed *failure.CallError
	if errors.As(cause, &failed) {
		return before + failed.Reason
	}
	return before + "it failed"
}

// known reports whether a text stands literally in a template or a file.
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
