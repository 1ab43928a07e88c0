package publish

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
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
	// Variables are those of the constructor file, for templates.
	Variables map[string]string
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
	// Progress is called with what is being done; may be nil.
	Progress func(message string)
}

// Published is a component version that was published.
type Published struct {
	Name, Version string
	// Digest is that of the manifest.
	Digest string
	// Unchanged is true if exactly this was there already.
	Unchanged bool
	// Elsewhere are contents that should have been stored with the version and could
	// not be: nothing here can read them.
	Elsewhere []string
}

// ErrExists says that a version exists with other content.
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
	// limit is the size of the largest blob that the repository takes; zero means unlimited.
	limit int64
}

func publish(ctx context.Context, component *Component, options Options) (Published, error) {
	tag, err := repository.Tag(component.Version)
	if err != nil {
		return Published{}, err // says what is wrong
	}
	limit, err := repository.BlobLimit(options.Context)
	if err != nil {
		return Published{}, err // says what is wrong
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
	p.progress("writing %s %s (%d bytes)", kind, identity["name"], found.size)
	layers, err := p.push(ctx, found)
	if err = errors.Join(err, found.Close()); err != nil {
		return nil, nil, err
	}
	reference, err := p.addLayers(layers, kind, identity)
	if err != nil {
		return nil, nil, err
	}
	taken := &descriptor.Digest{
		HashAlgorithm: "SHA-256", NormalisationAlgorithm: access.NormalisationBlob, Value: found.digest.Encoded(),
	}
	if artifact := digest.Digest(found.artifact); artifact.Validate() == nil && artifact.Algorithm() == digest.SHA256 {
		// An image is known by its own digest, however it is packed.
		taken.NormalisationAlgorithm, taken.Value = access.NormalisationArtifact, artifact.Encoded()
	}
	stored, err := localBlob(reference, found.mediaType, found.name)
	return stored, taken, err
}

// localBlob is the access to what is stored with the component version. The name is
// that of an artifact.
func localBlob(reference, mediaType, name string) (descriptor.Typed, error) {
	fields := map[string]string{"type": "localBlob", "localReference": reference, "mediaType": mediaType}
	if name != "" {
		fields["referenceName"] = name
	}
	return descriptor.NewTyped(fields) // says what it did
}

// push pushes a content, in pieces if the repository wants it so.
func (p *publication) push(ctx context.Context, found content) ([]ocispec.Descriptor, error) {
	if p.limit <= 0 || found.size <= p.limit {
		layer := ocispec.Descriptor{MediaType: found.mediaType, Digest: found.digest, Size: found.size}
		return []ocispec.Descriptor{layer}, p.options.Target.Push(ctx, p.repository, layer, found.reader(0, found.size)) // the target says what it did
	}
	if pieces := (found.size + p.limit - 1) / p.limit; pieces > repository.MaxPieces {
		return nil, fmt.Errorf("the content of %d bytes would have %d pieces of the blobLimit %d, at most %d are read: set a higher blobLimit", found.size, pieces, p.limit, repository.MaxPieces)
	}
	var layers []ocispec.Descriptor
	for at := int64(0); at < found.size; at += p.limit {
		sum, err := digest.SHA256.FromReader(found.reader(at, p.limit))
		if err != nil {
			return nil, fmt.Errorf("read a piece: %w", err)
		}
		layer := ocispec.Descriptor{MediaType: found.mediaType, Digest: sum, Size: min(p.limit, found.size-at)}
		if err := p.options.Target.Push(ctx, p.repository, layer, found.reader(at, p.limit)); err != nil {
			return nil, err // the target says what it did
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// addLayers notes the layers of a content and returns the reference to it.
func (p *publication) addLayers(layers []ocispec.Descriptor, kind string, identity descriptor.Identity) (string, error) {
	var references []string
	for _, layer := range layers {
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
	case "git":
		return p.open(ctx, input, map[string]any{"type": "git", "repository": input.Repository, "ref": input.Ref, "commit": input.Commit})
	case "spiff":
		return p.template(ctx, input)
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
	found, err := spooled(blob)
	if err = errors.Join(err, blob.Close()); err != nil {
		return content{}, fmt.Errorf("read image %s: %w", input.Path, err)
	}
	found.name = artifactName(p.descriptor.Name, input)
	return found, nil
}

// artifactName is how an artifact is called in a registry that stores it as one:
// without the host, where it does not come from any more.
func artifactName(component string, input *Input) string {
	reference, err := access.ParseReference(input.Path)
	if err != nil {
		return input.hint(component)
	}
	name := reference.Repository
	if input.Repository != "" {
		name = input.hint(component)
	}
	if reference.Tag != "" && !strings.Contains(name, ":") {
		name += ":" + reference.Tag
	}
	return name
}

// hint is the name that an artifact shall get: below that of the component, unless it
// begins with a slash.
func (i *Input) hint(component string) string {
	if own, absolute := strings.CutPrefix(i.Repository, "/"); absolute || i.Repository == "" {
		return own
	}
	return component + "/" + i.Repository
}
