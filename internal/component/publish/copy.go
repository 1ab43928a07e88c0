package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"go.landscaper.dev/internal/component/access"
	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/repository"
)

// Copying says how component versions get from one repository to another.
type Copying struct {
	Options
	// Reader reads contents that are not stored as layers.
	Reader *access.Reader
	// ByValue stores images that are elsewhere with the component version.
	ByValue bool
	// Parallel is how many contents are copied at the same time.
	Parallel int
}

// Copy copies a component version as it is, with its digests and signatures: what
// changes is where it is. Contents that are there are not read, so a copy that was
// interrupted goes on where it was.
func Copy(ctx context.Context, version *repository.Version, how Copying) (Published, error) {
	fail := func(err error) (Published, error) {
		return Published{}, fmt.Errorf("copy component version %s:%s to %s: %w", version.Name, version.Version, how.Spec, err)
	}
	tag, err := repository.Tag(version.Version)
	if err != nil {
		return fail(err)
	}
	copied := *version.Descriptor
	copied.Resources = append([]descriptor.Resource{}, version.Resources...)
	copied.Sources = append([]descriptor.Source{}, version.Sources...)
	if !how.Context.IsZero() && !repository.Equal(copied.EffectiveContext(), how.Context) {
		copied.RepositoryContexts = append(append([]descriptor.Typed{}, copied.RepositoryContexts...), how.Context)
	}
	c := &copying{Copying: how, version: version, publication: publication{options: how.Options, repository: how.Spec.Repository(version.Name), descriptor: &copied}}
	if err := c.contents(ctx); err != nil {
		return fail(err)
	}
	published, err := c.publication.finish(ctx, tag)
	if err != nil {
		return fail(err)
	}
	return published, nil
}

// Rewrite replaces the descriptor of a component version in its own repository, for
// signatures.
func Rewrite(ctx context.Context, version *repository.Version, options Options) (Published, error) {
	stored := version.Stored()
	if stored == nil {
		return Published{}, fmt.Errorf("component version %s:%s cannot be changed where it is: copy it into a registry or an archive in the common transport format", version.Name, version.Version)
	}
	tag, err := repository.Tag(version.Version)
	if err != nil {
		return Published{}, err //nolint:wrapcheck // tells what is wrong
	}
	options.Overwrite = true
	p := &publication{options: options, repository: stored.Repository, descriptor: version.Descriptor, layers: contentLayers(stored)}
	return p.finish(ctx, tag)
}

// contentLayers returns the layers that are no descriptor.
func contentLayers(stored *repository.Stored) []ocispec.Descriptor {
	var layers []ocispec.Descriptor
	for _, layer := range stored.Manifest.Layers {
		if !strings.Contains(layer.MediaType, "component-descriptor") {
			layers = append(layers, layer)
		}
	}
	return layers
}

type copying struct {
	Copying
	publication
	version *repository.Version
	mu      sync.Mutex
}

// contents copies all that is stored with the version.
func (c *copying) contents(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(c.Parallel, 1))
	if stored := c.version.Stored(); stored != nil {
		c.layers = contentLayers(stored)
		for _, layer := range contentLayers(stored) {
			group.Go(func() error { return c.push(ctx, stored, c.repository, layer) })
		}
	}
	for i := range c.descriptor.Resources {
		resource := &c.descriptor.Resources[i]
		identity := descriptor.IdentityOf(*resource, c.descriptor.Resources)
		group.Go(func() error {
			changed, err := c.content(ctx, "resource", identity, resource.Access)
			resource.Access = changed
			return err
		})
	}
	for i := range c.descriptor.Sources {
		source := &c.descriptor.Sources[i]
		identity := descriptor.IdentityOf(*source, c.descriptor.Sources)
		group.Go(func() error {
			changed, err := c.content(ctx, "source", identity, source.Access)
			source.Access = changed
			return err
		})
	}
	return group.Wait() //nolint:wrapcheck // the caller tells what was done
}

// content copies what an access leads to if it is stored with the version or shall
// be, and returns the access that leads to it afterwards.
func (c *copying) content(ctx context.Context, kind string, identity descriptor.Identity, from descriptor.Typed) (descriptor.Typed, error) {
	var local struct {
		LocalReference string `json:"localReference"`
		Digest         string `json:"digest"`
	}
	if err := from.Decode(&local); err != nil {
		return from, err
	}
	switch strings.ToLower(from.Kind()) {
	case "localblob", "localociblob":
		if stored := c.version.Stored(); stored != nil {
			return from, c.artifact(ctx, stored, digest.Digest(local.LocalReference+local.Digest))
		}
	case "localfilesystemblob", "relativeocireference":
	case "ociartifact", "ociregistry", "ociimage":
		if !c.ByValue {
			return from, nil
		}
	default:
		return from, nil
	}
	changed, err := c.byValue(ctx, kind, identity, from)
	if err != nil {
		return from, fmt.Errorf("%s %q: %w", kind, identity["name"], err)
	}
	return changed, nil
}

