package config

import (
	"fmt"
	"strings"
)

// Problem is a problem of one field.
type Problem struct {
	// Field is a key of the ConfigMap or a path in the provider configuration.
	Field string
	// Message has the problem and the remedy. It holds no value.
	Message string
}

// Invalid has all problems of a configuration. Another attempt fails in the same way until the
// configuration changes.
type Invalid struct {
	// Of is the invalid object: the provider configuration, or a ConfigMap.
	Of       string
	Problems []Problem
}

// OfShoot says whether the configuration is in the Shoot, so that only a change of the Shoot helps.
// A ConfigMap may change at any time, without an operation of Gardener.
func (i *Invalid) OfShoot() bool { return i.Of == providerConfig }

// Error implements error.
func (i *Invalid) Error() string {
	texts := make([]string, len(i.Problems))
	for n, problem := range i.Problems {
		texts[n] = problem.Field + ": " + problem.Message
	}
	return "invalid " + i.Of + ": " + strings.Join(texts, "; ")
}

// problems collects the problems.
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
