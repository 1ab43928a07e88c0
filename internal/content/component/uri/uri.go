// Package uri reads cd:// URIs, which lead from a component version along its
// references to another component version or to one of its resources.
package uri

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

const (
	// Scheme is the scheme of these URIs.
	Scheme = "cd"
	// MaxLength is how many bytes a URI may have.
	MaxLength = 2083
)

const (
	referencesKeyword = "componentReferences"
	resourcesKeyword  = "resources"
)

// Finder finds the component version behind a reference of another one.
type Finder interface {
	Referenced(ctx context.Context, from *repository.Version, reference *descriptor.Reference, context descriptor.Typed) (*repository.Version, error)
}

// URI is a path that starts at a component version.
type URI struct {
	// Context is the repository context in which references are looked up. Without
	// it, it is the one in which the starting component version was found.
	Context descriptor.Typed
	// Fragment is what is behind the #, as it was written.
	Fragment string

	text       string
	references []string
	// resource is "" if the URI leads to a component version.
	resource string
}

// Parse reads a URI such as cd://componentReferences/db/resources/schema#/a.
func Parse(text string) (*URI, error) {
	if len(text) > MaxLength {
		return nil, fmt.Errorf("too long uri, got %d but expected max %d", len(text), MaxLength)
	}
	u := &URI{text: text}
	if err := u.parse(text); err != nil {
		return nil, fmt.Errorf("the URI %q: %w", text, err)
	}
	return u, nil
}

func (u *URI) parse(text string) error {
	text, u.Fragment, _ = strings.Cut(text, "#")
	scheme, path, found := strings.Cut(text, "://")
	if !found {
		return fmt.Errorf("it must have the form %s://%s/<name>/%s/<name>", Scheme, referencesKeyword, resourcesKeyword)
	}
	if !strings.EqualFold(scheme, Scheme) {
		return fmt.Errorf("scheme must be %s but given %s", Scheme, scheme)
	}
	segments := strings.Split(path, "/")
	if len(segments)%2 != 0 {
		return fmt.Errorf("even number of path arguments expected: each of %s and %s is followed by one name", referencesKeyword, resourcesKeyword)
	}
	for ; len(segments) > 0; segments = segments[2:] {
		if err := u.step(segments[0], segments[1], len(segments) == 2); err != nil {
			return err
		}
	}
	return nil
}

// step reads one pair of keyword and name.
func (u *URI) step(keyword, escaped string, last bool) error {
	name, err := url.PathUnescape(escaped)
	if err != nil {
		return fmt.Errorf("the name behind %s: %w", keyword, err)
	}
	switch keyword {
	// The singular is in documents that users follow.
	case referencesKeyword, "componentReference":
		u.references = append(u.references, name)
	case resourcesKeyword, "resource":
		if !last {
			return fmt.Errorf("the selector seems to contain more path segments after a resource: %s must be the last keyword", keyword)
		}
		u.resource = name
	default:
		return fmt.Errorf("unknown keyword %s: %s and %s are known", keyword, referencesKeyword, resourcesKeyword)
	}
	if name == "" {
		return fmt.Errorf("a name is missing behind %s", keyword)
	}
	return nil
}

// String returns the URI as it was written.
func (u *URI) String() string { return u.text }

// Component follows the URI to a component version.
func (u *URI) Component(ctx context.Context, f Finder, from *repository.Version) (*repository.Version, error) {
	if u.resource != "" {
		return nil, fmt.Errorf("%q seems to target resource %s but a component is requested: leave out /%s/%s", u.text, u.resource, resourcesKeyword, u.resource)
	}
	version, err := u.follow(ctx, f, from)
	if err != nil {
		return nil, fmt.Errorf("unable to find component %q: %w", u.text, err)
	}
	return version, nil
}

// Resource follows the URI to a resource and the component version that has it.
func (u *URI) Resource(ctx context.Context, f Finder, from *repository.Version) (*repository.Version, *descriptor.Resource, error) {
	if u.resource == "" {
		return nil, nil, fmt.Errorf("%q seems to target a component %s but a resource is requested: add /%s/<name>", u.text, u.references[len(u.references)-1], resourcesKeyword)
	}
	version, err := u.follow(ctx, f, from)
	if err != nil {
		return nil, nil, fmt.Errorf("unable to find resource %q: %w", u.text, err)
	}
	resource, err := version.Resource(descriptor.Named(u.resource))
	if err != nil {
		return nil, nil, fmt.Errorf("unable to find resource %q: local resource %s cannot be found: %w", u.text, u.resource, err)
	}
	return version, resource, nil
}

func (u *URI) follow(ctx context.Context, f Finder, from *repository.Version) (*repository.Version, error) {
	if from == nil {
		return nil, errors.New("there is no component version to start at: set spec.componentDescriptor of the Installation")
	}
	in := u.Context
	if in.IsZero() {
		in = from.Context
	}
	for _, name := range u.references {
		reference, err := from.Reference(descriptor.Named(name))
		if err != nil {
			return nil, fmt.Errorf("component reference %s cannot be found: %w", name, err)
		}
		if f == nil {
			return nil, fmt.Errorf("component %s cannot be found: nothing can look up references here", name)
		}
		found, err := f.Referenced(ctx, from, reference, in)
		if err != nil {
			return nil, fmt.Errorf("component %s cannot be found: %w", name, err)
		}
		from = found
	}
	return from, nil
}
