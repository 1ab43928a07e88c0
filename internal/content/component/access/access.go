// Package access reads the contents of resources, wherever the access of a
// resource says that they are.
package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// MaxDepth bounds how often an access may lead to a resource of another
// component version.
const MaxDepth = 16

// Reader reads contents with the credentials of one tenant.
type Reader struct {
	// Registry returns the registry at a host.
	Registry func(scheme, host string) oci.Store
	// HTTP fetches what is not in a registry; nil refuses it.
	HTTP *http.Client
	// Wget fetches for accesses of type wget; nil allows a GET without a body by HTTP.
	Wget *Wget
	// Tenant identifies the caller, usually by its namespace.
	Tenant string
	// Credentials are for what is not in a registry.
	Credentials *credential.Store
	// Documents caches what addresses deliver to callers with these credentials; nil caches nothing.
	Documents func(ctx context.Context, wanted cache.Wanted, ask cache.Ask) ([]byte, error)
	// Indexes remembers what is in the indexes of chart repositories; nil reads them
	// each time.
	Indexes *Indexes
	// Lookup finds another component version, for accesses of type ocm.
	Lookup func(ctx context.Context, context descriptor.Typed, name, version string) (*repository.Version, error)
	// MaxBytes is the size of the largest content that is delivered; zero allows any. Digests are
	// computed of contents of any size, since nothing of them is kept.
	MaxBytes int64
	// S3Endpoint is the address of a storage that speaks S3; that of Amazon in the
	// region of the access if empty.
	S3Endpoint string
	// Progress, if set, is called while the content of a resource is read, with the bytes so far. The
	// total is zero if it is unknown.
	Progress func(resource string, done, total int64)
}

// UnknownError says that nothing can read an access.
type UnknownError struct{ Type string }

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("access method %q is unknown", e.Type)
}

// ErrNoContent says that an access has no content by its nature.
var ErrNoContent = errors.New("the resource has access none, which means that it has no content")

type method func(r *Reader, ctx context.Context, version *repository.Version, access descriptor.Typed, depth int) (*repository.Blob, error)

func methods() map[string]method {
	return map[string]method{
		"ociartifact": (*Reader).ociArtifact, "ociregistry": (*Reader).ociArtifact, "ociimage": (*Reader).ociArtifact,
		"relativeocireference": (*Reader).relative,
		"localblob":            (*Reader).localBlob,
		"localociblob":         (*Reader).localOCIBlob,
		"localfilesystemblob":  (*Reader).localFile,
		"ociblob":              (*Reader).ociBlob, "ociimagelayer": (*Reader).ociBlob,
		"wget": (*Reader).wget, "web": (*Reader).wget,
		"helm":   (*Reader).helm,
		"github": (*Reader).gitHub,
		"git":    (*Reader).git,
		"s3":     (*Reader).s3,
		"ocm":    (*Reader).other,
		"none": func(*Reader, context.Context, *repository.Version, descriptor.Typed, int) (*repository.Blob, error) {
			return nil, ErrNoContent
		},
	}
}

// Open opens the content behind an access of a component version.
func (r *Reader) Open(ctx context.Context, version *repository.Version, access descriptor.Typed) (*repository.Blob, error) {
	blob, err := r.open(ctx, version, access, 0)
	if err != nil {
		return nil, err
	}
	return r.limited(blob)
}

func (r *Reader) open(ctx context.Context, version *repository.Version, access descriptor.Typed, depth int) (*repository.Blob, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("the access leads from component to component more than %d times", MaxDepth)
	}
	read, known := methods()[strings.ToLower(access.Kind())]
	if !known {
		return nil, &UnknownError{Type: access.Type()}
	}
	return read(r, ctx, version, access, depth)
}

func (r *Reader) ociArtifact(ctx context.Context, version *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		ImageReference string `json:"imageReference"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	reference, err := ParseReference(spec.ImageReference)
	if err != nil {
		return nil, err
	}
	return artifact(ctx, r.store(version, reference), reference)
}

// store returns the registry of a reference. A registry that holds the component
// is reached in the same way for its images.
func (r *Reader) store(version *repository.Version, reference Reference) oci.Store {
	scheme := reference.Scheme
	if version != nil && scheme == "" {
		if spec, err := repository.ParseSpec(version.Context); err == nil && spec.Host == reference.Host {
			scheme = spec.Scheme
		}
	}
	return r.Registry(scheme, reference.Host)
}

func artifact(ctx context.Context, store oci.Store, reference Reference) (*repository.Blob, error) {
	name := reference.Tag
	if reference.Digest != "" {
		name = reference.Digest.String()
	}
	at, err := store.Resolve(ctx, reference.Repository, name)
	if err != nil {
		return nil, err // the store says what it did
	}
	return repository.ArtifactSet(ctx, store, reference.Repository, at, reference.Tag), nil
}

func (r *Reader) relative(ctx context.Context, version *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		Reference string `json:"reference"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	if version.Blobs == nil {
		return nil, noBlobs(version, access)
	}
	store, prefix, err := version.Blobs.Relative()
	if err != nil {
		return nil, err // says what is missing
	}
	if prefix != "" {
		prefix += "/"
	}
	reference, err := ParseReference("relative.invalid/" + prefix + strings.TrimPrefix(spec.Reference, "/"))
	if err != nil {
		return nil, err
	}
	return artifact(ctx, store, reference)
}

