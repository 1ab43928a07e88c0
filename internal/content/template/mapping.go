package template

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/template/mask"
	"go.landscaper.dev/internal/content/template/spiff"
)

// Mapping evaluates a data mapping: a spiff document, or a single expression, over
// bindings. It is pure: there are no files, no state, and of functions only the
// builtin ones and those given, which should be pure as well.
//
// The name says in errors which mapping it is, for example
// "import mapping template shop.region".
func Mapping(ctx context.Context, name string, document v1alpha1.AnyJSON, bindings map[string]any, functions map[string]Function) (any, error) {
	content, err := jsonvalue.FromJSON(document.RawMessage)
	if err != nil {
		return nil, fmt.Errorf("unable to parse %s: it is not JSON", name)
	}
	s := source{document: content}
	template, err := s.spiffDocument()
	if err != nil {
		return nil, fmt.Errorf("unable to parse %s: %w", name, err)
	}
	failures := &failures{text: s.spiffText(), masked: func() *mask.Mask { return mask.Of(bindings) }}
	engine, err := spiff.New(spiff.Config{Access: spiff.AccessNone, Sensitive: true, Limits: spiffLimits(maxDuration), Functions: failures.watched(functions)})
	if err != nil {
		return nil, fmt.Errorf("unable to template %s: %w", name, err)
	}
	result, err := engine.Process(ctx, template, spiff.Input{Bindings: bindings}, spiff.Options{})
	if err != nil {
		err = failures.with(err)
		message := fmt.Sprintf("unable to template %s: %s\ntemplate input:\n%s", name, err, names(bindings))
		return nil, &describedError{message: bounded(message), cause: err}
	}
	return result.Data(), nil
}

// walk calls visit for every text of a document, in the order of its keys.
func walk(value any, path string, visit func(path, text string)) {
	switch value := value.(type) {
	case string:
		visit(path, value)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			walk(value[key], join(path, key), visit)
		}
	case []any:
		for i, element := range value {
			walk(element, join(path, "["+strconv.Itoa(i)+"]"), visit)
		}
	}
}

func join(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}
