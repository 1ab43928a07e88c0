// Package components has the commands that read, download, publish and verify
// component versions.
package components

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// The values of -o.
const (
	outputText  = "text"
	outputTable = "table"
	outputTree  = "tree"
	outputWide  = "wide"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

const help = `Read, download, publish, copy, sign and verify component versions. No cluster is needed.

A REPOSITORY is what exists under that name as a file or directory: an archive in
the common transport format, a component archive (each as directory, tar or
compressed tar), or a directory of component descriptors. Anything else is a
registry: registry.example.org/path, https://..., http://... without TLS, or the JSON
text of a repository context.

REPOSITORY COMPONENT VERSION can be written as one argument, REPOSITORY//COMPONENT:VERSION.
In an archive, what is the only one may be left out.`

// NewCommand returns the command with its subcommands.
func NewCommand(streams terminal.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:     "components",
		Aliases: []string{"component", "comp", "co"},
		Short:   "Read, download, publish, copy, sign and verify component versions",
		Long:    help,
		Args:    terminal.Subcommand,
		RunE:    func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(
		newGetCommand(streams),
		newResourcesCommand(streams),
		newDownloadCommand(streams),
		newPushCommand(streams),
		newListCommand(streams),
		newCompareCommand(streams),
		newCopyCommand(streams),
		newSignCommand(streams),
		newVerifyCommand(streams),
	)
	// A wrong subcommand is a wrong command line.
	terminal.BeStrict(command)
	for _, child := range command.Commands() {
		terminal.BeStrict(child)
	}
	return command
}

// commonFlags are what all commands for components have.
type commonFlags struct {
	repositories.Flags
	timeout time.Duration
	output  string
	// outputs are the values that -o may have; the first is the default.
	outputs []string
}

func (f *commonFlags) add(command *cobra.Command, outputs ...string) {
	f.outputs = outputs
	f.Flags.Add(command)
	flags := command.Flags()
	flags.DurationVar(&f.timeout, "timeout", 0, "limit for the whole command, such as 10m; 0 means none")
	flags.StringVarP(&f.output, "output", "o", "", strings.Join(outputs[1:], ", ")+" (default: "+outputs[0]+")")
	terminal.CompleteWith(command, "output", outputs...)
	command.ValidArgsFunction = completeTarget
}

func (f *commonFlags) check() error {
	if f.output == "" {
		f.output = f.outputs[0]
	}
	if !slices.Contains(f.outputs, f.output) {
		return terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use %s", f.output, strings.Join(f.outputs, ", ")))
	}
	return nil
}

// run does something with access to registries, within the time limit.
func (f *commonFlags) run(ctx context.Context, streams terminal.Streams, do func(context.Context, *repositories.Access) error) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := terminal.WithTimeout(ctx, f.timeout)
	defer cancel()
	access, err := f.Access(streams)
	if err == nil {
		err = do(ctx, access)
	}
	return access.Explain(ctx, err)
}

// target is a component version as the user named it.
type target struct {
	repositories.Location
	repositories.ComponentVersion
}

// targetOf reads the arguments that name a component version.
func targetOf(args []string) (target, error) {
	repositoryText, reference := repositories.Split(args[0])
	var wanted repositories.ComponentVersion
	switch {
	case reference != "" && len(args) > 1:
		return target{}, terminal.Usage(fmt.Errorf("the component is named twice: by %q and by %q", reference, strings.Join(args[1:], " ")))
	case reference != "":
		wanted.Name, wanted.Version, _ = strings.Cut(reference, ":")
	case len(args) > 1:
		wanted.Name = args[1]
		if len(args) > 2 {
			wanted.Version = args[2]
		}
	}
	at, err := repositories.Locate(repositoryText)
	if err != nil {
		return target{}, err
	}
	if wanted.Name != "" {
		if err := descriptor.CheckName(wanted.Name); err != nil {
			return target{}, terminal.Usage(err)
		}
	}
	if wanted.Version != "" {
		if _, err := repository.Tag(wanted.Version); err != nil {
			return target{}, terminal.Usage(err)
		}
	}
	if wanted.Name != "" && wanted.Version != "" {
		return target{at, wanted}, nil
	}
	return only(at, wanted)
}

// only completes a component version that is not named completely, if there is
// no choice.
func only(at repositories.Location, wanted repositories.ComponentVersion) (target, error) {
	if at.Spec.Kind == repository.KindOCI {
		if wanted.Name != "" {
			return target{}, terminal.Usage(fmt.Errorf("name the version of %s: landscaper-cli components list %s %s", wanted.Name, at.Text, wanted.Name))
		}
		return target{}, terminal.Usage(fmt.Errorf("name the component and its version: the registry %s has no list of them", at.Text))
	}
	all, err := at.Versions()
	if err != nil {
		return target{}, fmt.Errorf("list the component versions of %s: %w", at.Text, err)
	}
	candidates := slices.DeleteFunc(slices.Clone(all), func(v repositories.ComponentVersion) bool {
		return (wanted.Name != "" && v.Name != wanted.Name) || (wanted.Version != "" && v.Version != wanted.Version)
	})
	switch {
	case len(candidates) == 1:
		return target{at, candidates[0]}, nil
	case len(candidates) > 1:
		return target{}, terminal.Usage(fmt.Errorf("name the component and its version%s", repositories.Listed(candidates)))
	}
	what := "component version"
	switch {
	case wanted.Name != "":
		what = fmt.Sprintf("version of component %q", wanted.Name)
	case wanted.Version != "":
		what = fmt.Sprintf("component of version %q", wanted.Version)
	}
	return target{}, terminal.Exitf(terminal.ExitNotFound, "there is no %s in %s%s", what, at.Text, repositories.Listed(all))
}

// resolve finds the component version. If it is missing, the message says which
// ones exist, where that can be known.
func (t target) resolve(ctx context.Context, streams terminal.Streams, access *repositories.Access, session *repositories.Session) (*repository.Version, error) {
	found, err := session.Resolve(ctx, component.Reference{Context: t.Context, Name: t.Name, Version: t.Version})
	if err != nil {
		return nil, access.Missing(ctx, t.Location, t.Name, err)
	}
	warn(streams.Err, found.Warnings)
	return found, nil
}

// warn prints warnings about a descriptor, which repeat keys of it.
func warn(out io.Writer, warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintf(out, "Warning: %s\n", terminal.Printable(warning))
	}
}

// writeDocument prints a value for programs. What a descriptor says may be anything, and
// people look at it as well.
func writeDocument(out io.Writer, form string, value any) error {
	if form == outputYAML {
		return terminal.WriteYAML(out, value)
	}
	return terminal.WriteJSON(out, value)
}

// needsTarget checks the number of arguments that name a component version and
// more after it.
func needsTarget(more ...string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		wanted := append([]string{"REPOSITORY", "COMPONENT", "VERSION"}, more...)
		switch {
		case len(args) == 0:
			return commandline.Wrong(command, commandline.Missing(wanted...)+": a component version may also be written as REPOSITORY//COMPONENT:VERSION")
		case len(args) <= len(more):
			return commandline.Wrong(command, commandline.Missing(more[len(args)-1:]...))
		case len(args) > len(wanted):
			return commandline.Wrong(command, commandline.TooMuch(args[len(wanted)]))
		}
		return nil
	}
}
