package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// strictAnnotation marks commands that no older release had: their exit codes
// tell more than failure.
const strictAnnotation = "landscaper-cli/strict-exit-codes"

// StrictFlag is the global flag that makes all commands strict.
const StrictFlag = "strict-exit-codes"

// ErrTimeout is the cause of a context whose time limit is over.
var ErrTimeout = errors.New("timeout")

// Run runs a command line below a root command and returns its exit code.
func Run(ctx context.Context, root *cobra.Command, streams Streams, args []string) int {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		if args := command.Flags().Args(); command.HasSubCommands() && len(args) > 0 {
			// The flag is that of a command which does not exist.
			err = unknown(command, args[0])
		}
		return Usage(err)
	})
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err != nil && !errors.Is(err, errSilent) {
		// Messages repeat what blueprints, descriptors and servers say.
		fmt.Fprintln(streams.Err, "Error:", PrintableLines(err.Error()))
	}
	return ExitCode(err, strict(command, streams))
}

func strict(command *cobra.Command, streams Streams) bool {
	if streams.Getenv(ExitCodesVariable) == "2" {
		return true
	}
	if asked, err := command.Flags().GetBool(StrictFlag); err == nil && asked {
		return true
	}
	return command.Annotations[strictAnnotation] == "true"
}

// BeStrict lets a command end with the whole table of exit codes.
func BeStrict(command *cobra.Command) {
	if command.Annotations == nil {
		command.Annotations = map[string]string{}
	}
	command.Annotations[strictAnnotation] = "true"
}

// Usage gives an error the exit code of a wrong command line, unless it has one.
func Usage(err error) error {
	var exit *ExitError
	if err == nil || errors.As(err, &exit) {
		return err
	}
	return &ExitError{Code: ExitUsage, Err: err}
}

// Arguments lets a wrong number of arguments end as wrong usage.
func Arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error { return Usage(check(command, args)) }
}

// Subcommand is for commands that only hold others.
func Subcommand(group *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(unknown(group, args[0]))
}

// unknown names a command that a group does not have, and the one that was perhaps meant.
func unknown(group *cobra.Command, name string) error {
	err := fmt.Errorf("unknown command %q for %q", name, group.CommandPath())
	group.SuggestionsMinimumDistance = 2
	if names := group.SuggestionsFor(name); len(names) > 0 {
		return fmt.Errorf("%w: did you mean %s?", err, strings.Join(names, " or "))
	}
	return err
}

// CompleteWith proposes values for a flag of a command, and no files.
func CompleteWith(command *cobra.Command, flag string, values ...string) {
	// A flag that is missing is missed long before someone presses tab.
	_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// WithTimeout ends a context with ErrTimeout after some time; 0 means never.
func WithTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, ErrTimeout)
}

// Pairs reads the values of a flag that has the form name=value.
func Pairs(flag string, texts []string) (map[string]string, error) {
	values := map[string]string{}
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%s %q: write a name, = and a value", flag, text)
		}
		values[name] = value
	}
	return values, nil
}
