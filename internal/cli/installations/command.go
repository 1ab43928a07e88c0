// Package installations has the commands that show, start, interrupt and await
// Installations.
package installations

import (
	"slices"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/installations/await"
	"go.landscaper.dev/internal/cli/installations/change"
	"go.landscaper.dev/internal/cli/installations/jobs"
	"go.landscaper.dev/internal/cli/installations/plan"
	"go.landscaper.dev/internal/cli/installations/show"
	"go.landscaper.dev/internal/cli/terminal"
)

// NewCommand returns the command with its subcommands; more are those that other
// packages bring.
func NewCommand(streams terminal.Streams, more ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use:     "installations",
		Aliases: []string{"installation", "inst", "i"},
		Short:   "Show, plan, create, change, run, await and delete Installations",
		Long: `Show Installations and what belongs to them (inspect, events, logs, graph), their past
(history, diff), see before what a job would change (plan), create and change them (create,
apply, set-import, rollback), start, repeat, end and stop their jobs (reconcile, rerun,
interrupt, pause, resume), wait for them (wait), and delete them (delete, force-delete).`,
		Args: terminal.Subcommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(used(streams)...)
	command.AddCommand(more...)
	command.AddCommand(
		change.NewApplyCommand(streams),
		change.NewSetImportCommand(streams),
		change.NewSetImportParametersCommand(streams),
		jobs.NewHistoryCommand(streams),
		jobs.NewDiffCommand(streams),
		change.NewRerunCommand(streams),
		change.NewRollbackCommand(streams),
		change.NewPauseCommand(streams),
		change.NewResumeCommand(streams),
		change.NewDeleteCommand(streams),
		change.NewForceDeleteCommand(streams),
	)
	return command
}

// ShortCommands returns the short forms of what is used most, for the root.
func ShortCommands(streams terminal.Streams) []*cobra.Command {
	all := used(streams)
	for _, command := range all {
		command.Short += " (short for installations " + command.Name() + ")"
		// The root already has the alias i.
		command.Aliases = slices.DeleteFunc(command.Aliases, func(alias string) bool { return alias == "i" })
	}
	return all
}

// used are the commands that also have a short form.
func used(streams terminal.Streams) []*cobra.Command {
	return []*cobra.Command{
		show.NewInspectCommand(streams),
		change.NewReconcileCommand(streams),
		change.NewInterruptCommand(),
		await.NewCommand(streams),
		show.NewEventsCommand(streams),
		show.NewLogsCommand(streams),
		show.NewGraphCommand(streams),
		plan.NewCommand(streams),
	}
}
