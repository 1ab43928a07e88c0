package repository

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
)

// Media types of component versions. The first of each is the one that is
// written.
const (
	MediaTypeConfig     = "application/vnd.ocm.software.component.config.v1+json"
	MediaTypeDescriptor = "application/vnd.ocm.software.component-descriptor.v2+yaml+tar"
)

func isConfig(mediaType string) bool {
	switch mediaType {
	case MediaTypeConfig,
		"application/vnd.gardener.cloud.cnudie.component.config.v1+json",
		"application/vnd.oci.gardener.cloud.cnudie.component-descriptor-metadata.config.v2+json":
		return true
	}
	return false
}

// ComponentConfig is the config of the manifest of a component version.
type ComponentConfig struct {
	DescriptorLayer *ocispec.Descriptor `json:"componentDescriptorLayer,omitempty"`
}

// ociRepository has component versions as artifacts of a store.
type ociRepository struct {
	store   oci.Store
	spec    Spec
	context descriptor.Typed
}

// OCI returns the repository of component versions in a store.
func OCI(store oci.Store, spec Spec, context descriptor.Typed) Repository {
	return &ociRepository{store: store, spec: spec, context: context}
}

// Lookup implements Repository.
func (r *ociRepository) Lookup(ctx context.Context, name, version string) (*Version, error) {
	if err := descriptor.CheckName(name); err != nil {
		return nil, err
	}
	tag, err := Tag(version)
	if err != nil {
		return nil, err
	}
	repository := r.spec.Repository(name)
	found, err := r.read(ctx, repository, tag)
	if isNotFound(err) {
		return nil, &NotFoundError{Name: name, Version: version, In: r.spec.String()}
	}
	if err != nil {
		return nil, fmt.Errorf("read component version %s:%s from %s: %w", name, version, r.spec, err)
	}
	warning, err := check(found.Descriptor, name, version)
	if err != nil {
		return nil, fmt.Errorf("read %s:%s from %s: %w", repository, tag, r.spec, err)
	}
	if warning != "" {
		found.Warnings = append(found.Warnings, warning)
	}
	found.Warnings = append(found.Warnings, found.Descriptor.Warnings()...)
	return found, nil
}

func (r *ociRepository) read(ctx context.Context, repository, tag string) (*Version, error) {
	at, err := r.store.Resolve(ctx, repository, tag)
	if err != nil {
		return nil, err // wrapped by Lookup
	}
	manifest, err := oci.ReadManifest(ctx, r.store, repository, at)
	if err != nil {
		return nil, err // wrapped by Lookup
	}
	if manifest.Index {
		if len(manifest.Manifests) == 0 {
			return nil, errors.New("index has no manifests")
		}
		first := manifest.Manifests[0]
		if !oci.IsManifest(first.MediaType) || oci.IsIndex(first.MediaType) {
			return nil, errors.New("first manifest in index is not a manifest")
		}
		if manifest, err = oci.ReadManifest(ctx, r.store, repository, first); err != nil {
			return nil, err // wrapped by Lookup
		}
	}
	if manifest.Config.MediaType == "" {
		return nil, fmt.Errorf("the manifest has no config: %w", oci.ErrNotFound)
	}
	if !isConfig(manifest.Config.MediaType) {
		return nil, fmt.Errorf("artifact is not a component: %s", manifest.Config.MediaType)
	}
	raw, err := r.descriptor(ctx, repository, manifest)
	if err != nil {
		return nil, err
	}
	d, err := descriptor.Decode(raw)
	if err != nil {
		return nil, err // wrapped by Lookup
	}
	return &Version{Descriptor: d, Context: r.context, Blobs: &ociBlobs{store: r.store, repository: repository, prefix: r.spec.SubPath, manifest: manifest}}, nil
}

