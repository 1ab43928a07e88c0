// Package localrun has the command that brings up the landscape of a folder in memory.
package localrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/foreign"
	"go.landscaper.dev/internal/cli/installations/show"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/local"
	"go.landscaper.dev/internal/local/folder"
)

type flags struct {
	rules    string
	set      []string
	output   string
	watch    bool
	registry bool
	timeout  time.Duration
	view     show.View
	verbose  bool
}

// NewCommand returns the command with its subcommands.
func NewCommand(streams terminal.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "local",
		Short: "Bring up a landscape without a cluster",
		Long:  "Bring up the landscape of a folder in memory: with the controllers and deployers of this release, and without a cluster.",
		Args:  terminal.Subcommand,
		RunE:  func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newRunCommand(streams))
	return command
}

func newRunCommand(streams terminal.Streams) *cobra.Command {
	f := &flags{}
	command := &cobra.Command{
		Use:   "run DIRECTORY",
		Short: "Bring up the landscape of a folder in memory",
		Long: `Bring up the landscape of a folder in memory, with the controllers and deployers of this
release: one cluster for the Installations, and one for each Target. The trees are shown as
by "installations inspect --watch". The command ends when all Installations have ended: with
code 2 if one has failed, with code 5 if the time is over.

The folder has Installations, Contexts, Targets, DataObjects, ConfigMaps, Secrets, and
constructors of components with their blueprints. Contexts and Targets that are missing are
made up. The file local.yaml says what only a cluster can know: when objects become ready,
what appears beside them, which calls fail. Without it, workloads and objects of Flux are
ready at once.

Nothing outside of the folder is read, nothing is served, and nothing leaves this machine
unless --registry allows it.`,
		Example: `  landscaper-cli local run ./landscape

  # the values of variables in the manifests
  landscaper-cli local run ./landscape --set NAMESPACE=shop --set VERSION=1.2.0

  # go on, and deploy again when a file has changed
  landscaper-cli local run ./landscape --watch

  # what is on the clusters at the end
  landscaper-cli local run ./landscape -o json`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return terminal.Usage(err)
			}
			return f.run(command.Context(), streams, args[0])
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	flags := command.Flags()
	flags.StringVar(&f.rules, "rules", "", "`file` of the folder with rules (default: local.yaml, if there is one)")
	flags.StringArrayVar(&f.set, "set", nil, "NAME=VALUE of a variable ${NAME} in manifests and constructors; may be repeated")
	flags.StringVarP(&f.output, "output", "o", "", "json for what is on the clusters at the end (default: the trees, live)")
	flags.BoolVarP(&f.watch, "watch", "W", false, "go on when all have ended, and deploy again when a file of the folder has changed")
	flags.BoolVar(&f.registry, "registry", false, "read components and charts from registries, wherever you could")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Minute, "limit for the time until all have ended; 0 means none")
	flags.BoolVar(&f.view.Wide, "wide", false, "show what is deployed")
	flags.BoolVar(&f.view.NoColor, "no-color", false, "do not colour the output of a terminal")
	flags.BoolVar(&f.view.ASCII, "ascii", false, "draw with ASCII characters")
	flags.BoolVar(&f.verbose, "logs", false, "write what the controllers log to the standard error")
	terminal.CompleteWith(command, "output", "json")
	terminal.BeStrict(command)
	return command
}

func (f *flags) check() error {
	switch {
	case f.output != "" && f.output != "json":
		return fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use json", f.output)
	case f.output != "" && f.watch:
		return errors.New("--watch shows trees only: leave out -o")
	}
	return nil
}

// read reads the folder.
func (f *flags) read(directory string) (*folder.Content, error) {
	variables, err := terminal.Pairs("--set", f.set)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	info, err := os.Stat(directory)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, terminal.Exitf(terminal.ExitNotFound, "there is no folder %s", directory)
	case err != nil:
		return nil, fmt.Errorf("open the folder: %w", err)
	case !info.IsDir():
		return nil, terminal.Usage(fmt.Errorf("%s is not a folder: name the folder with the manifests", directory))
	}
	return folder.Read(directory, folder.Options{Rules: f.rules, Variables: variables})
}

func (f *flags) run(ctx context.Context, streams terminal.Streams, directory string) error {
	// What changes while the folder is read is a change as well.
	before := fingerprint(directory)
	content, err := f.read(directory)
	if err != nil {
		return err
	}
	if !hasInstallations(content) {
		return terminal.Exitf(terminal.ExitNotFound, "there is no Installation in the folder %s", directory)
	}
	for _, warning := range content.Warnings {
		fmt.Fprintln(streams.Err, "Warning:", terminal.OneLine(warning))
	}
	limit := f.timeout
	if f.watch {
		limit = 0
	}
	ctx, cancel := terminal.WithTimeout(ctx, limit)
	defer cancel()
	options := local.Options{
		Objects: content.Objects, Definitions: content.Definitions, Components: content.Components, Behaviour: content.Rules.Behaviour,
		Online: f.registry, Changing: f.watch, Renderers: foreign.Renderers(ctx), Log: local.Discard(),
	}
	if f.verbose {
		options.Log = local.Log(terminal.Lines(streams.Err))
	}
	landscape, err := local.Start(ctx, options)
	if err != nil {
		return err
	}
	defer landscape.Close()
	for _, note := range landscape.Notes {
		fmt.Fprintln(streams.Err, terminal.OneLine(note))
	}
	on, err := connection.To(landscape.Config(), content.Rules.Namespace, "the landscape in memory")
	if err != nil {
		return err
	}
	view := f.view
	if f.watch {
		w := &watcher{read: func() (*folder.Content, error) { return f.read(directory) }, directory: directory, landscape: landscape, taken: before, errors: streams.Err}
		view.Endless, view.Wrong = true, w.wrong
		if streams.Terminal {
			w.errors = io.Discard // the picture has them
		}
		var following sync.WaitGroup
		following.Go(func() { w.follow(ctx) })
		defer following.Wait()
		defer cancel()
	}
	return f.show(ctx, streams, landscape, on, view)
}

func hasInstallations(content *folder.Content) bool {
	for _, object := range content.Objects {
		if object.GetKind() == "Installation" {
			return true
		}
	}
	return false
}

// show shows the trees until all have ended, and the result for programs.
func (f *flags) show(ctx context.Context, streams terminal.Streams, landscape *local.Landscape, on *connection.Connection, view show.View) error {
	shown := streams
	if f.output != "" {
		shown.Out, shown.Terminal = io.Discard, false
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-landscape.Failed():
			stop()
		case <-following.Done():
		}
	}()
	err := show.Follow(following, shown, on, view)
	switch {
	case errors.Is(context.Cause(ctx), terminal.ErrTimeout):
		err = terminal.Exitf(terminal.ExitTimeout, "the time is over, and not all Installations have ended: the tree shows what they wait for; allow more with --timeout")
	case following.Err() != nil && ctx.Err() == nil:
		err = nil // the problems say why
	}
	if f.output == "json" {
		if failed := terminal.WriteJSON(streams.Out, landscape.Result()); failed != nil {
			return failed
		}
	}
	if problems := landscape.Problems(); problems != nil {
		return errors.Join(problems, err)
	}
	return err
}
