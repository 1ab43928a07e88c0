package schema

import (
	"errors"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/message"

	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// names is the vocabulary that checks the names of properties. The library's own
// keyword may report the path of another property.
func names() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "mem:///vocabulary",
		Compile: func(ctx *jsonschema.CompilerContext, object map[string]any) (jsonschema.SchemaExt, error) {
			reference, ok := object[link.NamesKeyword].(string)
			if !ok {
				return nil, nil // the library asks for it
			}
			compiled, err := ctx.EnqueueRef(reference)
			if err != nil {
				return nil, err // an error of the library goes back to it
			}
			return &nameRule{compiled}, nil
		},
	}
}

// nameRule is a schema for the names of properties.
type nameRule struct{ schema *jsonschema.Schema }

// Validate implements jsonschema.SchemaExt.
func (r *nameRule) Validate(ctx *jsonschema.ValidatorContext, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		var details *jsonschema.ValidationError
		if errors.As(r.schema.Validate(name), &details) {
			ctx.AddErrors(details.Causes, &badName{name})
		}
	}
}

// badName is a name that violates the schema for names.
type badName struct{ name string }

// KeywordPath implements jsonschema.ErrorKind.
func (*badName) KeywordPath() []string { return []string{"propertyNames"} }

// LocalizedString implements jsonschema.ErrorKind.
func (*badName) LocalizedString(*message.Printer) string { return "the name is not allowed" }
