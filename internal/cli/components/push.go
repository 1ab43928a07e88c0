package components

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/base/variable"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/components/construct"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/repository"
)

type pushFlags struct {
	commonFlags
	set         []string
	settings    []string
	environment bool
	schema      string
	create      bool
	overwrite   bool
	dryRun      bool
	skipDigests bool
	quiet       bool

	checkAgainst  string
	allowBreaking bool
}

func newPushCommand(streams terminal.Streams) *cobra.Command {
	f := &pushFlags{}
	command := &cobra.Command{
		Use:     "push CONSTRUCTOR REPOSITORY",
		Aliases: []string{"add", "publish"},
		Short:   "Publish component versions from a constructor file",
		Long: `Publish all component versions of a constructor file in a registry or in an archive in
the common transport format. CONSTRUCTOR - is the standard input.

${NAME} in the file stands for a variable: --set gives its value, or a YAML file with
--settings, or the environment with --addenv. $${NAME} is the text itself.

--create makes a new archive: a directory, or a file if REPOSITORY ends with .tar,
.tgz or .tar.gz. The content of inputs is stored with the component version; for what
is elsewhere, such as images, the digest is taken. A version that exists is not
changed unless --overwrite is given; publishing the same again does nothing.

--check-against compares each component with a version of it that is in REPOSITORY, as
"components compare" does. What breaks its users is published only under a new major
version (of 0.x, a new minor version), or with --allow-breaking. Otherwise nothing is
published, and the command ends with code 2.`,
		Example: `  landscaper-cli components push constructor.yaml registry.example.org/delivery --set VERSION=1.4.2
  landscaper-cli components push constructor.yaml ./transport.tgz --create
  landscaper-cli components push constructor.yaml registry.example.org/delivery --check-against latest
  landscaper-cli components push constructor.yaml registry.example.org/delivery --dry-run`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			return f.run(command.Context(), streams, func(ctx context.Context, access *repositories.Access) error {
				return f.push(ctx, streams, access, args[0], args[1])
			})
		},
	}
	f.add(command, outputText, outputJSON, outputYAML)
	command.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) < 2 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	flags := command.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "value of a variable of the constructor file, as `NAME=VALUE`; may be repeated")
	flags.StringArrayVar(&f.settings, "settings", nil, "YAML `file` with values of variables; may be repeated")
	flags.BoolVar(&f.environment, "addenv", false, "let variables of the environment be variables of the constructor file")
	flags.StringVar(&f.schema, "schema", "", "schema of the descriptors: "+descriptor.SchemaV2+" (the default) or "+descriptor.SchemaV3Alpha1)
	flags.BoolVar(&f.create, "create", false, "make the archive if it is not there")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace versions that exist with other content")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the descriptors and publish nothing")
	flags.BoolVar(&f.skipDigests, "skip-digests", false, "do not take the digests of what is elsewhere")
	flags.StringVar(&f.checkAgainst, "check-against", "", "refuse what breaks the users of this `version`; latest is the newest older version")
	flags.BoolVar(&f.allowBreaking, "allow-breaking", false, "with --check-against: publish what breaks users, and say it")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not show progress")
	terminal.CompleteWith(command, "schema", descriptor.SchemaV2, descriptor.SchemaV3Alpha1)
	return command
}

// publishedVersion is the result for programs.
type publishedVersion struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Digest     string `json:"digest"`
	Repository string `json:"repository"`
	Unchanged  bool   `json:"unchanged,omitempty"`
}

func (f *pushFlags) push(ctx context.Context, streams terminal.Streams, access *repositories.Access, file, text string) error {
	schema := getFlags{schema: f.schema}
	if err := schema.checkSchema(); err != nil {
		return err
	}
	f.schema = schema.schema
	if f.allowBreaking && f.checkAgainst == "" {
		return terminal.Usage(errors.New("--allow-breaking has no effect without --check-against"))
	}
	variables, err := construct.Variables(f.environment, f.settings, f.set)
	if err != nil {
		return terminal.Usage(err)
	}
	constructor, err := f.constructor(streams, file, variables)
	if err != nil {
		return err
	}
	at, err := repositories.Destination(text, f.create)
	if err != nil {
		return err
	}
	session, err := access.Session(repositories.Nowhere)
	if err != nil {
		return err
	}
	defer session.Close() //nolint:errcheck // nothing was written
	progress := repositories.NewTransfer(streams, f.quiet)
	defer progress.End()
	options := f.options(session, file, at)
	options.Progress, options.Variables = progress.Say, variables
	if f.checkAgainst != "" {
		if err := f.checkCompatible(ctx, streams, access, at, constructor, options); err != nil {
			return err
		}
	}
	if f.dryRun {
		return f.preview(ctx, streams, constructor, options)
	}
	opened, err := access.Writer(at)
	if err != nil {
		return err
	}
	options.Target = progress.Target(opened.Target)
	published, err := publish.Publish(ctx, constructor, options)
	if err == nil {
		err = opened.Finish()
	}
	if err = errors.Join(err, opened.Close()); err != nil {
		return fmt.Errorf("%s: %w", file, overwriteHint(err))
	}
	progress.End()
	return f.reportPublished(streams, "Published %s in %s", at, published)
}

