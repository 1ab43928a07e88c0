package cli

import (
	"github.com/spf13/cobra"
)

// form says where in the tree of commands a command stands.
type form bool

const (
	// groupForm is a command below installations.
	groupForm form = false
	// shortForm is the same command directly below the root.
	shortForm form = true
)

func newInstallationsCommand(streams Streams) *cobra.Command {
	command := &cobra.Command{
		Use:     "installations",
		Aliases: []string{"installation", "inst", "i"},
		Short:   "Show, start, interrupt and await Installations",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(installationCommands(streams, groupForm)...)
	return command
}

func installationCommands(streams Streams, form form) []*cobra.Command {
	commands := []*cobra.Command{
		newInspectCommand(streams, form),
		newReconcileCommand(streams),
		newInterruptCommand(),
		newWaitCommand(streams),
	}
	for _, command := range commands {
		if form == shortForm {
			command.Short += " (short for installations " + command.Name() + ")"
		}
	}
	return commands
}
