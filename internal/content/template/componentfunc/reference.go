package componentfunc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/uri"
)

// origin is where a reference starts.
type origin struct {
	version *repository.Version
	// context is where component references are looked up.
	context descriptor.Typed
	// finder follows them, with the overwrites of the session.
	finder uri.Finder
}

// refer finds the resource that an argument refers to.
type refer func(ctx context.Context, from origin) (*repository.Version, *descriptor.Resource, error)

// readReference reads an argument.
type readReference func(arg any) (refer, error)

// maxReference is the size of the largest relative reference that is read.
const maxReference = 64 << 10

// textReference reads a cd:// URI, or a relative reference as YAML or JSON.
func textReference(arg any) (refer, error) {
	text, ok := arg.(string)
	if !ok {
		return nil, fmt.Errorf("unable to assert the first argument as string: it is %s", kind(arg))
	}
	if isURI(text) {
		return uriReference(text)
	}
	if len(text) > maxReference {
		return nil, fmt.Errorf("the reference is longer than %d bytes", maxReference)
	}
	value, err := jsonvalue.FromYAML([]byte(text))
	if err != nil {
		// The parser may repeat the text.
		return nil, errNoRelative
	}
	return mapReference(value)
}

// isURI recognises the one supported scheme. A URI of another scheme may contain a password, so no
// message shows it.
func isURI(text string) bool {
	scheme, _, found := strings.Cut(text, "://")
	return found && strings.EqualFold(scheme, uri.Scheme)
}

func uriReference(text string) (refer, error) {
	parsed, err := uri.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("failed to parse argument into URI: %w", err)
	}
	return func(ctx context.Context, from origin) (*repository.Version, *descriptor.Resource, error) {
		parsed.Context = from.context
		return parsed.Resource(ctx, from.finder, from.version) // shows the URI
	}, nil
}

// anyReference reads also a relative reference that is a map.
func anyReference(arg any) (refer, error) {
	if _, isMap := arg.(map[string]any); isMap {
		return mapReference(arg)
	}
	return textReference(arg)
}

var errNoRelative = errors.New("failed to unmarshal argument into a relative resource reference: expected a cd:// URI, or YAML with the fields resource and referencePath")

// relativeReference names a resource, and the component references that lead to
// its component.
type relativeReference struct {
	Resource      descriptor.Identity
	ReferencePath []descriptor.Identity
}

func mapReference(value any) (refer, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w, but it is %s", errNoRelative, kind(value))
	}
	var relative relativeReference
	var err error
	if relative.Resource, err = identityField("resource", object["resource"]); err != nil {
		return nil, err
	}
	steps, isList := object["referencePath"].([]any)
	if !isList && object["referencePath"] != nil {
		return nil, fmt.Errorf("%w, but referencePath is %s", errNoRelative, kind(object["referencePath"]))
	}
	for i, step := range steps {
		identity, err := identityField(fmt.Sprintf("referencePath[%d]", i), step)
		if err != nil {
			return nil, err
		}
		relative.ReferencePath = append(relative.ReferencePath, identity)
	}
	return relative.find, nil
}

func identityField(field string, value any) (descriptor.Identity, error) {
	object, ok := value.(map[string]any)
	if !ok && value != nil {
		return nil, fmt.Errorf("%w, but %s is %s", errNoRelative, field, kind(value))
	}
	identity := descriptor.Identity{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		attribute := object[key]
		text, ok := attribute.(string)
		if !ok {
			return nil, fmt.Errorf("%w, but an attribute of %s is %s: put it in quotes", errNoRelative, field, kind(attribute))
		}
		identity[key] = text
	}
	return identity, nil
}

func (r relativeReference) find(ctx context.Context, from origin) (*repository.Version, *descriptor.Resource, error) {
	fail := func(err error) (*repository.Version, *descriptor.Resource, error) {
		return nil, nil, fmt.Errorf("unable to resolve relative resource reference: %w", err)
	}
	if r.Resource["name"] == "" {
		return fail(errors.New("at least resource name must be specified for resource reference"))
	}
	version := from.version
	// A name that one element has for itself does not mean others that have more.
	for _, step := range r.ReferencePath {
		reference, err := version.Reference(step)
		if err != nil && step["name"] != "" {
			reference, err = version.ReferenceBy(step)
		}
		if err != nil {
			return fail(err)
		}
		if version, err = from.finder.Referenced(ctx, version, reference, from.context); err != nil {
			return fail(err)
		}
	}
	resource, err := version.Resource(r.Resource)
	if err != nil {
		resource, err = version.ResourceBy(r.Resource)
	}
	if err != nil {
		return fail(err)
	}
	return version, resource, nil
}
