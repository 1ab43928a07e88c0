// Command landscaper-cli shows and drives Landscaper's Installations.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, terminal.Standard(), os.Args[0], os.Args[1:])
	stop()
	os.Exit(code)
}
