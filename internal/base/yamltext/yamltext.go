// Package yamltext reads and writes YAML of unknown origin: within limits, with
// aliases counted before they become a document, numbers with all their digits,
// keys that are there twice refused, and errors that do not repeat the text.
package yamltext

import (
	"fmt"
)

// Decode returns the value of the first document of a YAML or JSON text: nil,
// bool, string, json.Number, []any or map[string]any. The words that were booleans
// in YAML 1.1 still are; keys are always texts. Its error is an *Error.
func Decode(text []byte, limits Limits) (any, error) {
	if err := limits.Check(text); err != nil {
		return nil, err
	}
	root, err := parse(text)
	if root == nil || err != nil {
		return nil, err
	}
	r := newReader(limits)
	return r.value(root)
}

// ToJSON returns the first document of a YAML or JSON text as JSON. Integers keep
// their digits, and numbers with a fraction are written as Go writes them: 1.0 is 1
// and fits where an integer is expected. Its error is an *Error.
func ToJSON(text []byte, limits Limits) ([]byte, error) {
	value, err := Decode(text, limits)
	if err != nil {
		return nil, err
	}
	return appendJSON(make([]byte, 0, len(text)), value)
}

// Error says what is wrong with a text, and where if that is known.
type Error struct {
	// Line and Column count from 1, 0 is unknown.
	Line, Column int
	// Reason repeats nothing of the text.
	Reason string
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Line > 0 && e.Column > 0:
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
	case e.Line > 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
	}
	return e.Reason
}
