// Command landscaper-cli shows and drives Landscaper's Installations.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // schedules have time zones, and images and Windows have none

	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/foreign"
	"go.landscaper.dev/internal/cli/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	program, err := foreign.Program()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(terminal.ExitFailed)
	}
	code := cli.Run(foreign.With(ctx, program), terminal.Standard(), os.Args[0], os.Args[1:])
	stop()
	os.Exit(code)
}
