package plan

import (
	"context"
	"errors"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
)

// OpenComponent finds the component version that an Installation refers to, or
// takes the descriptor in it.
func OpenComponent(ctx context.Context, session *component.Session, definition *v1alpha1.ComponentDescriptorDefinition) (*Component, error) {
	if definition.Inline != nil {
		return openInline(ctx, session, definition.Inline)
	}
	if definition.Reference == nil {
		return nil, errors.New("neither ref nor inline is given")
	}
	effective := session.Effective(component.Reference{
		Context: component.Context(definition.Reference.RepositoryContext), Name: definition.Reference.ComponentName, Version: definition.Reference.Version,
	})
	version, err := session.ResolveEffective(ctx, effective)
	if err != nil {
		return nil, err // names the component version
	}
	opened := &Component{Session: session, Version: version, Context: effective.Context, Reference: definition.Reference.DeepCopy(), reader: session.Reader()}
	opened.Reference.ComponentName, opened.Reference.Version = effective.Name, effective.Version
	opened.Reference.RepositoryContext = object(effective.Context)
	return opened, nil
}

func openInline(ctx context.Context, session *component.Session, inline *v1alpha1.AnyJSON) (*Component, error) {
	version, reference, err := session.OpenInline(ctx, inline.RawMessage)
	if err != nil {
		return nil, err // names the component version
	}
	return &Component{Session: session, Version: version, Context: session.Effective(reference).Context, reader: session.Reader()}, nil
}

func object(context descriptor.Typed) *v1alpha1.UnstructuredTypedObject {
	if context.IsZero() {
		return nil
	}
	typed := &v1alpha1.UnstructuredTypedObject{}
	typed.Raw = []byte(context)
	return typed
}

// OpenBlueprint loads a blueprint that is written into an Installation, or is a
// resource of its component version.
func OpenBlueprint(ctx context.Context, cache *blueprint.Cache, from *Component, definition *v1alpha1.BlueprintDefinition) (*blueprint.Blueprint, error) {
	switch {
	case definition.Inline != nil:
		files, err := blueprint.Inline(definition.Inline.Filesystem)
		if err != nil {
			return nil, fmt.Errorf("inline.filesystem: %w", err)
		}
		loaded, err := blueprint.Load(files)
		if err != nil {
			return nil, fmt.Errorf("inline.filesystem: %w", err)
		}
		return loaded, nil
	case definition.Reference == nil:
		return nil, errors.New("no remote reference nor a inline blueprint is defined: give ref or inline")
	case from == nil:
		return nil, errors.New("ref: no component descriptor reference defined: set spec.componentDescriptor")
	}
	name := definition.Reference.ResourceName
	resource, err := from.Version.Resource(descriptor.Named(name))
	if err != nil {
		return nil, fmt.Errorf("ref: %w", err)
	}
	loaded, err := cache.FromResource(ctx, from.reader, from.Version, resource)
	if err != nil {
		return nil, fmt.Errorf("ref: resource %s of component version %s:%s: %w", name, from.Version.Name, from.Version.Version, err)
	}
	return loaded, nil
}
