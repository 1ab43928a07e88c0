package components

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/components/extract"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

type downloadFlags struct {
	commonFlags
	identity       []string
	references     []string
	file           string
	extract, force bool
	quiet          bool
	// all downloads all resources; recursive those of all that it refers to.
	all, recursive bool
	// layout writes artifacts in the layout of OCI.
	layout bool
}

func newDownloadCommand(streams terminal.Streams) *cobra.Command {
	f := &downloadFlags{}
	command := &cobra.Command{
		Use:   "download REPOSITORY COMPONENT VERSION RESOURCE",
		Short: "Download the content of a resource",
		Long: `Download the content of a resource into a file, into a directory with --extract, or to
the standard output with -O -.

RESOURCE is a name, or a path such as cd://componentReferences/db/resources/image;
--reference follows references as well. A digest in the descriptor is checked before
the file gets its name: what is interrupted, cut or wrong leaves no file. (With -O -,
look at the exit code.) A file that exists is kept, unless --force is given.

With --all instead of a RESOURCE, all resources are downloaded into a directory, and
with --recursive those of all component versions that it refers to.

An image, or whatever else is an artifact of a registry, is delivered as an archive
with its manifest and all its blobs; with --oci-layout in the layout that tools for
images read. --extract unpacks a tar; of an artifact with a single layer, such as a
blueprint or a chart, it unpacks that layer.

` + help,
		Example: `  landscaper-cli components download registry.example.org/delivery//example.org/shop/web:1.4.2 blueprint --extract
  landscaper-cli components download registry.example.org/delivery//example.org/shop/web:1.4.2 --all -O contents
  landscaper-cli components download ./transport.tgz example.org/shop/web 1.4.2 image -O web-image.tgz
  landscaper-cli components download ./transport.tgz example.org/shop/web 1.4.2 cd://componentReferences/db/resources/schema -O -
  landscaper-cli components download ./transport.tgz example.org/shop/web 1.4.2 tool --identity os=linux`,
		Args: terminal.Arguments(func(command *cobra.Command, args []string) error {
			if f.all {
				return needsTarget()(command, args)
			}
			return needsTarget("RESOURCE")(command, args)
		}),
		RunE: func(command *cobra.Command, args []string) error {
			if err := f.checkFlags(); err != nil {
				return terminal.Usage(err)
			}
			if f.all {
				return f.downloadAll(command.Context(), streams, args)
			}
			return f.downloadOne(command.Context(), streams, args[:len(args)-1], args[len(args)-1])
		},
	}
	f.flags(command)
	return command
}

func (f *downloadFlags) flags(command *cobra.Command) {
	f.add(command, outputText, outputJSON, outputYAML)
	flags := command.Flags()
	flags.StringArrayVar(&f.identity, "identity", nil, "further attribute of the resource, as `key=value`; may be repeated")
	flags.StringSliceVarP(&f.references, "reference", "r", nil, "name of a component reference to follow; may be repeated, or a path a/b")
	flags.StringVarP(&f.file, "output-file", "O", "", "`file`, or directory with --extract; - is the standard output (default: the name of the resource)")
	flags.BoolVar(&f.extract, "extract", false, "unpack an archive into a directory")
	flags.BoolVar(&f.all, "all", false, "download all resources into a directory")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "with --all, those of all referenced component versions, too")
	flags.BoolVar(&f.layout, "oci-layout", false, "write artifacts of registries in the layout of OCI")
	flags.BoolVar(&f.force, "force", false, "replace files that exist")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not show progress")
}

// checkFlags finds flags that do not go together.
func (f *downloadFlags) checkFlags() error {
	switch {
	case f.all && (f.file == "-" || len(f.identity) > 0 || len(f.references) > 0):
		return errors.New("--all downloads all resources into a directory: leave out --identity and --reference, and name the directory with --output-file")
	case f.all && f.extract:
		return errors.New("--all writes each content into a file: leave out --extract, or name the RESOURCE to unpack instead of --all")
	case f.recursive && !f.all:
		return errors.New("--recursive belongs to --all: add it instead of the RESOURCE")
	case f.extract && f.layout:
		return errors.New("--extract unpacks a content and --oci-layout keeps it as an archive: leave one of them out")
	case f.extract && f.file == "-":
		return errors.New("--extract needs a directory: name another one than - with --output-file")
	case f.layout && f.file == "-":
		return errors.New("--oci-layout writes a file: name one with --output-file")
	}
	return nil
}

