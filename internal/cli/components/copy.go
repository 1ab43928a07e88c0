package components

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/component/publish"
	"go.landscaper.dev/internal/component/repository"
)

type copyFlags struct {
	commonFlags
	recursive, byValue       bool
	create, overwrite, quiet bool
	parallel                 int
}

func newCopyCommand(streams terminal.Streams) *cobra.Command {
	f := &copyFlags{}
	command := &cobra.Command{
		Use:     "copy REPOSITORY COMPONENT VERSION TARGET",
		Aliases: []string{"transfer"},
		Short:   "Copy a component version into another repository",
		Long: `Copy a component version into another repository, with all that is stored with it; its
digests and signatures stay valid. --recursive copies what it refers to, and that first.
Images that are elsewhere stay there, unless --by-value stores them with the component
version.

What is there is not copied again: a copy that was interrupted is repeated. A version
that exists with other content is not replaced, unless --overwrite is given.

` + help,
		Example: `  landscaper-cli components copy registry.example.org/delivery example.org/shop/web 1.4.2 ./transport.tgz --recursive --by-value --create
  landscaper-cli components copy ./transport.tgz//example.org/shop/web:1.4.2 mirror.example.org/delivery -R`,
		Args: terminal.Arguments(needsTarget("TARGET")),
		RunE: func(command *cobra.Command, args []string) error {
			return f.run(command.Context(), streams, func(ctx context.Context, access *repositories.Access) error {
				return f.copy(ctx, streams, access, args[:len(args)-1], args[len(args)-1])
			})
		},
	}
	f.add(command, outputText, outputJSON, outputYAML)
	flags := command.Flags()
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "copy all referenced component versions, too")
	flags.BoolVarP(&f.byValue, "by-value", "V", false, "store images that are elsewhere with the component version")
	flags.BoolVar(&f.create, "create", false, "make the archive if it is not there")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace versions that exist with other content")
	flags.IntVar(&f.parallel, "parallel", 4, "how many contents are copied at the same time")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not show progress")
	return command
}

func (f *copyFlags) copy(ctx context.Context, streams terminal.Streams, access *repositories.Access, args []string, to string) error {
	if f.parallel < 1 {
		return terminal.Usage(fmt.Errorf("--parallel %d: at least one content is copied at a time", f.parallel))
	}
	wanted, err := targetOf(args)
	if err != nil {
		return err
	}
	at, err := repositories.Destination(to, f.create)
	if err != nil {
		return err
	}
	session, err := access.Session(wanted.Location)
	if err != nil {
		return err
	}
	defer session.Close() //nolint:errcheck // nothing was written
	version, err := wanted.resolve(ctx, streams, session)
	if err != nil {
		return err
	}
	all := []*repository.Version{version}
	if f.recursive {
		if all, err = session.Closure(ctx, version, wanted.Context); err != nil {
			return err
		}
	}
	opened, err := access.Writer(at)
	if err != nil {
		return err
	}
	progress := repositories.NewTransfer(streams, f.quiet)
	defer progress.End()
	how := publish.Copying{
		Options: publish.Options{Target: progress.Target(opened.Target), Spec: at.Spec, Overwrite: f.overwrite, Progress: progress.Say},
		Reader:  session.Reader(), ByValue: f.byValue, Parallel: f.parallel,
	}
	if at.Spec.Kind == repository.KindOCI {
		how.Context = at.Context
	}
	copied, err := f.each(ctx, all, how)
	if err == nil {
		err = opened.Finish()
	}
	if err = errors.Join(err, opened.Close()); err != nil {
		if errors.Is(err, publish.ErrExists) {
			return fmt.Errorf("%w (--overwrite)", err)
		}
		return err
	}
	progress.End()
	return f.report(streams, at, copied)
}

// each copies component versions, the last one first: what refers to others comes
// when they are there.
func (f *copyFlags) each(ctx context.Context, all []*repository.Version, how publish.Copying) ([]publish.Published, error) {
	var copied []publish.Published
	for i := len(all) - 1; i >= 0; i-- {
		one, err := publish.Copy(ctx, all[i], how)
		if err != nil {
			return nil, err
		}
		copied = append(copied, one)
	}
	return copied, nil
}

func (f *copyFlags) report(streams terminal.Streams, at repositories.Location, copied []publish.Published) error {
	results := []publishedVersion{}
	for _, c := range copied {
		results = append(results, publishedVersion{c.Name, c.Version, c.Digest, at.Text, c.Unchanged})
	}
	if f.output != outputText {
		return writeDocument(streams.Out, f.output, results)
	}
	for _, r := range results {
		what := "Copied"
		if r.Unchanged {
			what = "Unchanged:"
		}
		fmt.Fprintf(streams.Out, "%s %s:%s to %s (%s)\n", what, r.Name, r.Version, r.Repository, r.Digest)
	}
	return nil
}
