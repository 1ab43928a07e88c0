package blueprint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// ErrNoBlueprint is behind errors about contents that are something else.
var ErrNoBlueprint = errors.New("artifact does not match blueprint downloader (check config media type)")

// FromArtifact loads the blueprint that is an artifact of its own, which belongs to no
// component.
func FromArtifact(ctx context.Context, reader *access.Reader, artifact descriptor.Typed) (*Blueprint, error) {
	blob, err := reader.Open(ctx, nil, artifact)
	if err != nil {
		return nil, err // says what it did
	}
	defer blob.Close() //nolint:errcheck // nothing is written
	data, err := archive.ReadAll(blob, maxPacked)
	if err != nil {
		return nil, err // says what it did
	}
	return (&packed{data: data, mediaType: blob.MediaType, digest: digest.FromBytes(data)}).load(ctx)
}

// packed is the content of a resource.
type packed struct {
	data      []byte
	mediaType string
	digest    digest.Digest
	// loan counts what is unpacked; nil counts nothing.
	loan *loan
}

// limits are those of the files of a blueprint.
func (p *packed) limits() archive.Limits {
	limits := archive.DefaultLimits()
	limits.Bytes = maxUnpacked
	if p.loan != nil {
		limits.Book = p.loan.grow
	}
	return limits
}

// read reads the content of a resource if it can be a blueprint.
func read(ctx context.Context, reader *access.Reader, version *repository.Version, resource *descriptor.Resource) (*packed, error) {
	switch resource.Type {
	case v1alpha1.BlueprintType, v1alpha1.BlueprintResourceType:
	default:
		return nil, fmt.Errorf("resource %q of component version %s:%s: no handler found for resource type %s: a blueprint has the type %s",
			resource.Name, version.Name, version.Version, resource.Type, v1alpha1.BlueprintType)
	}
	data, mediaType, err := reader.Read(ctx, version, resource, maxPacked)
	if err != nil {
		return nil, err // tells the resource
	}
	return &packed{data: data, mediaType: mediaType, digest: digest.FromBytes(data)}, nil
}

// load unpacks and reads a blueprint. The content decides, not its media type, which many tools do
// not set with care.
func (p *packed) load(ctx context.Context) (*Blueprint, error) {
	files, err := p.unpack(ctx)
	if err != nil {
		return nil, err
	}
	loaded, err := Load(files)
	if err != nil {
		return nil, err
	}
	loaded.Digest = p.digest.String()
	return loaded, nil
}

func (p *packed) unpack(ctx context.Context) (*memfs.Tree, error) {
	if _, isSet := oci.IsSet(p.mediaType); isSet || oci.IsManifest(p.mediaType) {
		return p.artifact(ctx)
	}
	files, err := archive.Unpack(bytes.NewReader(p.data), p.limits())
	switch {
	case err != nil && (isTree(p.mediaType) || isRefused(err)):
		return nil, fmt.Errorf("unpack the content of media type %q: %w", p.mediaType, err)
	case err != nil:
		return nil, fmt.Errorf("%w: the content of media type %q is not a tar: %w", ErrNoBlueprint, p.mediaType, err)
	case has(files, v1alpha1.BlueprintFileName):
		return files, nil
	case holdsArtifact(files):
		return p.artifact(ctx)
	case isTree(p.mediaType):
		return nil, missing(files)
	}
	return nil, fmt.Errorf("%w: the content has media type %q: %w", ErrNoBlueprint, p.mediaType, missing(files))
}

// isRefused reports whether a content is what it should be, but hostile.
func isRefused(err error) bool {
	var tooLarge *archive.TooLargeError
	return errors.As(err, &tooLarge) || errors.Is(err, archive.ErrUnsafe)
}

// holdsArtifact reports whether files are the parts of an artifact of a registry.
func holdsArtifact(files *memfs.Tree) bool {
	return has(files, "artifact-descriptor.json") || (has(files, "index.json") && has(files, "blobs"))
}

func has(files *memfs.Tree, name string) bool {
	_, err := files.Lstat(name)
	return err == nil
}

// isTree reports whether a media type is that of an archive of files.
func isTree(mediaType string) bool {
	for _, compression := range []string{"gzip", "zstd", "bzip2", "xz"} {
		mediaType = strings.TrimSuffix(strings.TrimSuffix(mediaType, "+"+compression), "."+compression)
	}
	format := mediaType[strings.LastIndexAny(mediaType, "/+.-")+1:]
	return format == "tar" || format == "tgz"
}
