// Package installations has the commands that show, start, interrupt and await
// Installations.
package installations

import (
	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/installations/await"
	"go.landscaper.dev/internal/cli/terminal"
)

// form says where in the tree of commands a command stands.
type form bool

const (
	// groupForm is a command below installations.
	groupForm form = false
	// shortForm is the same command directly below the root.
	shortForm form = true
)

// NewCommand returns the command with its subcommands; more are those that other
// packages bring.
func NewCommand(streams terminal.Streams, more ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use:     "installations",
		Aliases: []string{"installation", "inst", "i"},
		Short:   "Show, plan, create, change, run, await and delete Installations",
		Long: `Show Installations and what belongs to them (inspect, events, logs, graph), see before
what a job would change (plan), create and change them (create, apply, set-import), start,
repeat and end their jobs (reconcile, rerun, interrupt), wait for them (wait), and delete
them (delete, force-delete).`,
		Args: terminal.Subcommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(used(streams, groupForm)...)
	command.AddCommand(more...)
	command.AddCommand(
		newApplyCommand(streams),
		newSetImportCommand(streams),
		newSetImportParametersCommand(streams),
		newRerunCommand(streams),
		newDeleteCommand(streams),
		newForceDeleteCommand(streams),
	)
	return command
}

// ShortCommands returns the short forms of what is used most, for the root.
func ShortCommands(streams terminal.Streams) []*cobra.Command {
	all := used(streams, shortForm)
	for _, command := range all {
		command.Short += " (short for installations " + command.Name() + ")"
	}
	return all
}

// used are the commands that also have a short form.
func used(streams terminal.Streams, form form) []*cobra.Command {
	return []*cobra.Command{
		newInspectCommand(streams, form),
		newReconcileCommand(streams),
		newInterruptCommand(),
		await.NewCommand(streams),
		newEventsCommand(streams),
		newLogsCommand(streams),
		newGraphCommand(streams),
		newPlanCommand(streams),
	}
}
