package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/component/access"
	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/repository"
)

// Annotations of component versions.
const (
	annotationVersion  = "software.ocm.componentversion"
	annotationCreator  = "software.ocm.creator"
	annotationArtifact = "software.ocm.artifact"
	creator            = "landscaper-cli"
)

// Options say how component versions are published.
type Options struct {
	// Target is where they go.
	Target oci.Target
	// Spec is the repository of components in the target.
	Spec repository.Spec
	// Context, if set, becomes the effective repository context.
	Context descriptor.Typed
	// Directory is that of the constructor file.
	Directory string
	// Schema of the descriptors; v2 if empty.
	Schema string
	// Overwrite replaces versions that exist.
	Overwrite bool
	// Digest takes the digest of a resource that is elsewhere; nil leaves it out.
	Digest func(ctx context.Context, version *repository.Version, resource *descriptor.Resource) (*descriptor.Digest, error)
	// Image opens an image to be stored with the component version.
	Image func(ctx context.Context, reference string) (*repository.Blob, error)
	// Open opens what an access elsewhere leads to, for inputs that are downloads.
	Open func(ctx context.Context, access descriptor.Typed) (*repository.Blob, error)
	// Progress is told what is being done; may be nil.
	Progress func(message string)
}

// Published is a component version that was published.
type Published struct {
	Name, Version string
	// Digest is that of the manifest.
	Digest string
	// Unchanged is true if exactly this was there already.
	Unchanged bool
}

// ErrExists tells that a version exists with other content.
var ErrExists = errors.New("the version exists with other content: publish another version, or allow to overwrite it")

// Publish writes all component versions of a constructor.
func Publish(ctx context.Context, constructor *Constructor, options Options) ([]Published, error) {
	var all []Published
	for i := range constructor.Components {
		published, err := publish(ctx, &constructor.Components[i], options)
		if err != nil {
			c := constructor.Components[i]
			return all, fmt.Errorf("publish component version %s:%s to %s: %w", c.Name, c.Version, options.Spec, err)
		}
		all = append(all, published)
	}
	return all, nil
}

// publication is one component version on its way.
type publication struct {
	options    Options
	repository string
	descriptor *descriptor.Descriptor
	layers     []ocispec.Descriptor
	// limit is the size of the largest blob that the repository takes; zero is none.
	limit int64
}

func publish(ctx context.Context, component *Component, options Options) (Published, error) {
	tag, err := repository.Tag(component.Version)
	if err != nil {
		return Published{}, err //nolint:wrapcheck // tells what is wrong
	}
	limit, err := repository.BlobLimit(options.Context)
	if err != nil {
		return Published{}, err //nolint:wrapcheck // tells what is wrong
	}
	p := &publication{options: options, repository: options.Spec.Repository(component.Name), descriptor: component.descriptor(options.Schema), limit: limit}
	for i := range component.Resources {
		if err := p.resource(ctx, &p.descriptor.Resources[i], &component.Resources[i]); err != nil {
			return Published{}, fmt.Errorf("resource %q: %w", component.Resources[i].Name, err)
		}
	}
	for i := range component.Sources {
		if input := component.Sources[i].Input; input != nil {
			source := &p.descriptor.Sources[i]
			access, _, err := p.store(ctx, "source", descriptor.IdentityOf(*source, p.descriptor.Sources), input)
			if err != nil {
				return Published{}, fmt.Errorf("source %q: %w", source.Name, err)
			}
			source.Access = access
		}
	}
	if !options.Context.IsZero() {
		p.descriptor.RepositoryContexts = append(p.descriptor.RepositoryContexts, options.Context)
	}
	if err := p.descriptor.Validate(); err != nil {
		return Published{}, fmt.Errorf("the component descriptor would not be valid: %w", err)
	}
	return p.finish(ctx, tag)
}

func (p *publication) progress(format string, args ...any) {
	if p.options.Progress != nil {
		p.options.Progress(fmt.Sprintf(format, args...))
	}
}