func noBlobs(version *repository.Version, access descriptor.Typed) error {
	return fmt.Errorf("component version %s:%s has no place for contents of its own, as the access of type %q needs: inline component descriptors can only use resources that are elsewhere",
		version.Name, version.Version, access.Type())
}

func (r *Reader) localBlob(ctx context.Context, version *repository.Version, access descriptor.Typed, depth int) (*repository.Blob, error) {
	var spec struct {
		LocalReference string           `json:"localReference"`
		MediaType      string           `json:"mediaType"`
		GlobalAccess   descriptor.Typed `json:"globalAccess"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	if version.Blobs == nil {
		if !spec.GlobalAccess.IsZero() {
			return r.open(ctx, version, spec.GlobalAccess, depth+1)
		}
		return nil, noBlobs(version, access)
	}
	return version.Blobs.Open(ctx, spec.LocalReference, spec.MediaType) // says what it did
}

func (r *Reader) localOCIBlob(ctx context.Context, version *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		Digest string `json:"digest"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	if version.Blobs == nil {
		return nil, noBlobs(version, access)
	}
	return version.Blobs.Open(ctx, spec.Digest, "") // says what it did
}

func (r *Reader) localFile(ctx context.Context, version *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	// The decoder is not case-sensitive, so that filename fits, too.
	var spec struct {
		FileName  string `json:"fileName"`
		MediaType string `json:"mediaType"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	if version.Blobs == nil {
		return nil, noBlobs(version, access)
	}
	return version.Blobs.Open(ctx, spec.FileName, spec.MediaType) // says what it did
}

func (r *Reader) ociBlob(ctx context.Context, version *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		Ref            string        `json:"ref"`
		ImageReference string        `json:"imageReference"`
		MediaType      string        `json:"mediaType"`
		Digest         digest.Digest `json:"digest"`
		Size           *int64        `json:"size"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	if spec.Ref == "" {
		spec.Ref = spec.ImageReference
	}
	reference, err := ParseReference(spec.Ref)
	if err != nil {
		return nil, err
	}
	blob := ocispec.Descriptor{MediaType: spec.MediaType, Digest: spec.Digest, Size: -1}
	if spec.Size != nil && *spec.Size > 0 {
		blob.Size = *spec.Size
	}
	content, err := r.store(version, reference).Open(ctx, reference.Repository, blob)
	if err != nil {
		return nil, err // the store says what it did
	}
	return &repository.Blob{ReadCloser: content, MediaType: spec.MediaType, Size: max(blob.Size, 0)}, nil
}

// other delivers a resource of another component version.
func (r *Reader) other(ctx context.Context, version *repository.Version, access descriptor.Typed, depth int) (*repository.Blob, error) {
	var spec struct {
		Repository  descriptor.Typed `json:"ocmRepository"`
		Component   string           `json:"component"`
		Version     string           `json:"version"`
		ResourceRef struct {
			Resource      descriptor.Identity   `json:"resource"`
			ReferencePath []descriptor.Identity `json:"referencePath"`
		} `json:"resourceRef"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	if spec.Repository.IsZero() {
		spec.Repository = version.Context
	}
	if spec.Component == "" {
		spec.Component, spec.Version = version.Name, version.Version
	}
	found, err := r.Lookup(ctx, spec.Repository, spec.Component, spec.Version)
	if err != nil {
		return nil, err
	}
	for i, step := range spec.ResourceRef.ReferencePath {
		if i > MaxDepth {
			return nil, fmt.Errorf("the reference path has more than %d steps", MaxDepth)
		}
		reference, err := found.Reference(step)
		if err != nil {
			return nil, err // says what is missing
		}
		if found, err = r.Lookup(ctx, spec.Repository, reference.ComponentName, reference.Version); err != nil {
			return nil, err
		}
	}
	resource, err := found.Resource(spec.ResourceRef.Resource)
	if err != nil {
		return nil, err // says what is missing
	}
	blob, err := r.open(ctx, found, resource.Access, depth+1)
	if err != nil {
		return nil, err
	}
	return checked(blob, resource)
}
