// Package cli is the command line landscaper-cli: it shows and drives
// Installations.
package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"go.landscaper.dev/internal/cli/spiff"
)

// strictAnnotation marks commands that no older release had: their exit codes
// tell more than failure.
const strictAnnotation = "landscaper-cli/strict-exit-codes"

// NewCommand returns the command landscaper-cli. Further commands are added by
// one line each.
func NewCommand(streams Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "landscaper-cli",
		Short: "Show and drive Landscaper's Installations",
		Long: `landscaper-cli shows how Installations stand, starts and interrupts their jobs, and
waits for them.

Results go to the standard output, everything else to the standard error. Exit
codes: 0 success, 1 error, 2 what was waited for ended badly, 3 not found,
4 forbidden, 5 timeout, 64 wrong usage, 130 interrupted. Commands that older
releases had end with 1 instead of 2 and above, unless --strict-exit-codes is
given or ` + exitCodesVariable + ` is 2.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	addGlobalFlags(root)
	root.AddCommand(
		newInstallationsCommand(streams),
		newVersionCommand(),
		newCompletionCommand(),
		newComponentsCommand(streams),
		spiff.NewCommand(),
	)
	// The short forms of what is used most.
	root.AddCommand(installationCommands(streams, shortForm)...)
	return root
}

// Run runs the command line and returns its exit code.
func Run(ctx context.Context, streams Streams, args []string) int {
	root := NewCommand(streams)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err != nil {
		fmt.Fprintln(streams.Err, "Error:", err)
	}
	return exitCode(err, strict(command, streams))
}

func strict(command *cobra.Command, streams Streams) bool {
	if streams.Getenv(exitCodesVariable) == "2" {
		return true
	}
	if asked, err := command.Flags().GetBool("strict-exit-codes"); err == nil && asked {
		return true
	}
	return command.Annotations[strictAnnotation] == "true"
}

// beStrict lets the running command end with the whole table of exit codes.
func beStrict(command *cobra.Command) {
	if command.Annotations == nil {
		command.Annotations = map[string]string{}
	}
	command.Annotations[strictAnnotation] = "true"
}

func usage(err error) error {
	var exit *ExitError
	if err == nil || errors.As(err, &exit) {
		return err
	}
	return &ExitError{Code: ExitUsage, Err: err}
}

// arguments lets a wrong number of arguments end as wrong usage.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error { return usage(check(command, args)) }
}

func addGlobalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.Bool("strict-exit-codes", false, "tell kinds of failures apart by the exit code in all commands")
	verbosity := flags.IntP("verbosity", "v", 1, "amount of log messages about requests; 6 and above shows each one")
	for _, name := range []string{"cli", "dev", "disable-caller", "disable-stacktrace", "disable-timestamp"} {
		flags.Bool(name, false, "has no effect; accepted for older scripts")
		// The flag exists: it was just defined.
		_ = flags.MarkHidden(name)
	}
	root.PersistentPreRun = func(*cobra.Command, []string) { setVerbosity(*verbosity) }
}

// setVerbosity silences the client library, which would write about every broken
// watch, unless the user wants to see that.
func setVerbosity(level int) {
	if level <= 1 {
		klog.SetLogger(klog.New(nil))
		return
	}
	var verbosity klog.Level
	// A number is always a valid level.
	_ = verbosity.Set(fmt.Sprint(level))
}
