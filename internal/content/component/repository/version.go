package repository

import (
	"context"
	"errors"
	"fmt"
	"io"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
)

// NotFoundError says that no repository has a component version.
type NotFoundError struct {
	Name, Version string
	// In is where it was looked for.
	In string
}

// Error implements error.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("component version %q not found in %s", e.Name+":"+e.Version, e.In)
}

// Is makes the error one of oci.ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == oci.ErrNotFound }

// Repository finds component versions.
type Repository interface {
	// Lookup returns a component version, or a NotFoundError.
	Lookup(ctx context.Context, name, version string) (*Version, error)
}

// Version is a component version that was found.
type Version struct {
	*descriptor.Descriptor
	// Context is the repository in which the version was found.
	Context descriptor.Typed
	// Blobs are the contents that are stored with the version; nil if it has none.
	Blobs Blobs
	// Warnings say what was tolerated.
	Warnings []string
}

// Blobs are contents that are stored with a component version.
type Blobs interface {
	// Open opens a content. The media type is what the access says; what comes back
	// is what the content has.
	Open(ctx context.Context, reference, mediaType string) (*Blob, error)
	// Relative returns the store and repository for references relative to the
	// repository of components.
	Relative() (store oci.Store, prefix string, err error)
}

// Blob is a content.
type Blob struct {
	io.ReadCloser
	MediaType string
	// Digest is that of the manifest where the content is an artifact set.
	Digest string
	// Size is the number of bytes; zero if it is not known before they are read.
	Size int64
}

// check compares a descriptor with what was asked for.
func check(d *descriptor.Descriptor, name, version string) (warning string, err error) {
	if d.Name != name {
		return "", fmt.Errorf("invalid component name: asked for %s:%s, the descriptor is of %s", name, version, d.Name)
	}
	if d.Version == version {
		return "", nil
	}
	if tag, err := Tag(d.Version); err == nil && tag == version {
		return fmt.Sprintf("component %s was asked for in version %s, which is the tag of version %s: use the version", name, version, d.Version), nil
	}
	return "", fmt.Errorf("invalid component version: asked for %s:%s, the descriptor is of version %s", name, version, d.Version)
}

// isNotFound reports whether a version may be somewhere else.
func isNotFound(err error) bool { return errors.Is(err, oci.ErrNotFound) }

// chain asks repositories in order.
type chain []Repository

// Chain returns a repository that asks others in order until one has the version.
// Errors other than "not found" end the search.
func Chain(repositories ...Repository) Repository { return chain(repositories) }

// Lookup implements Repository.
func (c chain) Lookup(ctx context.Context, name, version string) (*Version, error) {
	var missing []error
	for _, repository := range c {
		found, err := repository.Lookup(ctx, name, version)
		if err == nil {
			return found, nil
		}
		if !isNotFound(err) {
			return nil, err
		}
		missing = append(missing, err)
	}
	if len(missing) == 0 {
		return nil, &NotFoundError{Name: name, Version: version, In: "any repository: none is configured"}
	}
	return nil, errors.Join(missing...)
}
