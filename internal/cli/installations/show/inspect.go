// Package show has the commands that show how Installations stand, what happened, and how
// values flow between them.
package show

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/treeview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
)

type inspectFlags struct {
	connection.Flags
	output         outputFlags
	allNamespaces  bool
	failed         bool
	strict         bool
	watch          bool
	until          string
	showExecutions bool
	noColor, ascii bool
	names          string
	tree           treeview.Options
	// wrong says what is wrong beside the trees; nil for nothing.
	wrong func() string
}

const inspectExamples = `  # all Installations of the namespace of the current context
  landscaper-cli installations inspect

  # one Installation and what belongs to it, with what it deploys
  landscaper-cli inst inspect shop -n shop -o wide

  # only what failed, does not go on or has warnings, everywhere
  landscaper-cli inst inspect -A -f

  # follow until everything has ended
  landscaper-cli inst inspect shop --watch --until finished`

// NewInspectCommand returns the command that shows Installations as trees.
func NewInspectCommand(streams terminal.Streams) *cobra.Command {
	f := &inspectFlags{}
	command := &cobra.Command{
		Use:     "inspect [NAME]",
		Aliases: []string{"i", "status"},
		Short:   "Show Installations with all that belongs to them as trees",
		Long: `Show Installations with their subinstallations, Executions and DeployItems.

Without NAME, all root Installations of the namespace are shown. An object is
outdated if the job of the root has not reached it. What is wrong, or waited for, stands
below the root, and the way to it after. [?] marks an object that is
referred to and does not exist, (orphaned) a subinstallation without a parent.`,
		Example: inspectExamples,
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			if f.strict || f.watch {
				terminal.BeStrict(command)
			}
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return f.run(command.Context(), streams, name)
		},
		ValidArgsFunction: connection.CompleteInstallations(&f.Flags, 1),
	}
	f.Add(command)
	flags := command.Flags()
	f.output.add(flags)
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "show the Installations of all namespaces")
	flags.BoolVarP(&f.tree.Details, "show-details", "d", false, "show every object as YAML")
	flags.BoolVarP(&f.failed, "show-failed", "f", false, "show only what failed, does not go on or has warnings, and what leads there")
	flags.BoolVarP(&f.showExecutions, "show-executions", "e", false, "has no effect")
	// The flag exists: it was just defined.
	_ = flags.MarkHidden("show-executions")
	flags.BoolVar(&f.tree.HideExecutions, "hide-executions", false, "show DeployItems directly below their Installation")
	flags.StringVar(&f.names, "names", string(treeview.ObjectNames), "object, or template to show the names in the blueprint as well")
	flags.BoolVar(&f.tree.NoWrap, "no-wrap", false, "do not cut long lines")
	flags.BoolVar(&f.noColor, "no-color", false, "do not colour the output of a terminal")
	flags.BoolVar(&f.ascii, "ascii", false, "draw with ASCII characters")
	flags.BoolVar(&f.strict, "strict", false, "end with code 4 if permissions are missing for a part of the tree")
	flags.BoolVarP(&f.watch, "watch", "W", false, "follow the changes; without a terminal, print a line for each")
	flags.StringVar(&f.until, "until", "", "with --watch: finished ends when all shown Installations have ended")
	terminal.CompleteWith(command, "output", string(outputWide), string(outputYAML), string(outputJSON), string(outputTreeJSON))
	terminal.CompleteWith(command, "names", string(treeview.ObjectNames), string(treeview.TemplateNames))
	terminal.CompleteWith(command, "until", string(inspect.GoalFinished))
	return command
}

func (f *inspectFlags) run(ctx context.Context, streams terminal.Streams, name string) error {
	if err := f.check(name); err != nil {
		return terminal.Usage(err)
	}
	on, err := f.Connect()
	if err != nil {
		return err
	}
	if f.watch {
		return f.follow(ctx, streams, on, name)
	}
	snapshot, err := reading.Collect(ctx, on.Client, f.scope(on))
	if err != nil {
		return on.Explain(fmt.Errorf("cannot collect installation: %w", err))
	}
	trees, err := f.trees(snapshot, on, name)
	if err != nil {
		return err
	}
	trees = f.chosen(trees)
	if len(trees) == 0 && !f.failed {
		f.sayNothingFound(streams, on)
	}
	connection.WarnUnreadable(streams.Err, "the tree is not complete", snapshot)
	if err := f.print(streams, trees); err != nil {
		return err
	}
	if f.strict && len(snapshot.Unreadable) > 0 {
		return terminal.Exitf(terminal.ExitForbidden, "the tree is not complete: permissions are missing")
	}
	return nil
}

func (f *inspectFlags) check(name string) error {
	if err := f.output.check(); err != nil {
		return err
	}
	switch {
	case f.allNamespaces && name != "":
		return errors.New("the --all-namespaces option cannot be used when an installation name is provided")
	case f.names != string(treeview.ObjectNames) && f.names != string(treeview.TemplateNames):
		return fmt.Errorf("invalid option for '--names' flag: %q: use object or template", f.names)
	case f.until != "" && f.until != string(inspect.GoalFinished):
		return fmt.Errorf("invalid option for '--until' flag: %q: use finished", f.until)
	case f.until != "" && !f.watch:
		return errors.New("--until needs --watch")
	case f.watch && f.output.mode.structured():
		return errors.New("--watch shows trees only: leave out -o")
	}
	return nil
}

// scope is the namespace to read; empty means all.
func (f *inspectFlags) scope(on *connection.Connection) string {
	if f.allNamespaces {
		return ""
	}
	return on.Namespace
}

func (f *inspectFlags) trees(snapshot inspect.Snapshot, on *connection.Connection, name string) ([]*inspect.Node, error) {
	var trees []*inspect.Node
	if name == "" {
		trees = inspect.Forest(snapshot)
	} else {
		found := inspect.Tree(snapshot, on.Namespace, name)
		if found == nil {
			return nil, fmt.Errorf("cannot collect installation: %w", on.Missing(name))
		}
		trees = []*inspect.Node{found}
	}
	return trees, nil
}

// chosen are the trees, and the objects in them, that the user wants to see.
func (f *inspectFlags) chosen(trees []*inspect.Node) []*inspect.Node {
	if f.failed {
		return inspect.Troubled(trees)
	}
	return trees
}

func (f *inspectFlags) sayNothingFound(streams terminal.Streams, on *connection.Connection) {
	if f.allNamespaces {
		fmt.Fprintln(streams.Err, "No installations found in any namespace.")
		return
	}
	fmt.Fprintf(streams.Err, "No installations found in namespace %s.\n", on.Namespace)
}

func (f *inspectFlags) print(streams terminal.Streams, trees []*inspect.Node) error {
	if f.output.mode.structured() {
		return f.output.mode.write(streams.Out, trees)
	}
	return treeview.Write(streams.Out, trees, f.treeOptions(streams))
}

func (f *inspectFlags) treeOptions(streams terminal.Streams) treeview.Options {
	options := f.tree
	options.Wide = f.output.mode == outputWide
	options.Namespaces = f.allNamespaces
	options.Names = treeview.Names(f.names)
	options.ASCII = f.ascii || streams.ASCII()
	options.Color = !f.noColor && streams.Color()
	options.Columns = streams.Columns()
	return options
}
