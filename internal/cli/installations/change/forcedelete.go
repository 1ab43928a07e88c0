package change

import (
	"fmt"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
	"go.landscaper.dev/internal/landscape/requests"
)

// NewForceDeleteCommand returns the command that removes a tree without uninstalling.
func NewForceDeleteCommand(streams terminal.Streams) *cobra.Command {
	f := &connection.Flags{}
	yes, dryRun := false, false
	command := &cobra.Command{
		Use:     "force-delete NAME",
		Aliases: []string{"fd"},
		Short:   "Delete an Installation and its tree without uninstalling anything",
		Long: `Delete an Installation with its subinstallations, Executions and DeployItems by
removing their finalizers. Nothing is uninstalled: what was deployed stays on its
clusters, and is not managed any more. It is the last resort; the gentle way is
delete, or delete --without-uninstall.

On a terminal, the command asks before it begins.`,
		Example: `  # what would be deleted?
  landscaper-cli installations force-delete shop --dry-run

  landscaper-cli inst force-delete shop --yes`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			on, err := f.Connect()
			if err != nil {
				return err
			}
			snapshot, err := reading.Collect(command.Context(), on.Client, on.Namespace)
			if err != nil {
				return on.Explain(fmt.Errorf("cannot collect installation: %w", err))
			}
			if len(snapshot.Unreadable) > 0 {
				return fmt.Errorf("the tree is not complete: %w", snapshot.Unreadable[0])
			}
			tree := inspect.Tree(snapshot, on.Namespace, args[0])
			if tree == nil {
				return fmt.Errorf("cannot collect installation: %w", on.Missing(args[0]))
			}
			steps := requests.ForcedRemovals(tree)
			if dryRun {
				for _, step := range steps {
					fmt.Fprintf(streams.Out, "- would delete %s %s\n", step.Kind, terminal.Printable(step.Object.GetName()))
				}
				return nil
			}
			question := fmt.Sprintf("Delete %d objects without uninstalling what they have deployed?", len(steps))
			if err := streams.Confirm(question, yes); err != nil {
				return err
			}
			if err := requests.ForceDelete(command.Context(), on.Client, steps, func(line string) { fmt.Fprintln(streams.Out, terminal.Printable(line)) }); err != nil {
				return on.Explain(err)
			}
			fmt.Fprintln(streams.Out, "All objects deleted")
			return nil
		},
		ValidArgsFunction: connection.CompleteInstallations(f, 1),
	}
	f.Add(command)
	command.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	command.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would be deleted")
	return command
}
