// Command landscaper-cli is the command line tool of Landscaper.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/spiff"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := &cobra.Command{
		Use:           "landscaper-cli",
		Short:         "Work with Landscaper from the command line",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(spiff.NewCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
