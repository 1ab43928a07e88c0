// Package several is for errors that occurred side by side: all of them count, and a message that a
// person can still read has the first ones.
package several

import (
	"fmt"
	"slices"
	"strings"
)

// maxShown is the number of problems in one message.
const maxShown = 5

// Errors are errors that occurred side by side.
type Errors []error

// OrNil returns the errors as one, or nil without errors.
func (e Errors) OrNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Error implements error. Each text appears once.
func (e Errors) Error() string {
	var texts []string
	for _, err := range e {
		if text := err.Error(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if more := len(texts) - maxShown; more > 0 {
		texts = append(texts[:maxShown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the errors.
func (e Errors) Unwrap() []error { return e }
