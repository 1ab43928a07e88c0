// Package blueprints has the commands that render, check and publish blueprints.
// They need no cluster.
package blueprints

import (
	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/terminal"
)

const help = `Render, check and publish blueprints. No cluster is needed.

A SOURCE is one of
  ./blueprint                      a directory with blueprint.yaml, or that file
  ./blueprint.tgz                  an archive of one: tar, compressed with gzip, bzip2, xz or zstd, or not
  REPOSITORY//COMPONENT:VERSION    a component version; its REPOSITORY is a registry, an archive or a
                                   directory, as "components --help" explains
  oci://registry.example.org/shop:1.0.0    an artifact of a registry, as "blueprints push" writes it`

// NewCommand returns the command with its subcommands.
func NewCommand(streams terminal.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:     "blueprints",
		Aliases: []string{"blueprint", "blue", "bp"},
		Short:   "Render, check and publish blueprints, without a cluster",
		Long:    help,
		Args:    terminal.Subcommand,
		RunE:    func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newNewCommand(streams), newRenderCommand(streams), newValidateCommand(streams), newCompareCommand(streams), newGetCommand(streams), newPushCommand(streams))
	return command
}
