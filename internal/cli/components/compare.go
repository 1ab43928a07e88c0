package components

import (
	"context"

	"github.com/spf13/cobra"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/compare"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/upgrade"
)

type compareFlags struct {
	commonFlags
	show compare.Flags
}

func newCompareCommand(streams terminal.Streams) *cobra.Command {
	f := &compareFlags{}
	command := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Say what a new version of a component breaks",
		Long: `Compare the blueprints of two component versions: their imports and exports, with types,
conditions, defaults and schemas. Resources and component references that are not there any
more are named as well. OLD and NEW are component versions, REPOSITORY//COMPONENT:VERSION;
in an archive, what is the only one may be left out.

` + compare.Help,
		Example: `  landscaper-cli components compare registry.example.org/delivery//example.org/shop:1.4.2 ./transport.tgz
  landscaper-cli components compare registry.example.org/delivery//example.org/shop:1.4.2 \
    registry.example.org/delivery//example.org/shop:1.5.0 -A`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			if err := f.show.Check(); err != nil {
				return err
			}
			return f.compare(command.Context(), streams, args[0], args[1])
		},
	}
	f.Flags.Add(command)
	command.Flags().DurationVar(&f.timeout, "timeout", 0, "limit for the whole command, such as 10m; 0 means none")
	f.show.Add(command)
	return command
}

func (f *compareFlags) compare(ctx context.Context, streams terminal.Streams, older, newer string) error {
	f.outputs = []string{outputText} // the output is that of the comparison
	return f.withTarget(ctx, streams, []string{older}, func(ctx context.Context, first *opened) error {
		return f.withTarget(ctx, streams, []string{newer}, func(ctx context.Context, second *opened) error {
			before, err := first.component(ctx)
			if err != nil {
				return err
			}
			after, err := second.component(ctx)
			if err != nil {
				return err
			}
			findings, err := upgrade.Components(ctx, before, after)
			if err != nil {
				return err // names the blueprint
			}
			versions := compare.Versions{Older: older, Newer: newer, Used: upgrade.Used{Component: before.Version.Name}}
			return f.show.Report(ctx, streams, versions, findings)
		})
	})
}

// component returns the component version with access to what belongs to it.
func (o *opened) component(ctx context.Context) (*plan.Component, error) {
	return openComponent(ctx, o.session, o.target.ComponentVersion)
}

func openComponent(ctx context.Context, session *repositories.Session, version repositories.ComponentVersion) (*plan.Component, error) {
	return plan.OpenComponent(ctx, session.Session, &v1alpha1.ComponentDescriptorDefinition{
		Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: version.Name, Version: version.Version},
	})
}