// artifact copies an artifact of the same repository that a local blob may be.
func (c *copying) artifact(ctx context.Context, stored *repository.Stored, reference digest.Digest) error {
	for _, layer := range stored.Manifest.Layers {
		if layer.Digest == reference {
			return nil
		}
	}
	if reference.Validate() != nil {
		// Pieces, which are layers.
		return nil //nolint:nilerr // a reference that is no digest is no artifact of its own
	}
	at, err := stored.Store.Resolve(ctx, stored.Repository, reference.String())
	if errors.Is(err, oci.ErrNotFound) {
		// Old writers did not list all blobs.
		return c.push(ctx, stored, c.repository, ocispec.Descriptor{Digest: reference, Size: -1, MediaType: "application/octet-stream"})
	}
	if err != nil {
		return err //nolint:wrapcheck // the store tells what it did
	}
	return c.tree(ctx, stored, at, 0)
}

const maxTree = 8

// tree copies a manifest and all that it names.
func (c *copying) tree(ctx context.Context, stored *repository.Stored, at ocispec.Descriptor, depth int) error {
	if depth > maxTree {
		return fmt.Errorf("the index %s points to another one more than %d times", at.Digest, maxTree)
	}
	manifest, err := oci.ReadManifest(ctx, stored.Store, stored.Repository, at)
	if err != nil {
		return err //nolint:wrapcheck // tells what it did
	}
	for _, child := range manifest.Manifests {
		if err := c.tree(ctx, stored, child, depth+1); err != nil {
			return err
		}
	}
	if !manifest.Index {
		for _, part := range append([]ocispec.Descriptor{manifest.Config}, manifest.Layers...) {
			if err := c.push(ctx, stored, c.repository, part); err != nil {
				return err
			}
		}
	}
	return c.Target.Push(ctx, c.repository, at, bytes.NewReader(manifest.Raw)) //nolint:wrapcheck // the target tells what it did
}

// push copies a content, which is not read if it is there already.
func (c *copying) push(ctx context.Context, stored *repository.Stored, to string, content ocispec.Descriptor) error {
	if content.Digest == "" {
		return nil
	}
	if content.Size < 0 {
		data, err := oci.Read(ctx, stored.Store, stored.Repository, content, maxInput)
		if err != nil {
			return err //nolint:wrapcheck // tells what it did
		}
		content.Size = int64(len(data))
		return c.Target.Push(ctx, to, content, bytes.NewReader(data)) //nolint:wrapcheck // the target tells what it did
	}
	later := &lazyReader{open: func() (io.ReadCloser, error) { return stored.Store.Open(ctx, stored.Repository, content) }}
	return errors.Join(c.Target.Push(ctx, to, content, later), later.Close())
}

// byValue stores a content with the component version.
func (c *copying) byValue(ctx context.Context, kind string, identity descriptor.Identity, from descriptor.Typed) (descriptor.Typed, error) {
	blob, err := c.Reader.Open(ctx, c.version, from)
	if err != nil {
		return from, err //nolint:wrapcheck // tells what it did
	}
	data, err := archive.ReadAll(blob, maxInput)
	if err = errors.Join(err, blob.Close()); err != nil {
		return from, err
	}
	layer := describe(blob.MediaType, data)
	if layer.MediaType == "" {
		layer.MediaType = "application/octet-stream"
	}
	if err := c.Target.Push(ctx, c.repository, layer, bytes.NewReader(data)); err != nil {
		return from, err //nolint:wrapcheck // the target tells what it did
	}
	c.mu.Lock()
	err = c.addLayer(layer, kind, identity)
	c.mu.Unlock()
	if err != nil {
		return from, err
	}
	fields := map[string]any{"type": "localBlob", "localReference": layer.Digest.String(), "mediaType": layer.MediaType}
	var image struct {
		ImageReference string `json:"imageReference"`
	}
	if json.Unmarshal(from, &image) == nil && image.ImageReference != "" {
		fields["referenceName"] = artifactName(&Input{Path: image.ImageReference})
	}
	return descriptor.NewTyped(fields) //nolint:wrapcheck // tells what it did
}

// lazyReader opens what it reads when it is read.
type lazyReader struct {
	open   func() (io.ReadCloser, error)
	reader io.ReadCloser
}

// Read implements io.Reader.
func (l *lazyReader) Read(p []byte) (int, error) {
	if l.reader == nil {
		var err error
		if l.reader, err = l.open(); err != nil {
			return 0, err
		}
	}
	return l.reader.Read(p) //nolint:wrapcheck // a reader hands on io.EOF as it is
}

// Close implements io.Closer.
func (l *lazyReader) Close() error {
	if l.reader == nil {
		return nil
	}
	return l.reader.Close() //nolint:wrapcheck // nothing to add
}