func (f *downloadFlags) downloadOne(ctx context.Context, streams terminal.Streams, args []string, text string) error {
	path, name, err := resourcePath(text, f.references)
	if err != nil {
		return terminal.Usage(err)
	}
	return f.withTarget(ctx, streams, args, func(ctx context.Context, o *opened) error {
		version, resource, err := f.find(ctx, o.session, o.target, o.version, path, name)
		if err != nil {
			return err
		}
		return f.download(ctx, streams, o.session, version, resource)
	})
}

// resourcePath reads the name of a resource and the references that lead to it.
func resourcePath(text string, references []string) ([]string, string, error) {
	var path []string
	for _, reference := range references {
		path = append(path, strings.Split(strings.Trim(reference, "/"), "/")...)
	}
	rest, isURI := strings.CutPrefix(text, "cd://")
	if !isURI {
		if text == "" {
			return nil, "", errors.New("the RESOURCE is empty: name the resource")
		}
		return path, text, nil
	}
	parts := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for ; len(parts) >= 2; parts = parts[2:] {
		switch {
		case parts[1] == "":
		case parts[0] == "componentReferences" || parts[0] == "componentReference":
			path = append(path, parts[1])
			continue
		case parts[0] == "resources" && len(parts) == 2:
			return path, parts[1], nil
		}
		break
	}
	return nil, "", fmt.Errorf("%q leads to no resource: write cd://resources/NAME or cd://componentReferences/REFERENCE/resources/NAME", text)
}

// find follows the references and finds the resource.
func (f *downloadFlags) find(ctx context.Context, session *repositories.Session, wanted target, version *repository.Version, path []string, name string) (*repository.Version, *descriptor.Resource, error) {
	for _, step := range path {
		reference, err := version.Reference(descriptor.Named(step))
		if err != nil {
			return nil, nil, fmt.Errorf("%w%s", err, repositories.Listed(elementNames(version.References, func(r descriptor.Reference) string { return r.Name })))
		}
		if version, err = session.Referenced(ctx, version, reference, wanted.Context); err != nil {
			return nil, nil, err
		}
	}
	identity, err := terminal.Pairs("--identity", f.identity)
	if err != nil {
		return nil, nil, terminal.Usage(err)
	}
	resource, err := findResource(version.Descriptor, name, identity)
	return version, resource, err
}

// findResource finds a resource by name and what else is known of it. The name
// alone means the resource that has no further identity, if there is one.
func findResource(d *descriptor.Descriptor, name string, identity map[string]string) (*descriptor.Resource, error) {
	attributes := descriptor.Named(name)
	if len(identity) == 0 {
		if found, err := d.Resource(attributes); err == nil {
			return found, nil
		}
	}
	maps.Copy(attributes, identity)
	found, err := d.ResourceBy(attributes)
	var missing *descriptor.NotFoundError
	if errors.As(err, &missing) {
		var names []printedName
		for _, r := range d.Resources {
			text := r.Name
			if more := identityText(descriptor.IdentityOf(r, d.Resources)); more != "" {
				text += " (" + more + ")"
			}
			if missing.Matches == 0 || r.Name == name {
				names = append(names, printedName(terminal.Printable(text)))
			}
		}
		hint := ""
		if missing.Matches > 1 {
			hint = ": choose with --identity key=value"
		}
		return nil, fmt.Errorf("%w%s%s", err, hint, repositories.Listed(names))
	}
	return found, err
}

// printedName is a name in a list in a message.
type printedName string

func (n printedName) String() string { return string(n) }

func elementNames[E any](elements []E, name func(E) string) []printedName {
	names := make([]printedName, 0, len(elements))
	for _, element := range elements {
		names = append(names, printedName(terminal.Printable(name(element))))
	}
	return names
}

