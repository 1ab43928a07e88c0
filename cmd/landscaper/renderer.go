package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/server"
)

// newRenderCommand is what the server starts for foreign work. No user calls it.
func newRenderCommand() *cobra.Command {
	return &cobra.Command{
		Use:    sandbox.Command + " BYTES",
		Short:  "Carry out foreign work for a server",
		Hidden: true,
		Args:   commandline.Arguments,
		RunE: func(_ *cobra.Command, args []string) error {
			memory, err := strconv.ParseUint(args[0], 10, 63)
			if err != nil {
				return fmt.Errorf("%q is not a number of bytes", args[0])
			}
			return server.Render(os.Stdin, os.Stdout, memory)
		},
	}
}
