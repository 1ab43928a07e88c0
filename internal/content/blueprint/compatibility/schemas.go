package compatibility

import (
	"errors"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint/schema"
	"go.landscaper.dev/internal/content/blueprint/schema/inclusion"
	"go.landscaper.dev/internal/content/component/repository"
)

// open compiles the two schemas of a value. Without the component that one of them refers to, nothing can be
// said.
func (c *comparison) open(f Finding, was, is *v1alpha1.JSONSchemaDefinition) (older, newer *schema.Document, err error) {
	if was == nil || is == nil {
		return nil, nil, nil // the description was checked: a value has a schema
	}
	if older, err = c.older.Schemas.Open(c.ctx, was.RawMessage); err != nil {
		err = fmt.Errorf("older version: %w", err)
	} else if newer, err = c.newer.Schemas.Open(c.ctx, is.RawMessage); err != nil {
		err = fmt.Errorf("newer version: %w", err)
	}
	switch {
	case errors.Is(err, schema.ErrNoComponent):
		f.Severity, f.Message = Unknown, "its schema refers to a component, which is not given"
	case errors.As(err, new(*repository.NotFoundError)):
		f.Severity, f.Message = Unknown, "its schema cannot be read: "+err.Error()
	}
	if f.Severity == Unknown {
		c.add(f)
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return older, newer, nil
}

// importSchema compares the schemas of an import: the newer one must admit what the older one admits.
func (c *comparison) importSchema(was, is declaration) error {
	f := Finding{Subject: Import, Name: is.Name, Users: Giving}
	older, newer, err := c.open(f, was.Schema, is.Schema)
	if err != nil || older == nil {
		return err // says which version
	}
	for _, d := range c.schemas.Differences(older, newer) {
		f.Path, f.Severity, f.Message = d.Path, severityOf(d.Kind), importMessage(d)
		c.add(f)
	}
	return nil
}

// exportSchema compares the schemas of an export: the older one must admit what the newer one admits.
func (c *comparison) exportSchema(was, is *v1alpha1.ExportDefinition) error {
	f := Finding{Subject: Export, Name: is.Name, Users: Giving}
	older, newer, err := c.open(f, was.Schema, is.Schema)
	if err != nil || older == nil {
		return err // says which version
	}
	for _, d := range c.schemas.Differences(newer, older) {
		if d.Kind == inclusion.Undeclared || d.Kind == inclusion.Declared {
			continue // new properties do no harm, and the other direction shows those that are not declared any more
		}
		f.Path, f.Severity, f.Message = d.Path, severityOf(d.Kind), exportMessage(d)
		c.add(f)
	}
	for _, d := range c.schemas.Differences(older, newer) {
		if d.Path == "" || (d.Kind != inclusion.Undeclared && d.Rule != "false") {
			continue
		}
		f.Path, f.Severity, f.Message = d.Path, Warning, "it is not declared any more"
		c.add(f)
	}
	return nil
}

func severityOf(kind inclusion.Kind) Severity {
	switch kind {
	case inclusion.Refused:
		return Breaking
	case inclusion.Undecided:
		return Unknown
	}
	return Warning
}

func importMessage(d inclusion.Difference) string {
	switch {
	case d.Kind == inclusion.Declared:
		return fmt.Sprintf("it is declared now: a value that is not %s had no effect before, and is refused", d.To)
	case d.Kind == inclusion.Undeclared:
		return "it is not declared any more: what is given for it has no effect"
	case d.Kind == inclusion.Undecided:
		return undecided(d.Rule, d.From, d.To)
	case d.Rule == "required":
		return "it is required now"
	case d.Rule == "false":
		return "it is not allowed any more"
	case d.Rule == "additionalProperties":
		return "properties that are not declared are refused now"
	case d.Rule == "enum" && d.Values != "":
		return d.Values + " is not allowed any more"
	}
	return changed(d.Rule, d.From, d.To) + ": values that were allowed are refused"
}

func exportMessage(d inclusion.Difference) string {
	// What is compared first is the newer version here.
	was, is := d.To, d.From
	switch {
	case d.Kind == inclusion.Undecided:
		return undecided(d.Rule, was, is)
	case d.Rule == "required":
		return "it may be missing now"
	case d.Rule == "false":
		return "it may appear now"
	case d.Rule == "additionalProperties":
		return "properties that are not declared may appear now"
	case d.Rule == "enum" && d.Values != "":
		return d.Values + " may appear now"
	}
	return changed(d.Rule, was, is) + ": values may appear that were not possible"
}

func changed(rule, was, is string) string {
	return fmt.Sprintf("%s was %s, and is %s", rule, orNone(was), orNone(is))
}

func undecided(rule, was, is string) string {
	if was == "" && is == "" {
		return rule + " has changed: whether it allows the same values cannot be decided"
	}
	return changed(rule, was, is) + ": whether that allows the same values cannot be decided"
}

func orNone(text string) string {
	if text == "" {
		return "not limited"
	}
	return text
}