// resource stores the content of a resource, or takes the digest of what is
// elsewhere.
func (p *publication) resource(ctx context.Context, resource *descriptor.Resource, from *Resource) error {
	if from.Input != nil {
		stored, content, err := p.store(ctx, "resource", descriptor.IdentityOf(*resource, p.descriptor.Resources), from.Input)
		if err != nil {
			return err
		}
		resource.Access = stored
		if !from.Options.SkipDigestGeneration {
			resource.Digest = content
		}
		return nil
	}
	if from.Options.SkipDigestGeneration || resource.Digest != nil || p.options.Digest == nil || strings.EqualFold(resource.Access.Kind(), "none") {
		return nil
	}
	p.progress("reading the digest of resource %s", resource.Name)
	found, err := p.options.Digest(ctx, &repository.Version{Descriptor: p.descriptor, Context: p.options.Context}, resource)
	var unknown *access.UnknownError
	if errors.As(err, &unknown) {
		return nil
	}
	resource.Digest = found
	return err
}

// store pushes the content of an input and returns the access to it.
func (p *publication) store(ctx context.Context, kind string, identity descriptor.Identity, input *Input) (descriptor.Typed, *descriptor.Digest, error) {
	found, err := p.content(ctx, input)
	if err != nil {
		return nil, nil, err
	}
	p.progress("writing %s %s (%d bytes)", kind, identity["name"], len(found.data))
	reference, err := p.blob(ctx, found, kind, identity)
	if err != nil {
		return nil, nil, err
	}
	taken := &descriptor.Digest{
		HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationBlob, Value: digest.FromBytes(found.data).Encoded(),
	}
	if artifact := digest.Digest(found.artifact); artifact.Validate() == nil && artifact.Algorithm() == digest.SHA256 {
		// An image is known by its own digest, however it is packed.
		taken.NormalisationAlgorithm, taken.Value = access.NormalisationArtifact, artifact.Encoded()
	}
	access := map[string]string{"type": "localBlob", "localReference": reference, "mediaType": found.mediaType}
	if found.name != "" {
		access["referenceName"] = found.name
	}
	stored, err := descriptor.NewTyped(access)
	return stored, taken, err //nolint:wrapcheck // tells what it did
}

// blob pushes a content, in pieces if the repository wants it so, and returns the
// reference to it.
func (p *publication) blob(ctx context.Context, found content, kind string, identity descriptor.Identity) (string, error) {
	pieces := [][]byte{found.data}
	if p.limit > 0 && int64(len(found.data)) > p.limit {
		pieces = slices.Collect(slices.Chunk(found.data, int(p.limit)))
	}
	if len(pieces) > repository.MaxPieces {
		return "", fmt.Errorf("the content of %d bytes would have %d pieces of the blobLimit %d, at most %d are read: set a higher blobLimit", len(found.data), len(pieces), p.limit, repository.MaxPieces)
	}
	var references []string
	for _, piece := range pieces {
		layer := describe(found.mediaType, piece)
		if err := p.options.Target.Push(ctx, p.repository, layer, bytes.NewReader(piece)); err != nil {
			return "", err //nolint:wrapcheck // the target tells what it did
		}
		if err := p.addLayer(layer, kind, identity); err != nil {
			return "", err
		}
		references = append(references, layer.Digest.String())
	}
	return strings.Join(references, ","), nil
}

func (p *publication) content(ctx context.Context, input *Input) (content, error) {
	switch input.kind() {
	case "ociImage", "ociArtifact":
	case "helm":
		return p.chart(ctx, input)
	case "wget":
		return p.download(ctx, input)
	default:
		return input.read(p.options.Directory)
	}
	if p.options.Image == nil {
		return content{}, fmt.Errorf("an input of type %q cannot be read here", input.Type)
	}
	p.progress("reading image %s", input.Path)
	blob, err := p.options.Image(ctx, input.Path)
	if err != nil {
		return content{}, err
	}
	defer blob.Close() //nolint:errcheck // nothing is written
	data, err := archive.ReadAll(blob, maxInput)
	if err != nil {
		return content{}, fmt.Errorf("read image %s: %w", input.Path, err)
	}
	return content{data: data, mediaType: blob.MediaType, artifact: blob.Digest, name: artifactName(input)}, nil
}

