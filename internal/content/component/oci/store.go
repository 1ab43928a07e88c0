// Package oci holds what registries and archives have in common: repositories of
// manifests and blobs that are found by their digest.
package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
)

// Limits of what is read into memory.
const (
	// MaxManifest is the size of the largest manifest that is read.
	MaxManifest = 8 << 20
	// MaxConfig is the size of the largest config of a component that is read.
	MaxConfig = 1 << 20
)

// Media types of Docker, as registries also use them.
const (
	MediaTypeDockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	MediaTypeDockerIndex    = "application/vnd.docker.distribution.manifest.list.v2+json"
)

// ErrNotFound is behind errors about something that is not there. Missing
// permissions are another error.
var ErrNotFound = errors.New("not found")

// ErrDigest is behind errors about content that does not have its digest.
var ErrDigest = errors.New("the content does not have its digest")

// Store holds artifacts in repositories.
type Store interface {
	// Resolve returns the manifest behind a tag or digest.
	Resolve(ctx context.Context, repository, reference string) (ocispec.Descriptor, error)
	// Open reads a manifest or blob. A size below zero means that it is not known.
	// The last read fails if the content does not have the digest.
	Open(ctx context.Context, repository string, content ocispec.Descriptor) (io.ReadCloser, error)
}

// Fetcher is a store that delivers a manifest together with its descriptor, which saves a request.
type Fetcher interface {
	Fetch(ctx context.Context, repository, reference string) (ocispec.Descriptor, []byte, error)
}

// Target is a store that can be written to.
type Target interface {
	Store
	// Push writes a manifest or blob unless it is there already.
	Push(ctx context.Context, repository string, content ocispec.Descriptor, data io.Reader) error
	// Tag gives a manifest a name.
	Tag(ctx context.Context, repository string, manifest ocispec.Descriptor, tag string) error
}

// IsIndex reports whether a media type is one of an index of manifests.
func IsIndex(mediaType string) bool {
	return mediaType == ocispec.MediaTypeImageIndex || mediaType == MediaTypeDockerIndex
}

// IsManifest reports whether a media type is one of a manifest or index.
func IsManifest(mediaType string) bool {
	return mediaType == ocispec.MediaTypeImageManifest || mediaType == MediaTypeDockerManifest || IsIndex(mediaType)
}

// Read reads a manifest or blob of at most limit bytes and checks its digest.
func Read(ctx context.Context, store Store, repository string, content ocispec.Descriptor, limit int64) ([]byte, error) {
	if content.Size > limit {
		return nil, fmt.Errorf("%s of %s: %w", content.Digest, repository, &archive.TooLargeError{What: fmt.Sprintf("the size of %d bytes", content.Size), Limit: limit})
	}
	reader, err := store.Open(ctx, repository, content)
	if err != nil {
		return nil, err
	}
	defer reader.Close() //nolint:errcheck // nothing is written
	data, err := archive.ReadAll(reader, limit)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", content.Digest, repository, err)
	}
	return data, nil
}

// Manifest is a manifest or, where Index is true, an index.
type Manifest struct {
	ocispec.Manifest
	Index     bool
	Manifests []ocispec.Descriptor
	// Raw is the text, of which the digest is taken.
	Raw []byte
	// Descriptor is where the manifest was found.
	Descriptor ocispec.Descriptor
}

// ReadManifest reads a manifest or index.
func ReadManifest(ctx context.Context, store Store, repository string, at ocispec.Descriptor) (*Manifest, error) {
	raw, err := Read(ctx, store, repository, at, MaxManifest)
	if err != nil {
		return nil, err
	}
	manifest := &Manifest{Index: IsIndex(at.MediaType), Raw: raw, Descriptor: at}
	var into any = &manifest.Manifest
	if manifest.Index {
		into = &struct {
			Manifests *[]ocispec.Descriptor `json:"manifests"`
		}{&manifest.Manifests}
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return nil, fmt.Errorf("decode manifest %s of %s: %w", at.Digest, repository, err)
	}
	parts := append(append([]ocispec.Descriptor{}, manifest.Manifests...), manifest.Layers...)
	if manifest.Config.Digest != "" { // not every artifact has one
		parts = append(parts, manifest.Config)
	}
	for _, d := range parts {
		if err := CheckDescriptor(d); err != nil {
			return nil, fmt.Errorf("manifest %s of %s: %w", at.Digest, repository, err)
		}
	}
	return manifest, nil
}

// CheckDescriptor checks what becomes part of a path or a size.
func CheckDescriptor(d ocispec.Descriptor) error {
	if err := d.Digest.Validate(); err != nil {
		return fmt.Errorf("digest %.80q: %w", d.Digest, err)
	}
	if d.Size < 0 {
		return fmt.Errorf("%s has the size %d", d.Digest, d.Size)
	}
	return nil
}

// Verified passes a content, and fails at its end if the digest or the size is wrong. A size below
// zero is not checked.
func Verified(from io.ReadCloser, content ocispec.Descriptor) (io.ReadCloser, error) {
	if err := content.Digest.Validate(); err != nil {
		return nil, errors.Join(fmt.Errorf("digest %.80q: %w", content.Digest, err), from.Close())
	}
	return &verified{from: from, want: content, verifier: content.Digest.Verifier()}, nil
}

type verified struct {
	from     io.ReadCloser
	want     ocispec.Descriptor
	verifier digest.Verifier
	read     int64
}

// Read implements io.Reader.
func (v *verified) Read(p []byte) (int, error) {
	n, err := v.from.Read(p)
	// A hash takes everything.
	_, _ = v.verifier.Write(p[:n])
	v.read += int64(n)
	if v.want.Size >= 0 && v.read > v.want.Size {
		return 0, fmt.Errorf("%s has more than the %d bytes that it should have: %w", v.want.Digest, v.want.Size, ErrDigest)
	}
	if errors.Is(err, io.EOF) {
		if v.want.Size >= 0 && v.read != v.want.Size {
			return n, fmt.Errorf("%s has %d bytes, expected %d: %w", v.want.Digest, v.read, v.want.Size, ErrDigest)
		}
		if !v.verifier.Verified() {
			return n, fmt.Errorf("expected %s, got something else: %w", v.want.Digest, ErrDigest)
		}
	}
	return n, err // a reader returns io.EOF unwrapped
}

// Close implements io.Closer.
func (v *verified) Close() error { return v.from.Close() }