// downloaded is the result for programs.
type downloaded struct {
	Component string `json:"component"`
	Resource  string `json:"resource"`
	MediaType string `json:"mediaType"`
	// File is what was written, a file or a directory.
	File   string `json:"file"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
	// Files is the number of files that were unpacked.
	Files int `json:"files,omitempty"`
}

func (f *downloadFlags) download(ctx context.Context, streams terminal.Streams, session *repositories.Session, version *repository.Version, resource *descriptor.Resource) error {
	result := downloaded{Component: version.Name + ":" + version.Version, Resource: resource.Name}
	progress := repositories.NewTransfer(streams, f.quiet)
	defer progress.End()
	content, err := session.Download(ctx, version, resource, progress)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // nothing is written
	result.MediaType = content.MediaType
	if f.file == "-" {
		_, err := io.Copy(streams.Out, content)
		return content.Explain(err)
	}
	result.File = f.file
	if result.File == "" {
		if result.File, err = f.fileFor(resource.Name, content.MediaType); err != nil {
			return err
		}
	}
	if err := f.checkFile(result.File); err != nil {
		return err
	}
	if err := f.save(ctx, content, &result); err != nil {
		return err
	}
	progress.End()
	return f.report(streams, result)
}

func (f *downloadFlags) report(streams terminal.Streams, result downloaded) error {
	if f.output != outputText {
		return writeDocument(streams.Out, f.output, result)
	}
	if f.extract {
		files := "files"
		if result.Files == 1 {
			files = "file"
		}
		fmt.Fprintf(streams.Out, "Wrote %d %s to %s (%s, %s)\n", result.Files, files, result.File, repositories.ByteSize(result.Size), result.Digest)
		return nil
	}
	fmt.Fprintf(streams.Out, "Wrote %s (%s, %s)\n", result.File, repositories.ByteSize(result.Size), result.Digest)
	return nil
}

// checkFile keeps what exists.
func (f *downloadFlags) checkFile(name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("write %s: %w", name, err)
	case f.extract && !info.IsDir():
		return fmt.Errorf("%s is no directory: name another one with --output-file", name)
	case !f.extract && info.IsDir():
		return fmt.Errorf("%s is a directory: name a file with --output-file", name)
	case f.force:
		return nil
	case f.extract:
		entries, err := os.ReadDir(name)
		if err == nil && len(entries) > 0 {
			return fmt.Errorf("the directory %s is not empty: name another one with --output-file, or replace files in it with --force", name)
		}
		return err
	}
	return fmt.Errorf("the file %s exists: name another one with --output-file, or replace it with --force", name)
}

// save writes the content beside its place and moves it there when it is
// complete and has its digest.
func (f *downloadFlags) save(ctx context.Context, content *repositories.Content, result *downloaded) error {
	directory := filepath.Dir(result.File)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", result.File, err)
	}
	temporary, err := os.CreateTemp(directory, "."+filepath.Base(result.File)+".partial-")
	if err != nil {
		return fmt.Errorf("write %s: %w", result.File, err)
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // it has moved if all went well
	sum := digest.SHA256.Digester()
	both := io.MultiWriter(temporary, sum.Hash())
	if _, isSet := oci.IsSet(content.MediaType); isSet && f.layout && !f.extract {
		counted := &counter{to: both}
		err = oci.WriteLayout(counted, content)
		result.Size = counted.count
	} else {
		result.Size, err = io.Copy(both, content)
	}
	if err = errors.Join(content.Explain(err), temporary.Close()); err != nil {
		return err
	}
	result.Digest = sum.Digest().String()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f.extract {
		result.Files, err = extract.Archive(ctx, temporary.Name(), content.MediaType, result.File)
		return err
	}
	// Readable as other files of the user are; a temporary file is for him alone.
	if err := os.Chmod(temporary.Name(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", result.File, err)
	}
	if err := f.checkFile(result.File); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), result.File); err != nil {
		return fmt.Errorf("write %s: %w", result.File, err)
	}
	return nil
}
