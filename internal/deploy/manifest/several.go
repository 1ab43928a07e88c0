package manifest

import (
	"fmt"
	"slices"
	"strings"
)

// maxShown is the number of problems that one message tells.
const maxShown = 5

// several are errors that occurred side by side.
type several []error

func (s several) orNil() error {
	if len(s) == 0 {
		return nil
	}
	return s
}

// Error implements error. Each text appears once.
func (s several) Error() string {
	var texts []string
	for _, err := range s {
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
func (s several) Unwrap() []error { return s }
