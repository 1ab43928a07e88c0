// Package artifact has what a release publishes in registries: images, charts, signatures. An
// artifact is made in memory, and written as a layout of OCI or pushed.
package artifact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/memory"
	"oras.land/oras-go/v2/errdef"

	"go.landscaper.dev/tools/release/pack"
)

// Artifact is an artifact of a registry.
type Artifact struct {
	// Repository is its place in the registry, and Tag its name there.
	Repository, Tag string
	// Root is its manifest or index.
	Root  ocispec.Descriptor
	blobs *memory.Store
}

// New returns an artifact without content.
func New(repository, tag string) *Artifact {
	return &Artifact{Repository: repository, Tag: tag, blobs: memory.New()}
}

// Reference names exactly this content.
func (a *Artifact) Reference() string { return a.Repository + "@" + a.Root.Digest.String() }

// Add adds a blob.
func (a *Artifact) Add(ctx context.Context, mediaType string, data []byte) (ocispec.Descriptor, error) {
	blob := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	if exists, err := a.blobs.Exists(ctx, blob); exists || err != nil {
		return blob, err
	}
	if err := a.blobs.Push(ctx, blob, bytes.NewReader(data)); err != nil {
		return blob, fmt.Errorf("add a blob of type %s to %s: %w", mediaType, a.Repository, err)
	}
	return blob, nil
}

// AddManifest adds a manifest with a configuration and layers.
func (a *Artifact) AddManifest(ctx context.Context, manifest ocispec.Manifest) (ocispec.Descriptor, error) {
	manifest.Versioned, manifest.MediaType = specs.Versioned{SchemaVersion: 2}, ocispec.MediaTypeImageManifest
	return a.addJSON(ctx, manifest.MediaType, manifest)
}

// AddIndex adds an index of manifests.
func (a *Artifact) AddIndex(ctx context.Context, index ocispec.Index) (ocispec.Descriptor, error) {
	index.Versioned, index.MediaType = specs.Versioned{SchemaVersion: 2}, ocispec.MediaTypeImageIndex
	return a.addJSON(ctx, index.MediaType, index)
}

func (a *Artifact) addJSON(ctx context.Context, mediaType string, value any) (ocispec.Descriptor, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("encode the manifest of %s: %w", a.Repository, err)
	}
	return a.Add(ctx, mediaType, text)
}

// Layout writes the artifact as a tar in the layout of OCI. The same artifact gives the same bytes.
func (a *Artifact) Layout(ctx context.Context, to io.Writer, at time.Time) error {
	named := a.Root
	named.Annotations = map[string]string{ocispec.AnnotationRefName: a.Tag, "io.containerd.image.name": a.Repository + ":" + a.Tag}
	index, err := json.Marshal(ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{named}})
	if err != nil {
		return fmt.Errorf("encode the index of %s: %w", a.Repository, err)
	}
	layout, err := json.Marshal(ocispec.ImageLayout{Version: ocispec.ImageLayoutVersion})
	if err != nil {
		return fmt.Errorf("encode the layout of %s: %w", a.Repository, err)
	}
	files := []pack.File{{Name: ocispec.ImageLayoutFile, Data: layout}, {Name: ocispec.ImageIndexFile, Data: index}, {Name: "blobs/"}, {Name: "blobs/sha256/"}}
	seen := map[digest.Digest]bool{}
	err = a.walk(ctx, a.Root, func(blob ocispec.Descriptor, data []byte) {
		if !seen[blob.Digest] {
			seen[blob.Digest] = true
			files = append(files, pack.File{Name: "blobs/sha256/" + blob.Digest.Encoded(), Data: data})
		}
	})
	if err != nil {
		return fmt.Errorf("write the layout of %s: %w", a.Repository, err)
	}
	return pack.Tar(to, at, files...)
}

// walk visits a blob and everything that it refers to.
func (a *Artifact) walk(ctx context.Context, blob ocispec.Descriptor, visit func(ocispec.Descriptor, []byte)) error {
	data, err := content.FetchAll(ctx, a.blobs, blob)
	if err != nil {
		return err
	}
	visit(blob, data)
	successors, err := content.Successors(ctx, a.blobs, blob)
	if err != nil {
		return err
	}
	for _, next := range successors {
		if err := a.walk(ctx, next, visit); err != nil {
			return err
		}
	}
	return nil
}

// Push copies the artifact into a repository, under its tag. A tag that leads to something else is
// never replaced: a release is published once.
func (a *Artifact) Push(ctx context.Context, to oras.Target) error {
	there, err := to.Resolve(ctx, a.Tag)
	switch {
	case err == nil && there.Digest == a.Root.Digest:
		return nil
	case err == nil:
		return fmt.Errorf("push %s:%s: the tag leads to %s, which is not this release (%s): choose another version", a.Repository, a.Tag, there.Digest, a.Root.Digest)
	case !errors.Is(err, errdef.ErrNotFound):
		return fmt.Errorf("push %s:%s: %w", a.Repository, a.Tag, err)
	}
	if err := oras.CopyGraph(ctx, a.blobs, to, a.Root, oras.DefaultCopyGraphOptions); err != nil {
		return fmt.Errorf("push %s:%s: %w", a.Repository, a.Tag, err)
	}
	if err := to.Tag(ctx, a.Root, a.Tag); err != nil {
		return fmt.Errorf("push %s:%s: %w", a.Repository, a.Tag, err)
	}
	return nil
}
