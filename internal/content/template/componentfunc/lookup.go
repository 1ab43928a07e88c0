package componentfunc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

var errNoSession = errors.New("other component versions cannot be looked up here: no repositories are configured")

// target returns the descriptor that a function works with, and the selector: the descriptor may be
// given as the first argument, else it is that of the Installation. What names the kind of element
// that is searched for.
func (c *Component) target(args []any, what string) (*view, descriptor.Identity, error) {
	object, position := c.own, 1
	if len(args) > 0 {
		switch first := args[0].(type) {
		case nil:
			object, args, position = nil, args[1:], 2
		case map[string]any:
			object, args, position = first, args[1:], 2
		}
	}
	if object == nil {
		return nil, nil, fmt.Errorf("Unable to search for a %s as no ComponentDescriptor is defined.", what) //nolint:revive,staticcheck // a text that is known
	}
	identity, err := selector(args, position)
	if err != nil {
		return nil, nil, err
	}
	found, err := newView(object)
	return found, identity, err
}

// getResource returns the first resource with the given identity.
func (c *Component) getResource(_ context.Context, args []any) (any, error) {
	found, err := c.resources(args)
	if err != nil {
		return nil, err
	}
	return copied(found[0])
}

// getResources returns all resources with the given identity.
func (c *Component) getResources(_ context.Context, args []any) (any, error) {
	found, err := c.resources(args)
	if err != nil {
		return nil, err
	}
	all := make([]any, len(found))
	for i, resource := range found {
		if all[i], err = copied(resource); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *Component) resources(args []any) ([]map[string]any, error) {
	in, identity, err := c.target(args, "resource")
	if err != nil {
		return nil, err
	}
	return in.matching(in.at.resources, identity)
}

// getComponent returns the descriptor behind the first component reference with
// the given identity. It has the schema of the annotation of the blueprint; v2
// without one, whatever the schema of the descriptor is: that is what blueprints
// without the annotation expect.
func (c *Component) getComponent(ctx context.Context, args []any) (any, error) {
	in, identity, err := c.target(args, "component")
	if err != nil {
		return nil, err
	}
	found, err := in.matching(in.at.references, identity)
	if err != nil {
		return nil, err
	}
	var reference descriptor.Reference
	if err := decode(found[0], &reference); err != nil {
		return nil, fmt.Errorf("invalid component descriptor: component reference %s: %w", identity, err)
	}
	version, err := c.referenced(ctx, in, &reference)
	if err != nil {
		return nil, fmt.Errorf("unable to resolve component %s:%s: %w", reference.Name, reference.Version, err)
	}
	schema := c.options.Schema
	if schema == "" {
		schema = descriptor.SchemaV2
	}
	object, err := encode(version.Descriptor, schema)
	if err != nil {
		return nil, err
	}
	return object, nil
}

// referenced finds the component version behind a reference of a descriptor.
func (c *Component) referenced(ctx context.Context, in *view, reference *descriptor.Reference) (*repository.Version, error) {
	if c.options.Session == nil {
		return nil, errNoSession
	}
	from := &repository.Version{Descriptor: &descriptor.Descriptor{Name: in.text(in.at.name), Version: in.text(in.at.version)}}
	last, err := in.lastContext()
	if err != nil {
		return nil, err
	}
	if last != nil {
		if from.Context, err = descriptor.NewTyped(last); err != nil {
			return nil, err // says what it did
		}
		from.RepositoryContexts = []descriptor.Typed{from.Context}
	}
	context := c.context()
	if context.IsZero() {
		context = from.Context
	}
	return c.options.Session.Referenced(ctx, from, reference, context) // names the component
}

// context returns where references are looked up.
func (c *Component) context() descriptor.Typed {
	if c.options.Context.IsZero() && c.options.Version != nil {
		return c.options.Version.Context
	}
	return c.options.Context
}

// getRepositoryContext returns the last repository context of a descriptor.
func (c *Component) getRepositoryContext(_ context.Context, args []any) (any, error) {
	if len(args) > 1 {
		return nil, fmt.Errorf("this function requires 1 argument, but %d were provided", len(args))
	}
	if len(args) == 0 || args[0] == nil {
		return nil, errors.New("Unable to get effective component descriptor as no ComponentDescriptor is defined.") //nolint:revive,staticcheck // a text that is known
	}
	object, ok := args[0].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("invalid component descriptor: argument 1 is %s, expected a map", kind(args[0]))
	}
	in, err := newView(object)
	if err != nil {
		return nil, fmt.Errorf("invalid component descriptor: %w", err)
	}
	last, err := in.lastContext()
	switch {
	case err != nil:
		return nil, err
	case last != nil:
		return copied(last)
	case c.isOwn(in) && !c.options.Version.Context.IsZero():
		// Newer tools leave the contexts out.
		return copied(c.options.Version.Context)
	}
	return nil, fmt.Errorf("invalid component descriptor: that of %s has no repository context", in.title())
}

// copied returns a copy of a part of an argument. It goes through JSON, which ends
// with an error where a template has put a map into itself.
func copied(value any) (any, error) {
	result, err := jsonvalue.FromObject(value)
	if err != nil {
		return nil, fmt.Errorf("invalid component descriptor: %w", err)
	}
	return result, nil
}

func (c *Component) isOwn(in *view) bool {
	own := c.options.Version
	return own != nil && own.Name == in.text(in.at.name) && own.Version == in.text(in.at.version)
}

// decode reads a plain value into a structure.
func decode(value, into any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode as JSON: %w", err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	return nil
}
