package componentfunc

import (
	"context"
	"fmt"
	"strings"

	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/repository"
)

// uriReference reads a URI such as cd://componentReferences/db/resources/chart.
func uriReference(text string) (refer, error) {
	rest, _, _ := strings.Cut(strings.TrimPrefix(text, "cd://"), "#")
	segments := strings.Split(strings.Trim(rest, "/"), "/")
	if len(segments)%2 != 0 {
		return nil, fmt.Errorf("failed to parse argument into URI: %s: even number of path arguments expected", text)
	}
	return func(ctx context.Context, f finder, from *repository.Version) (*repository.Version, *descriptor.Resource, error) {
		for ; len(segments) > 2; segments = segments[2:] {
			reference, err := from.Reference(descriptor.Named(segments[1]))
			if err != nil {
				return nil, nil, fmt.Errorf("%s: component reference %s cannot be found: %w", text, segments[1], err)
			}
			if from, err = f.follow(ctx, from, reference); err != nil {
				return nil, nil, fmt.Errorf("%s: component %s cannot be found: %w", text, segments[1], err)
			}
		}
		resource, err := from.Resource(descriptor.Named(segments[1]))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: local resource %s cannot be found: %w", text, segments[1], err)
		}
		return from, resource, nil
	}, nil
}
