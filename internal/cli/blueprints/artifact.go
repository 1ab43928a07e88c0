package blueprints

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/spf13/cobra"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// Media types of a blueprint that is an artifact of its own.
const (
	mediaTypeConfig = "application/vnd.gardener.landscaper.blueprint.config.v1"
	mediaTypeLayer  = "application/vnd.gardener.landscaper.blueprint.layer.v1.tar+gzip"
)

// readArtifact reads a blueprint that is an artifact of its own, without a
// component.
func readArtifact(ctx context.Context, session *repositories.Session, text string) (*blueprint.Blueprint, error) {
	if _, err := access.ParseReference(text); err != nil {
		return nil, terminal.Usage(err)
	}
	typed, err := descriptor.NewTyped(map[string]string{"type": "ociArtifact", "imageReference": text})
	if err != nil {
		return nil, err // cannot happen
	}
	loaded, err := blueprint.FromArtifact(ctx, session.Reader(), typed)
	if err != nil {
		return nil, fmt.Errorf("blueprint %s: %w", text, err)
	}
	return loaded, nil
}

type getOptions struct {
	sourceFlags
	directory string
}

func newGetCommand(streams terminal.Streams) *cobra.Command {
	o := &getOptions{}
	command := &cobra.Command{
		Use:     "get OCI_REFERENCE",
		Aliases: []string{"pull"},
		Short:   "Print or download a blueprint that is an artifact of a registry",
		Example: "  landscaper-cli blueprints get registry.example.org/blueprints/shop:1.0.0\n  landscaper-cli blueprints get registry.example.org/blueprints/shop:1.0.0 -w ./blueprint",
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			text := args[0]
			if !repositories.HasScheme(text) {
				text = "oci://" + text
			}
			return o.with(command.Context(), streams, text, func(_ context.Context, s *source) error { return o.get(streams, s) })
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := command.Flags()
	flags.StringVarP(&o.directory, "write", "w", "", "write all files of the blueprint into this new `directory` instead of printing blueprint.yaml")
	flags.DurationVar(&o.timeout, "timeout", 0, "limit for the whole command, such as 10m; 0 means none")
	o.registry.Add(command)
	return command
}

func (o *getOptions) get(streams terminal.Streams, s *source) error {
	if o.directory == "" {
		text, err := fs.ReadFile(s.blueprint.Files, v1alpha1.BlueprintFileName)
		if err == nil {
			_, err = streams.Out.Write(text)
		}
		return err // the standard output
	}
	if entries, err := os.ReadDir(o.directory); err == nil && len(entries) > 0 {
		return fmt.Errorf("the directory %s is not empty: name another one with -w", o.directory)
	}
	// The links of the tree do not lead out of it, and neither do its paths.
	if err := os.CopyFS(o.directory, s.blueprint.Files); err != nil {
		return fmt.Errorf("write the blueprint: %w", err)
	}
	fmt.Fprintf(streams.Out, "Wrote the blueprint to %s\n", o.directory)
	return nil
}

type pushOptions struct {
	sourceFlags
	overwrite bool
}

func newPushCommand(streams terminal.Streams) *cobra.Command {
	o := &pushOptions{}
	command := &cobra.Command{
		Use:   "push OCI_REFERENCE SOURCE",
		Short: "Publish a blueprint as an artifact of a registry",
		Long: `Publish a blueprint as an artifact of a registry, without a component. Most
blueprints are better published together with what they deploy, as a resource of a
component version: "components push" does that.`,
		Example: "  landscaper-cli blueprints push registry.example.org/blueprints/shop:1.0.0 ./blueprint",
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, cancel := terminal.WithTimeout(command.Context(), o.timeout)
			defer cancel()
			reached, err := o.registry.Access(streams)
			if err == nil {
				err = o.push(ctx, streams, reached, args[0], args[1])
			}
			return reached.Explain(ctx, err) // tells what to do
		},
	}
	flags := command.Flags()
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace a tag that exists with other content")
	flags.DurationVar(&o.timeout, "timeout", 0, "limit for the whole command, such as 10m; 0 means none")
	o.registry.Add(command)
	return command
}

func (o *pushOptions) push(ctx context.Context, streams terminal.Streams, reached *repositories.Access, text, path string) error {
	reference, err := access.ParseReference(text)
	if err != nil {
		return terminal.Usage(err)
	}
	if reference.Digest != "" {
		return terminal.Usage(fmt.Errorf("%s names a digest: name a tag", text))
	}
	loaded, err := readBlueprint(path)
	if err != nil {
		return err
	}
	made, err := pack(loaded.Files)
	if err != nil {
		return fmt.Errorf("blueprint %s: %w", path, err)
	}
	target := reached.Registry(repository.Spec{Scheme: reference.Scheme, Host: reference.Host})
	existing, err := target.Resolve(ctx, reference.Repository, reference.Tag)
	switch {
	case err == nil && existing.Digest == made.manifest().Digest:
		_, err = fmt.Fprintf(streams.Out, "Unchanged: %s (%s)\n", text, existing.Digest)
		return err // the standard output
	case err == nil && !o.overwrite:
		return fmt.Errorf("%s exists with other content: choose another tag, or allow to replace it with --overwrite", text)
	case err != nil && !errors.Is(err, oci.ErrNotFound):
		return err // names the artifact
	}
	if err := made.push(ctx, target, reference); err != nil {
		return err
	}
	_, err = fmt.Fprintf(streams.Out, "Published %s (%s)\n", text, made.manifest().Digest)
	return err // the standard output
}

// artifact has the parts of an artifact in the order in which they are pushed; the
// last one is the manifest.
type artifact []part

type part struct {
	ocispec.Descriptor
	data []byte
}

func newPart(mediaType string, data []byte) part {
	return part{ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}, data}
}

// pack makes an artifact of the files of a blueprint. The same files make the same
// artifact.
func pack(files fs.FS) (artifact, error) {
	var packed bytes.Buffer
	err := archive.Gzip(&packed, func(to io.Writer) error { return archive.PackTree(to, files, archive.DefaultLimits()) })
	if err != nil {
		return nil, err // names the file
	}
	config, layer := newPart(mediaTypeConfig, []byte("{}")), newPart(mediaTypeLayer, packed.Bytes())
	manifest := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: config.Descriptor, Layers: []ocispec.Descriptor{layer.Descriptor}}
	manifest.SchemaVersion = 2
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	return artifact{layer, config, newPart(ocispec.MediaTypeImageManifest, raw)}, nil
}

func (a artifact) manifest() ocispec.Descriptor { return a[len(a)-1].Descriptor }

func (a artifact) push(ctx context.Context, target oci.Target, reference access.Reference) error {
	for _, p := range a {
		if err := target.Push(ctx, reference.Repository, p.Descriptor, bytes.NewReader(p.data)); err != nil {
			return err // names the artifact
		}
	}
	return target.Tag(ctx, reference.Repository, a.manifest(), reference.Tag) // names the artifact
}
