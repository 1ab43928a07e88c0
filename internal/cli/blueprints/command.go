// Package blueprints has the commands that render and check blueprints without a
// cluster.
package blueprints

import (
	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/terminal"
)

// NewCommand returns the command with its subcommands.
func NewCommand(streams terminal.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:     "blueprints",
		Aliases: []string{"blueprint", "blue", "bp"},
		Short:   "Render and check blueprints, without a cluster",
		Args:    terminal.Arguments(cobra.NoArgs),
	}
	command.AddCommand(newRenderCommand(streams), newValidateCommand(streams))
	return command
}
