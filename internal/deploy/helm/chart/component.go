package chart

import (
	"context"
	"fmt"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/resourcekey"
	"go.landscaper.dev/internal/deploy/itemcontext"
)

// resourceKey reads a chart that is a resource of a component, named by a key.
func (l *Loader) resourceKey(ctx context.Context, item *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*packed, error) {
	key, err := resourcekey.Parse(source.ResourceRef)
	if err != nil {
		return nil, err // says what is wrong
	}
	reference := component.Reference{Name: key.Component.Name, Version: key.Component.Version}
	return l.resource(ctx, item, key.Resource, func(ctx context.Context, session *component.Session) (*repository.Version, error) {
		return session.Resolve(ctx, reference)
	})
}

// fromResource reads a chart that is a resource of a component, which the item names
// or brings along.
func (l *Loader) fromResource(ctx context.Context, item *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*packed, error) {
	wanted := source.FromResource
	switch {
	case wanted.ResourceName == "":
		return nil, deployer.ConfigurationError("chart.fromResource.resourceName", "must be set")
	case (wanted.Inline == nil) == (wanted.Reference == nil):
		return nil, deployer.ConfigurationError("chart.fromResource", "set either ref or inline")
	case wanted.Reference != nil && (wanted.Reference.ComponentName == "" || wanted.Reference.Version == ""):
		return nil, deployer.ConfigurationError("chart.fromResource.ref", "componentName and version must be set")
	}
	return l.resource(ctx, item, descriptor.Named(wanted.ResourceName), func(ctx context.Context, session *component.Session) (*repository.Version, error) {
		if wanted.Inline != nil {
			version, _, err := session.OpenInline(ctx, wanted.Inline.RawMessage)
			return version, err // says what was done
		}
		return session.Resolve(ctx, component.Reference{
			Context: component.Context(wanted.Reference.RepositoryContext), Name: wanted.Reference.ComponentName, Version: wanted.Reference.Version,
		})
	})
}

// resource reads a chart that is a resource of the component version that open finds.
func (l *Loader) resource(ctx context.Context, item *v1alpha1.DeployItem, identity descriptor.Identity,
	open func(context.Context, *component.Session) (*repository.Version, error),
) (*packed, error) {
	from, err := l.repositorySources(ctx, item)
	if err != nil {
		return nil, err
	}
	session, trust, err := l.open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // nothing is written
	known, err := itemcontext.FoundFor(item)
	if err != nil {
		return nil, err // names the item
	}
	version, err := open(ctx, session)
	if err != nil {
		return nil, itemcontext.WithoutRepository(err, from.Context.Name) // says what was done
	}
	resource, err := version.Resource(identity)
	if err != nil {
		return nil, err // says what is missing
	}
	data, mediaType, err := known.Read(ctx, session.Reader(), version, resource, maxPacked)
	if err != nil {
		return nil, err // names the resource
	}
	found, err := unset(ctx, data, mediaType, trust)
	if err == nil && trust != nil && len(found.provenance) == 0 {
		found.provenance, err = unsigned(session.Reader().ChartProvenance(ctx, resource.Access, maxProvenance))
	}
	if err != nil {
		return nil, fmt.Errorf("resource %q of component version %s:%s: %w", resource.Name, version.Name, version.Version, err)
	}
	found.origin = fmt.Sprintf("resource %s of component version %s:%s", resource.Name, version.Name, version.Version)
	found.warnings = from.Warnings
	return found, nil
}
