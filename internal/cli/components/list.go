package components

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

type listFlags struct{ commonFlags }

func newListCommand(streams terminal.Streams) *cobra.Command {
	f := &listFlags{}
	command := &cobra.Command{
		Use:     "list REPOSITORY [COMPONENT]",
		Aliases: []string{"versions"},
		Short:   "List the versions of a component",
		Long: `List the versions of a component, the newest last. Of an archive or a directory, all
components are listed if none is named; a registry has no list of its components.

` + help,
		Example: `  landscaper-cli components list registry.example.org/delivery example.org/shop/web
  landscaper-cli components list ./transport.tgz -o json`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			return f.run(command.Context(), streams, func(ctx context.Context, access *repositories.Access) error {
				return f.list(ctx, streams, access, args)
			})
		},
	}
	f.add(command, outputText, outputJSON, outputYAML)
	return command
}

// listedVersion is a component version in the output for programs.
type listedVersion struct {
	Component string `json:"component"`
	Version   string `json:"version"`
}

func (f *listFlags) list(ctx context.Context, streams terminal.Streams, access *repositories.Access, args []string) error {
	text, name := repositories.Split(args[0])
	switch {
	case name != "" && len(args) > 1:
		return terminal.Usage(errors.New("the component is named twice"))
	case len(args) > 1:
		name = args[1]
	}
	name, _, _ = strings.Cut(name, ":")
	at, err := repositories.Locate(text)
	if err != nil {
		return err
	}
	if name != "" {
		if err := descriptor.CheckName(name); err != nil {
			return terminal.Usage(err)
		}
	}
	found, err := versionsAt(ctx, access, at, name)
	if err != nil {
		return err
	}
	return f.print(streams, found)
}

// versionsAt lists the versions of a component, or in an archive of all.
func versionsAt(ctx context.Context, access *repositories.Access, at repositories.Location, name string) ([]repositories.ComponentVersion, error) {
	if at.Spec.Kind == repository.KindOCI && name == "" {
		return nil, terminal.Usage(fmt.Errorf("name the component: the registry %s has no list of them", at.Text))
	}
	found, err := access.Versions(ctx, at, name)
	switch {
	case errors.Is(err, oci.ErrNotFound):
		return nil, terminal.Exitf(terminal.ExitNotFound, "component %q has no versions in %s: check the name and the path of the repository", name, at.Text)
	case err != nil:
		return nil, fmt.Errorf("list the component versions of %s: %w", at.Text, err)
	case len(found) == 0 && name != "" && at.Spec.Kind != repository.KindOCI:
		all, err := access.Versions(ctx, at, "")
		if err != nil {
			return nil, fmt.Errorf("list the component versions of %s: %w", at.Text, err)
		}
		return nil, terminal.Exitf(terminal.ExitNotFound, "component %q has no versions in %s%s", name, at.Text, repositories.Listed(all))
	}
	return found, nil
}

func (f *listFlags) print(streams terminal.Streams, found []repositories.ComponentVersion) error {
	results := []listedVersion{}
	for _, version := range found {
		results = append(results, listedVersion{version.Name, version.Version})
	}
	if f.output != outputText {
		return writeDocument(streams.Out, f.output, results)
	}
	for _, r := range results {
		fmt.Fprintln(streams.Out, terminal.Printable(r.Component+":"+r.Version))
	}
	return nil
}
