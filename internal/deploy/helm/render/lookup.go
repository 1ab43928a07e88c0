package render

import (
	"context"
	"errors"
	"fmt"

	"go.landscaper.dev/internal/content/template/gotemplate"
)

// maxLookups is how often one rendering may ask the cluster.
const maxLookups = 100

// lookupError says that the cluster could not be asked.
type lookupError struct{ cause error }

// Error implements error.
func (e *lookupError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *lookupError) Unwrap() error { return e.cause }

// lookup is the function of templates.
func lookup(find Lookup) gotemplate.Function {
	asked := 0
	return func(ctx context.Context, args []any) (any, error) {
		var texts [4]string
		if len(args) != len(texts) {
			return nil, errors.New("lookup needs apiVersion, kind, namespace and name")
		}
		for i, arg := range args {
			text, isText := arg.(string)
			if !isText {
				return nil, errors.New("lookup needs four texts: apiVersion, kind, namespace and name")
			}
			texts[i] = text
		}
		if asked++; asked > maxLookups {
			return nil, fmt.Errorf("the chart looks up objects more than %d times", maxLookups)
		}
		found, err := find(ctx, texts[0], texts[1], texts[2], texts[3])
		if err != nil {
			return nil, &lookupError{cause: err}
		}
		return found, nil
	}
}
