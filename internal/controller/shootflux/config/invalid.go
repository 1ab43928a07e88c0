package config

import (
	"fmt"
	"strings"
)

// Problem is something that is wrong with one field.
type Problem struct {
	// Field is a key of the ConfigMap or a path in the provider configuration.
	Field string
	// Message says what is wrong and what to do. It holds no value.
	Message string
}

// Invalid says everything that is wrong with a configuration. Another attempt ends in
// the same way until somebody changes it.
type Invalid struct {
	// Of is what is wrong: the provider configuration, or a ConfigMap.
	Of       string
	Problems []Problem
}

// OfShoot says whether it is written in the Shoot, so that nothing but a change of the
// Shoot helps. A ConfigMap may change at any time, without a word to Gardener.
func (i *Invalid) OfShoot() bool { return i.Of == providerConfig }

// Error implements error.
func (i *Invalid) Error() string {
	texts := make([]string, len(i.Problems))
	for n, problem := range i.Problems {
		texts[n] = problem.Field + ": " + problem.Message
	}
	return "invalid " + i.Of + ": " + strings.Join(texts, "; ")
}

// problems collects what is wrong.
type problems []Problem

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (p problems) err(of string) error {
	if len(p) == 0 {
		return nil
	}
	return &Invalid{Of: of, Problems: p}
}
