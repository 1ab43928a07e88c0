// Command landscaper is the server of Landscaper: its controllers, its deployers
// and the installer of its API.
package main

import (
	"context"
	"os"
	"time"
	_ "time/tzdata" // schedules have time zones, and images and Windows have none

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/foreign"
	"go.landscaper.dev/internal/server/process"
)

func main() { os.Exit(process.Execute(newCommand())) }

func newCommand() *cobra.Command {
	command := &cobra.Command{
		Use:           "landscaper",
		Short:         "Bring up landscapes of software across many Kubernetes clusters",
		Version:       version.String(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	command.AddCommand(newInstallCommand(), newRunCommand(), newCheckCommand(), foreign.NewCommand())
	commandline.RefuseNegative(command)
	return command
}

// contextWithTimeout returns a context that ends after a time; 0 means never.
func contextWithTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}