// descriptor reads the layer with the descriptor, which the config names.
func (r *ociRepository) descriptor(ctx context.Context, repository string, manifest *oci.Manifest) ([]byte, error) {
	raw, err := oci.Read(ctx, r.store, repository, manifest.Config, oci.MaxConfig)
	if err != nil {
		return nil, noLongerThere(err)
	}
	var config ComponentConfig
	if err := json.Unmarshal(raw, &config); err != nil || config.DescriptorLayer == nil || config.DescriptorLayer.Digest == "" {
		return nil, errors.Join(errors.New("invalid component descriptor config"), err)
	}
	layer := *config.DescriptorLayer
	if err := oci.CheckDescriptor(layer); err != nil {
		return nil, fmt.Errorf("invalid component descriptor config: %w", err)
	}
	content, err := oci.Read(ctx, r.store, repository, layer, descriptor.MaxSize)
	if err != nil {
		return nil, noLongerThere(err)
	}
	return unpackDescriptor(layer.MediaType, content)
}

// noLongerThere keeps a missing part from looking like a missing version.
func noLongerThere(err error) error {
	if isNotFound(err) {
		return fmt.Errorf("the version is not complete: %s", err.Error())
	}
	return err
}

func unpackDescriptor(mediaType string, content []byte) ([]byte, error) {
	switch mediaType {
	case MediaTypeDescriptor,
		"application/vnd.gardener.cloud.cnudie.component-descriptor.v2+yaml+tar",
		"application/vnd.oci.gardener.cloud.cnudie.component-descriptor.config.v2+yaml+tar":
		return descriptorFromTar(content)
	case "application/vnd.ocm.software.component-descriptor.v2+yaml", "application/vnd.gardener.cloud.cnudie.component-descriptor.v2+yaml",
		"application/vnd.ocm.software.component-descriptor.v2+json", "application/vnd.gardener.cloud.cnudie.component-descriptor.v2+json":
		return content, nil
	}
	return nil, fmt.Errorf("the descriptor has the invalid config mediatype %q", mediaType)
}

var errFound = errors.New("found")