// overwriteHint names the flag that replaces what exists.
func overwriteHint(err error) error {
	if errors.Is(err, publish.ErrExists) {
		return fmt.Errorf("%w (--overwrite)", err)
	}
	return err
}

// constructor reads the constructor file.
func (f *pushFlags) constructor(streams terminal.Streams, file string, variables map[string]string) (*publish.Constructor, error) {
	var text []byte
	var err error
	if file == "-" {
		text, err = io.ReadAll(io.LimitReader(streams.In, descriptor.MaxSize+1))
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the constructor file: %w", err)
	}
	substituted, err := variable.Substitute(string(text), variables)
	if err != nil {
		return nil, terminal.Usage(fmt.Errorf("%s: %w", file, err))
	}
	constructor, err := publish.Parse([]byte(substituted))
	if err == nil {
		err = construct.Check(constructor)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return constructor, nil
}

func (f *pushFlags) options(session *repositories.Session, file string, at repositories.Location) publish.Options {
	options := publish.Options{
		Spec: at.Spec, Directory: filepath.Dir(file), Schema: f.schema, Overwrite: f.overwrite,
		Image: func(ctx context.Context, reference string) (*repository.Blob, error) {
			image, err := descriptor.NewTyped(map[string]string{"type": "ociArtifact", "imageReference": reference})
			if err != nil {
				return nil, err
			}
			return session.Reader().Open(ctx, nil, image)
		},
		Open: func(ctx context.Context, access descriptor.Typed) (*repository.Blob, error) {
			// The user has written these accesses, as inputs of the constructor file.
			reader := *session.Reader()
			reader.Wget = reader.Wget.Unlimited()
			return reader.Open(ctx, nil, access)
		},
	}
	if at.Spec.Kind == repository.KindOCI {
		options.Context = at.Context
	}
	if !f.skipDigests {
		options.Digest = digestOf(session.Reader())
	}
	return options
}

// digestOf takes the digests of what is elsewhere. What is relative to the place
// of the component version is there only later, and others would not find the digest
// of what each tool packs in its own way.
func digestOf(reader *access.Reader) func(context.Context, *repository.Version, *descriptor.Resource) (*descriptor.Digest, error) {
	return func(ctx context.Context, version *repository.Version, resource *descriptor.Resource) (*descriptor.Digest, error) {
		if strings.EqualFold(resource.Access.Kind(), "relativeOciReference") || access.PacksItself(resource.Access) {
			return nil, nil
		}
		found, err := reader.Digest(ctx, version, resource, "SHA-256", "")
		if err != nil && !errors.As(err, new(*access.UnknownError)) {
			return nil, fmt.Errorf("take the digest (--skip-digests leaves it out): %w", err)
		}
		return found, err
	}
}

// reportPublished prints what was written, and what was there already. What was done
// has a place for the component version and one for the repository.
func (f *commonFlags) reportPublished(streams terminal.Streams, done string, at repositories.Location, published []publish.Published) error {
	results := []publishedVersion{}
	for _, p := range published {
		results = append(results, publishedVersion{p.Name, p.Version, p.Digest, at.Text, p.Unchanged})
	}
	if f.output != outputText {
		return writeDocument(streams.Out, f.output, results)
	}
	_, where, _ := strings.Cut(done, " ")
	for _, r := range results {
		form := done
		if r.Unchanged {
			form = "Unchanged: " + where
		}
		fmt.Fprintf(streams.Out, form+" (%s)\n", r.Name+":"+r.Version, r.Repository, r.Digest)
	}
	return nil
}

// preview publishes into a temporary archive, and prints the result.
func (f *pushFlags) preview(ctx context.Context, streams terminal.Streams, constructor *publish.Constructor, options publish.Options) error {
	archive, err := repositories.Scratch()
	if err != nil {
		return err
	}
	defer archive.Close() //nolint:errcheck // it is not kept
	options.Target = archive.Target
	published, err := publish.Publish(ctx, constructor, options)
	if err != nil {
		return err
	}
	var all []*descriptor.Descriptor
	for _, p := range published {
		version, err := repository.OCI(archive.Target, options.Spec, nil).Lookup(ctx, p.Name, p.Version)
		if err != nil {
			return err
		}
		all = append(all, version.Descriptor)
	}
	form := f.output
	if form == outputText {
		form = outputYAML
	}
	return printDescriptors(streams, all, "", form, true)
}
