package component

import (
	"context"
	"fmt"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
)

// TagSource is a repository of a registry with the versions of one component.
type TagSource struct {
	// Where names it in messages.
	Where string
	// Key is the same for all who reach the same repository with the same credentials. It must not be
	// stored or shown: short passwords could be guessed from it.
	Key string
	// Context is its repository context.
	Context descriptor.Typed

	session   *Session
	spec      repository.Spec
	component string
}

// TagSources returns where the versions of a component are looked for: in the default repository first,
// and then in those of the configuration. Overwrites do not count.
func (s *Session) TagSources(component string) ([]*TagSource, error) {
	if err := descriptor.CheckName(component); err != nil {
		return nil, err
	}
	contexts := s.options.Config.Repositories(component)
	if fallback := s.options.Default; !fallback.IsZero() && fallback.Kind() != repository.KindEmpty {
		contexts = append([]descriptor.Typed{fallback}, contexts...)
	}
	if len(contexts) == 0 {
		return nil, fmt.Errorf("list the versions of component %s: %w", component, ErrNoRepository)
	}
	var sources []*TagSource
	for _, context := range contexts {
		spec, err := repository.ParseSpec(context)
		if err != nil {
			return nil, fmt.Errorf("list the versions of component %s: %w", component, err)
		}
		if spec.Kind != repository.KindOCI {
			return nil, fmt.Errorf("list the versions of component %s: %s is no registry: only the versions in registries can be listed", component, spec)
		}
		at := s.client.Registry(spec.Scheme, spec.Host)
		login := s.options.Registry.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Scheme: at.Scheme(), Host: spec.Host, Path: spec.Repository(component)})
		sources = append(sources, &TagSource{
			Where: spec.String(), Key: at.Name() + "/" + spec.Repository(component) + " " + login.Fingerprint(), Context: context,
			session: s, spec: spec, component: component,
		})
	}
	return sources, nil
}

// List lists the tags, unless the list still has the validator; see registry.TagsSince.
func (t *TagSource) List(ctx context.Context, validator string, limit int) (list registry.TagList, changed bool, err error) {
	return t.session.client.Registry(t.spec.Scheme, t.spec.Host).TagsSince(ctx, t.spec.Repository(t.component), validator, limit)
}

// Digest returns what the tag of a version leads to. A component version that the session finds afterwards
// is that one.
func (t *TagSource) Digest(ctx context.Context, version string) (digest.Digest, error) {
	tag, err := repository.Tag(version)
	if err != nil {
		return "", fmt.Errorf("version %s of component %s: %w", version, t.component, err)
	}
	found, err := t.session.store(t.spec.Scheme, t.spec.Host).Resolve(ctx, t.spec.Repository(t.component), tag)
	return found.Digest, err // names the tag
}
