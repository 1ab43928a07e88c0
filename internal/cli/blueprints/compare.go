package blueprints

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/compare"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/blueprint/compatibility"
	"go.landscaper.dev/internal/landscape/upgrade"
)

type compareFlags struct {
	sourceFlags
	show      compare.Flags
	component string
}

func newCompareCommand(streams terminal.Streams) *cobra.Command {
	f := &compareFlags{}
	command := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Say what a new version of a blueprint breaks",
		Long: `Compare the imports and exports of two versions of a blueprint: their names, types, target
types, conditions, defaults and schemas. OLD and NEW are SOURCEs, as "blueprints --help"
explains. -c names the component of those that are directories or archives.

` + compare.Help,
		Example: `  landscaper-cli blueprints compare ./released/blueprint ./blueprint
  landscaper-cli blueprints compare registry.example.org/delivery//example.org/shop:1.4.2 ./blueprint -A`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			if err := f.show.Check(); err != nil {
				return err
			}
			return f.compare(command.Context(), streams, args[0], args[1])
		},
	}
	f.add(command)
	f.show.Add(command)
	command.Flags().StringVar(&f.component, "component", "", "name of the component whose Installations are looked for (default: that of a SOURCE)")
	return command
}

// of returns the flags for one of the sources: those that do not fit it are for the other one.
func (f *compareFlags) of(text string) *sourceFlags {
	own := f.sourceFlags
	if _, _, _, isComponent := repositories.SplitComponent(text); isComponent {
		own.descriptor, own.additional, own.resources = "", nil, ""
	} else {
		own.resource = ""
	}
	return &own
}

func (f *compareFlags) check(older, newer string) error {
	if err := errors.Join(f.of(older).check(older), f.of(newer).check(newer)); err != nil {
		return err
	}
	first, second := f.of(older), f.of(newer)
	switch {
	case f.descriptor != "" && first.descriptor == "" && second.descriptor == "":
		return errors.New("-c names the component of a directory or archive, and both sources name one: leave it out")
	case f.resource != "" && first.resource == "" && second.resource == "":
		return errors.New("--resource chooses among the resources of a component version, and no source is one")
	}
	return nil
}

func (f *compareFlags) compare(ctx context.Context, streams terminal.Streams, older, newer string) error {
	if err := f.check(older, newer); err != nil {
		return terminal.Usage(err)
	}
	return f.of(older).with(ctx, streams, older, func(ctx context.Context, first *source) error {
		return f.of(newer).with(ctx, streams, newer, func(ctx context.Context, second *source) error {
			findings, err := compatibility.Compare(ctx, upgrade.Version(first.blueprint, first.component), upgrade.Version(second.blueprint, second.component))
			if err != nil {
				return fmt.Errorf("compare %s with %s: %w", older, newer, err)
			}
			versions := compare.Versions{Older: older, Newer: newer, Used: f.used(first, second)}
			return f.show.Report(ctx, streams, versions, findings)
		})
	})
}

// used names what Installations refer to if they use the blueprint.
func (f *compareFlags) used(sources ...*source) upgrade.Used {
	used := upgrade.Used{Component: f.component}
	for _, s := range sources {
		if s.component == nil {
			continue
		}
		if used.Component == "" {
			used.Component = s.component.Version.Name
		}
		if used.Blueprint == "" && s.reference != nil {
			used.Blueprint = s.reference.ResourceName
		}
	}
	return used
}
