// Package schema checks values against the JSON schemas of blueprints.
//
// A schema may refer to others: to types of the blueprint, to its files, and to
// resources of components. Everything that belongs to a schema is brought
// together first, so the library that checks values never sees a foreign
// reference.
package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// Compiler compiles schemas that refer to the given sources.
type Compiler link.Sources

// Schema is a compiled schema. It may be used by several goroutines at once.
type Schema struct{ compiled *jsonschema.Schema }

// location is where the one document is; its definitions hold all schemas.
const location = "mem:///schema"

// Compile compiles a schema, which is JSON or YAML.
func (c *Compiler) Compile(ctx context.Context, definition []byte) (*Schema, error) {
	document, err := c.Open(ctx, definition)
	if err != nil {
		return nil, err // says that it compiles
	}
	return document.root, nil
}

var errFormat = errors.New("another format")

func format(name string, matches func(string) bool) *jsonschema.Format {
	return &jsonschema.Format{Name: link.FormatPrefix + name, Validate: func(value any) error {
		if text, ok := value.(string); ok && !matches(text) {
			return errFormat
		}
		return nil
	}}
}

// nothing is a loader that loads nothing: all references were resolved before.
type nothing struct{}

// Load implements jsonschema.URLLoader.
func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not loaded", url)
}

// explain turns an error about the one document into one about the document that
// the user wrote.
func explain(err error, linked *link.Linked) error {
	var invalid *jsonschema.SchemaValidationError
	var details *jsonschema.ValidationError
	if !errors.As(err, &invalid) || !errors.As(invalid.Err, &details) {
		return err
	}
	return &InvalidError{Violations: violations(details, linked.Document, linked.Original)}
}

// maxLevels is how deep a value may be nested.
const maxLevels = 1000

// Validate checks a plain value. If it violates the schema, the error is an
// InvalidError.
func (s *Schema) Validate(value any) error {
	err := link.Bounded(value, maxLevels)
	var limit *link.LimitError
	if errors.As(err, &limit) {
		return &InvalidError{Violations: []Violation{{Path: link.Path(limit.Names), Rule: "limit", Message: limit.Problem}}}
	}
	if err != nil {
		return err // says what is wrong
	}
	work := work{}
	if !work.evaluate(s.compiled, value) {
		return fmt.Errorf("the value is too large for its schema: more than %d comparisons would be needed; recursive schemas with several branches need fewer if each branch can be told by the type of the value", maxWork)
	}
	if err = s.compiled.Validate(value); err == nil {
		return nil
	}
	var details *jsonschema.ValidationError
	if !errors.As(err, &details) {
		return fmt.Errorf("check the value: %w", err)
	}
	return &InvalidError{Violations: violations(details, value, link.Path)}
}

// Admits reports whether Validate has no error, and how many comparisons that took, for callers that check many
// values and need no reason.
func (s *Schema) Admits(value any) (admitted bool, comparisons int) {
	work := work{}
	if link.Bounded(value, maxLevels) != nil || !work.evaluate(s.compiled, value) {
		return false, work.done
	}
	return s.compiled.Validate(value) == nil, work.done
}

// ErrNoComponent is behind errors about schemas that refer to a component of an Installation
// without one.
var ErrNoComponent = link.ErrNoComponent