// artifactName is how an artifact is called in a registry that stores it as one:
// without the host, where it does not come from any more.
func artifactName(input *Input) string {
	reference, err := access.ParseReference(input.Path)
	if err != nil {
		return input.Repository
	}
	name := reference.Repository
	if input.Repository != "" {
		name = input.Repository
	}
	if reference.Tag != "" && !strings.Contains(name, ":") {
		name += ":" + reference.Tag
	}
	return name
}

// addLayer notes a layer and what it is for. Two resources with the same content
// share it.
func (p *publication) addLayer(layer ocispec.Descriptor, kind string, identity descriptor.Identity) error {
	type use struct {
		Kind     string              `json:"kind"`
		Identity descriptor.Identity `json:"identity"`
	}
	var uses []use
	at := -1
	for i, known := range p.layers {
		if known.Digest == layer.Digest {
			at = i
			if err := json.Unmarshal([]byte(known.Annotations[annotationArtifact]), &uses); err != nil {
				return fmt.Errorf("read annotation %s: %w", annotationArtifact, err)
			}
		}
	}
	// A content may have the same piece more than once.
	if !slices.ContainsFunc(uses, func(u use) bool { return u.Kind == kind && maps.Equal(u.Identity, identity) }) {
		uses = append(uses, use{kind, identity})
	}
	text, err := json.Marshal(uses)
	if err != nil {
		return fmt.Errorf("write annotation %s: %w", annotationArtifact, err)
	}
	layer.Annotations = map[string]string{annotationArtifact: string(text)}
	if at >= 0 {
		p.layers[at].Annotations = layer.Annotations
		return nil
	}
	p.layers = append(p.layers, layer)
	return nil
}

func describe(mediaType string, data []byte) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
}

// finish writes descriptor, config and manifest, and then the tag.
func (p *publication) finish(ctx context.Context, tag string) (Published, error) {
	text, err := p.descriptor.EncodeYAML()
	if err != nil {
		return Published{}, err //nolint:wrapcheck // tells what it did
	}
	packed, err := repository.PackDescriptor(text)
	if err != nil {
		return Published{}, err //nolint:wrapcheck // tells what it did
	}
	layer := describe(repository.MediaTypeDescriptor, packed)
	config, err := json.Marshal(repository.ComponentConfig{DescriptorLayer: &layer})
	if err != nil {
		return Published{}, fmt.Errorf("encode the config: %w", err)
	}
	manifest := ocispec.Manifest{
		MediaType: ocispec.MediaTypeImageManifest, Config: describe(repository.MediaTypeConfig, config),
		Layers:      append([]ocispec.Descriptor{layer}, p.layers...),
		Annotations: map[string]string{annotationVersion: p.descriptor.Name + ":" + p.descriptor.Version, annotationCreator: creator},
	}
	manifest.SchemaVersion = 2
	raw, err := json.Marshal(manifest)
	if err != nil {
		return Published{}, fmt.Errorf("encode the manifest: %w", err)
	}
	at := describe(ocispec.MediaTypeImageManifest, raw)
	result := Published{Name: p.descriptor.Name, Version: p.descriptor.Version, Digest: at.Digest.String()}
	switch existing, err := p.options.Target.Resolve(ctx, p.repository, tag); {
	case err == nil && existing.Digest == at.Digest:
		result.Unchanged = true
		return result, nil
	case err == nil && !p.options.Overwrite:
		return Published{}, ErrExists
	case err != nil && !errors.Is(err, oci.ErrNotFound):
		return Published{}, err //nolint:wrapcheck // the target tells what it did
	}
	for _, part := range []struct {
		is   ocispec.Descriptor
		data []byte
	}{{layer, packed}, {manifest.Config, config}, {at, raw}} {
		if err := p.options.Target.Push(ctx, p.repository, part.is, bytes.NewReader(part.data)); err != nil {
			return Published{}, err //nolint:wrapcheck // the target tells what it did
		}
	}
	p.progress("tagging %s:%s", p.repository, tag)
	return result, p.options.Target.Tag(ctx, p.repository, at, tag) //nolint:wrapcheck // the target tells what it did
}
