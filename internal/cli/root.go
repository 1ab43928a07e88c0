// Package cli is the command line landscaper-cli: it shows and drives
// Installations.
package cli

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/cli/assistant"
	"go.landscaper.dev/internal/cli/blueprints"
	"go.landscaper.dev/internal/cli/channels"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/components"
	"go.landscaper.dev/internal/cli/console"
	"go.landscaper.dev/internal/cli/doctor"
	"go.landscaper.dev/internal/cli/fleets"
	"go.landscaper.dev/internal/cli/foreign"
	"go.landscaper.dev/internal/cli/installations"
	"go.landscaper.dev/internal/cli/localrun"
	"go.landscaper.dev/internal/cli/localtest"
	"go.landscaper.dev/internal/cli/plans"
	"go.landscaper.dev/internal/cli/quickstart"
	"go.landscaper.dev/internal/cli/schemas"
	"go.landscaper.dev/internal/cli/spiff"
	"go.landscaper.dev/internal/cli/targets"
	"go.landscaper.dev/internal/cli/terminal"
)

// NewCommand returns the command landscaper-cli. Further commands are added by
// one line each.
func NewCommand(streams terminal.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   programName,
		Short: "Show and drive Landscaper's Installations, and work with blueprints and components",
		Long: `landscaper-cli shows how Installations stand and how values flow between them, tells
what a job would change, creates, changes, runs and deletes Installations, waits for
them, and checks a whole set-up. Without a cluster, it renders and checks blueprints, and
reads and publishes components.

Results go to the standard output, everything else to the standard error. Exit
codes: 0 success, 1 error, 2 what was waited for ended badly or a plan has changes,
3 not found, 4 forbidden, 5 timeout, 64 wrong usage, 130 interrupted. Commands that older
releases had end with 1 instead of 2 and above, unless --strict-exit-codes is
given or ` + terminal.ExitCodesVariable + ` is 2.`,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           version.String(),
	}
	addGlobalFlags(root)
	root.AddCommand(
		installations.NewCommand(streams, blueprints.NewCreateCommand(streams)),
		newVersionCommand(),
		newCompletionCommand(),
		blueprints.NewCommand(streams),
		components.NewCommand(streams),
		plans.NewCommand(streams),
		channels.NewCommand(streams),
		fleets.NewCommand(streams),
		targets.NewCommand(streams),
		doctor.NewCommand(streams),
		console.NewCommand(streams),
		assistant.NewCommand(streams),
		localrun.NewCommand(streams),
		localtest.NewCommand(streams),
		schemas.NewCommand(streams),
		quickstart.NewCommand(streams),
		spiff.NewCommand(),
		foreign.NewCommand(),
	)
	// The short forms of what is used most.
	root.AddCommand(installations.ShortCommands(streams)...)
	proposeNoFiles(root)
	commandline.RefuseNegative(root)
	return root
}

// Run runs the command line and returns its exit code. The program is the name of the
// file that was started: under another one, it is a plugin of kubectl.
func Run(ctx context.Context, streams terminal.Streams, program string, args []string) int {
	name, args := invoked(program, args)
	root := NewCommand(streams) //nolint:contextcheck // a command gets the context when it runs
	call(root, name)
	return terminal.Run(ctx, root, streams, args)
}

func addGlobalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.Bool(terminal.StrictFlag, false, "tell kinds of failures apart by the exit code in all commands")
	verbosity := flags.IntP("verbosity", "v", 1, "amount of log messages about requests; 6 and above shows each one")
	for _, name := range []string{"cli", "dev", "disable-caller", "disable-stacktrace", "disable-timestamp"} {
		flags.Bool(name, false, "has no effect; accepted for older scripts")
		// The flag exists: it was just defined.
		_ = flags.MarkHidden(name)
	}
	root.PersistentPreRun = func(*cobra.Command, []string) { setVerbosity(*verbosity) }
}

// setVerbosity silences the client libraries, which would write about every broken
// watch, unless the user wants to see that. One of them prints a stack trace when its
// logger is not set.
func setVerbosity(level int) {
	if level <= 1 {
		log.SetLogger(logr.Discard())
		klog.SetLogger(klog.New(nil))
		return
	}
	log.SetLogger(klog.Background())
	var verbosity klog.Level
	// A number is always a valid level.
	_ = verbosity.Set(fmt.Sprint(level))
}