func descriptorFromTar(content []byte) ([]byte, error) {
	var found []byte
	limits := archive.Limits{Bytes: descriptor.MaxSize, Files: 100, Ratio: 1000, Depth: 4}
	err := archive.Walk(bytes.NewReader(content), limits, func(entry archive.Entry) error {
		if path.Base(entry.Path) != descriptor.FileName || strings.Contains(entry.Path, "/") {
			return nil
		}
		data, err := archive.ReadAll(entry.Content, descriptor.MaxSize)
		if err != nil {
			return fmt.Errorf("%s: %w", entry.Path, err)
		}
		found = data
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return nil, fmt.Errorf("read the component descriptor: %w", err)
	}
	if found == nil {
		return nil, errors.New("no component descriptor found in tar")
	}
	return found, nil
}

// PackDescriptor returns the layer of a descriptor.
func PackDescriptor(text []byte) ([]byte, error) {
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: descriptor.FileName, Size: int64(len(text)), Mode: 0o644}
	if err := writer.WriteHeader(header); err != nil {
		return nil, fmt.Errorf("pack the component descriptor: %w", err)
	}
	if _, err := writer.Write(text); err != nil {
		return nil, fmt.Errorf("pack the component descriptor: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("pack the component descriptor: %w", err)
	}
	return out.Bytes(), nil
}

// ociBlobs are layers of the manifest of a component version.
type ociBlobs struct {
	store      oci.Store
	repository string
	prefix     string
	manifest   *oci.Manifest
}

// MaxPieces bounds how many pieces a blob may have.
const MaxPieces = 10_000

// Open implements Blobs.
func (b *ociBlobs) Open(ctx context.Context, reference, mediaType string) (*Blob, error) {
	chunks := strings.Split(reference, ",")
	if len(chunks) > MaxPieces {
		return nil, fmt.Errorf("a blob has %d pieces, at most %d are read", len(chunks), MaxPieces)
	}
	var parts []ocispec.Descriptor
	var size int64
	for _, chunk := range chunks {
		d := digest.Digest(strings.TrimSpace(chunk))
		if err := d.Validate(); err != nil {
			return nil, fmt.Errorf("the reference %.80q of a local blob is not a digest: %w", chunk, err)
		}
		layer, isLayer := b.layer(d)
		if !isLayer {
			if manifest, ok := manifestType(mediaType); ok && len(chunks) == 1 {
				return b.artifact(ctx, d, manifest)
			}
		}
		parts = append(parts, layer)
		size = total(size, layer)
	}
	if mediaType == "" {
		mediaType = parts[0].MediaType
	}
	return &Blob{ReadCloser: &pieces{ctx: ctx, blobs: b, left: parts}, MediaType: mediaType, Size: max(size, 0)}, nil
}

// total adds the size of a piece; it is below zero if one of them is not known.
func total(size int64, piece ocispec.Descriptor) int64 {
	if size < 0 || piece.Size < 0 || size+piece.Size < 0 {
		return -1
	}
	return size + piece.Size
}

// layer returns the layer with a digest. Old writers did not list all blobs.
func (b *ociBlobs) layer(d digest.Digest) (ocispec.Descriptor, bool) {
	for _, layer := range b.manifest.Layers {
		if layer.Digest == d {
			return layer, true
		}
	}
	return ocispec.Descriptor{Digest: d, Size: -1}, false
}

func manifestType(mediaType string) (string, bool) {
	if manifest, is := oci.IsSet(mediaType); is {
		return manifest, true
	}
	return mediaType, oci.IsManifest(mediaType)
}

// artifact delivers an artifact of the same repository.
func (b *ociBlobs) artifact(ctx context.Context, d digest.Digest, mediaType string) (*Blob, error) {
	at, err := b.store.Resolve(ctx, b.repository, d.String())
	if err != nil {
		return nil, noLongerThere(err)
	}
	if at.MediaType == "" {
		at.MediaType = mediaType
	}
	return ArtifactSet(ctx, b.store, b.repository, at, ""), nil
}

// ArtifactSet delivers an artifact as an archive.
func ArtifactSet(ctx context.Context, store oci.Store, repository string, at ocispec.Descriptor, tag string) *Blob {
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(oci.WriteSet(ctx, writer, store, repository, at, tag)) }()
	return &Blob{ReadCloser: reader, MediaType: oci.SetMediaType(at.MediaType), Digest: at.Digest.String()}
}

// Stored is what a component version consists of that is stored as an artifact.
type Stored struct {
	Store      oci.Store
	Repository string
	Manifest   *oci.Manifest
}

// Stored returns what a component version consists of; nil if it is in no store of
// artifacts.
func (v *Version) Stored() *Stored {
	blobs, is := v.Blobs.(*ociBlobs)
	if !is {
		return nil
	}
	return &Stored{Store: blobs.store, Repository: blobs.repository, Manifest: blobs.manifest}
}

// Relative implements Blobs.
func (b *ociBlobs) Relative() (oci.Store, string, error) { return b.store, b.prefix, nil }

// pieces reads layers one after the other.
type pieces struct {
	ctx     context.Context // lives as long as the read
	blobs   *ociBlobs
	left    []ocispec.Descriptor
	current io.ReadCloser
}

// Read implements io.Reader.
func (p *pieces) Read(buffer []byte) (int, error) {
	for {
		if p.current == nil {
			if len(p.left) == 0 {
				return 0, io.EOF
			}
			var err error
			if p.current, err = p.blobs.store.Open(p.ctx, p.blobs.repository, p.left[0]); err != nil {
				return 0, noLongerThere(err)
			}
			p.left = p.left[1:]
		}
		n, err := p.current.Read(buffer)
		if !errors.Is(err, io.EOF) {
			return n, err // the store says what it did
		}
		_ = p.current.Close()
		p.current = nil
		if n > 0 {
			return n, nil
		}
	}
}

// Close implements io.Closer.
func (p *pieces) Close() error {
	if p.current == nil {
		return nil
	}
	return p.current.Close()
}
