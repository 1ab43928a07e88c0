package schema

import (
	"context"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// Document is a schema with everything that belongs to it in one form: that of draft 7 without
// references that lead out of it. It is for those that read the rules of a schema; a Schema checks
// values.
type Document struct {
	linked  *link.Linked
	library *jsonschema.Compiler
	root    *Schema
}

// RootPointer is where the schema is in its document.
const RootPointer = "#/definitions/0"

// Open reads a schema, which is JSON or YAML, and compiles it.
func (c *Compiler) Open(ctx context.Context, definition []byte) (*Document, error) {
	document, err := c.open(ctx, definition)
	if err != nil {
		return nil, fmt.Errorf("error compiling jsonschema: %w", err)
	}
	return document, nil
}

func (c *Compiler) open(ctx context.Context, definition []byte) (*Document, error) {
	linked, err := link.Link(ctx, link.Sources(*c), definition)
	if err != nil {
		return nil, err // names the place
	}
	library := jsonschema.NewCompiler()
	library.DefaultDraft(jsonschema.Draft7)
	library.UseLoader(nothing{})
	library.UseRegexpEngine(linked.Patterns.Engine)
	library.RegisterVocabulary(names())
	for name, matches := range link.Formats {
		library.RegisterFormat(format(name, matches))
	}
	if err := library.AddResource(location, linked.Document); err != nil {
		return nil, fmt.Errorf("add the schema: %w", err)
	}
	document := &Document{linked: linked, library: library}
	document.root, err = document.Part(RootPointer)
	if err != nil {
		return nil, err
	}
	return document, nil
}

// Definitions are the schemas that belong together, by the name in references such as
// #/definitions/0. They must not be changed.
func (d *Document) Definitions() map[string]any {
	all, _ := d.linked.Document["definitions"].(map[string]any)
	return all
}

// Matches reports whether a regular expression of the schema matches a name, as when values are checked.
func (d *Document) Matches(expression, name string) bool {
	compiled, err := d.linked.Patterns.Engine(expression)
	return err == nil && compiled.MatchString(name)
}

// Part returns the schema at a pointer such as #/definitions/0/properties/name.
func (d *Document) Part(pointer string) (*Schema, error) {
	compiled, err := d.library.Compile(location + pointer)
	if err != nil {
		return nil, explain(err, d.linked)
	}
	if err := finite(compiled, d.linked); err != nil {
		return nil, err
	}
	return &Schema{compiled: compiled}, nil
}
