package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// Copying says how component versions get from one repository to another.
type Copying struct {
	Options
	// Reader reads contents that are not stored as layers.
	Reader *access.Reader
	// ByValue stores resources that are elsewhere with the component version.
	ByValue bool
	// Parallel is how many contents are copied at the same time.
	Parallel int
}

// Copy copies a component version unchanged, with its digests and signatures: only its location
// changes. Existing contents are neither read nor written again, so an interrupted copy continues
// where it was.
func Copy(ctx context.Context, version *repository.Version, how Copying) (Published, error) {
	published, err := newCopying(version, how).copy(ctx)
	if err != nil {
		return Published{}, fmt.Errorf("copy component version %s:%s to %s: %w", version.Name, version.Version, how.Spec, err)
	}
	return published, nil
}

type copying struct {
	Copying
	publication
	version *repository.Version
}

func newCopying(version *repository.Version, how Copying) *copying {
	copied := *version.Descriptor
	copied.Resources = append([]descriptor.Resource{}, version.Resources...)
	copied.Sources = append([]descriptor.Source{}, version.Sources...)
	if !how.Context.IsZero() && !repository.Equal(copied.EffectiveContext(), how.Context) {
		copied.RepositoryContexts = append(append([]descriptor.Typed{}, copied.RepositoryContexts...), how.Context)
	}
	c := &copying{Copying: how, version: version, publication: publication{options: how.Options, repository: how.Spec.Repository(version.Name), descriptor: &copied}}
	if stored := version.Stored(); stored != nil {
		c.layers = contentLayers(stored)
	}
	return c
}

func (c *copying) copy(ctx context.Context) (Published, error) {
	tag, err := repository.Tag(c.version.Version)
	if err != nil {
		return Published{}, err // says what is wrong
	}
	if c.limit, err = repository.BlobLimit(c.Context); err != nil {
		return Published{}, err // says what is wrong
	}
	values := c.values()
	if err := c.reuse(ctx, values); err != nil {
		return Published{}, err
	}
	// If nothing has to be read to know what comes out, it may be there already.
	if !slices.ContainsFunc(values, func(v *value) bool { return len(v.layers) == 0 }) {
		if err := c.settle(values); err != nil {
			return Published{}, err
		}
		ready, err := c.build()
		if err != nil {
			return Published{}, err
		}
		if ready.result.Unchanged, err = c.exists(ctx, ready, tag); ready.result.Unchanged || err != nil {
			return ready.result, err
		}
		if err := c.contents(ctx, nil); err != nil {
			return Published{}, err
		}
		return c.write(ctx, ready, tag)
	}
	if err := c.contents(ctx, values); err != nil {
		return Published{}, err
	}
	if err := c.settle(values); err != nil {
		return Published{}, err
	}
	done, err := c.finish(ctx, tag)
	for _, v := range values {
		if v.elsewhere != "" {
			done.Elsewhere = append(done.Elsewhere, v.elsewhere)
		}
	}
	return done, err
}

// contents copies all that is stored with the version, and stores the values.
func (c *copying) contents(ctx context.Context, values []*value) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(c.Parallel, 1))
	if stored := c.version.Stored(); stored != nil {
		for _, layer := range contentLayers(stored) {
			group.Go(func() error { return c.pushStored(ctx, stored, layer) })
		}
		for _, access := range c.accesses() {
			group.Go(func() error { return c.localArtifact(ctx, stored, access) })
		}
	}
	for _, value := range values {
		if len(value.layers) == 0 {
			group.Go(func() error { return c.store(ctx, value) })
		}
	}
	return group.Wait() // the caller says what was done
}

func (c *copying) accesses() []descriptor.Typed {
	var all []descriptor.Typed
	for i := range c.version.Resources {
		all = append(all, c.version.Resources[i].Access)
	}
	for i := range c.version.Sources {
		all = append(all, c.version.Sources[i].Access)
	}
	return all
}

// localArtifact copies the artifact that a local blob may be instead of a layer.
func (c *copying) localArtifact(ctx context.Context, stored *repository.Stored, from descriptor.Typed) error {
	if !isLocalBlob(from) {
		return nil
	}
	var local struct {
		LocalReference string `json:"localReference"`
		Digest         string `json:"digest"`
	}
	if err := from.Decode(&local); err != nil {
		return err // says what is wrong
	}
	return c.artifact(ctx, stored, digest.Digest(local.LocalReference+local.Digest))
}

func isLocalBlob(access descriptor.Typed) bool {
	kind := strings.ToLower(access.Kind())
	return kind == "localblob" || kind == "localociblob"
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
		return c.pushStored(ctx, stored, ocispec.Descriptor{Digest: reference, Size: -1, MediaType: "application/octet-stream"})
	}
	if err != nil {
		return err // the store says what it did
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
		return err // says what it did
	}
	for _, child := range manifest.Manifests {
		if err := c.tree(ctx, stored, child, depth+1); err != nil {
			return err
		}
	}
	if !manifest.Index {
		for _, part := range append([]ocispec.Descriptor{manifest.Config}, manifest.Layers...) {
			if err := c.pushStored(ctx, stored, part); err != nil {
				return err
			}
		}
	}
	return c.Target.Push(ctx, c.repository, at, bytes.NewReader(manifest.Raw)) // the target says what it did
}

// pushStored copies a content, which is not read if it is there already.
func (c *copying) pushStored(ctx context.Context, stored *repository.Stored, content ocispec.Descriptor) error {
	if content.Digest == "" {
		return nil
	}
	if content.Size < 0 {
		return c.pushOfUnknownSize(ctx, stored, content)
	}
	later := &lazyReader{open: func() (io.ReadCloser, error) { return stored.Store.Open(ctx, stored.Repository, content) }}
	// Without its Close: the target must not close it, too.
	return errors.Join(c.Target.Push(ctx, c.repository, content, struct{ io.Reader }{later}), later.Close())
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
		return Published{}, err // says what is wrong
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

func (c *copying) pushOfUnknownSize(ctx context.Context, stored *repository.Stored, content ocispec.Descriptor) error {
	reader, err := stored.Store.Open(ctx, stored.Repository, content)
	if err != nil {
		return err // the store says what it did
	}
	found, err := spooled(&repository.Blob{ReadCloser: reader})
	if err = errors.Join(err, reader.Close()); err != nil {
		return err
	}
	content.Size = found.size
	return errors.Join(c.Target.Push(ctx, c.repository, content, found.reader(0, found.size)), found.Close())
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
	return l.reader.Read(p) // a reader returns io.EOF unwrapped
}

// Close implements io.Closer.
func (l *lazyReader) Close() error {
	if l.reader == nil {
		return nil
	}
	return l.reader.Close()
}
