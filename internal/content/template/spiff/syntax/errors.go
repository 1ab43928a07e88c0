package syntax

import (
	"fmt"
	"unicode/utf8"
)

// Error is a parse error. Symbol counts characters from 1, in the line Line if
// the source has several lines.
type Error struct {
	Line, Symbol int
	MultiLine    bool
	Message      string
}

// Error implements error.
func (e *Error) Error() string {
	if e.MultiLine {
		return fmt.Sprintf("parse error near line %d symbol %d: %s", e.Line, e.Symbol, e.Message)
	}
	return fmt.Sprintf("parse error near symbol %d: %s", e.Symbol, e.Message)
}

// newError locates byte offset pos in src.
func newError(src string, pos int, message string) *Error {
	e := &Error{Line: 1, Message: message}
	start := 0
	for i := 0; i < len(src); i++ {
		if src[i] != '\n' {
			continue
		}
		e.MultiLine = true
		if i < pos {
			e.Line++
			start = i + 1
		}
	}
	if pos > len(src) {
		pos = len(src)
	}
	e.Symbol = utf8.RuneCountInString(src[start:pos]) + 1
	return e
}

// found describes what stands at pos, for messages.
func found(src string, pos int) string {
	if pos >= len(src) {
		return "end of expression"
	}
	r, _ := utf8.DecodeRuneInString(src[pos:])
	return fmt.Sprintf("%q", string(r))
}
