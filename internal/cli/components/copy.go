package components

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/repository"
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
Resources that are elsewhere, such as images, stay there, unless --by-value stores them
with the component version.

What is there is not copied again: a copy that was interrupted is repeated, and goes on
where it was. A version that exists with other content is not replaced, unless
--overwrite is given.

` + help,
		Example: `  landscaper-cli components copy registry.example.org/delivery example.org/shop/web 1.4.2 ./transport.tgz --recursive --by-value --create
  landscaper-cli components copy ./transport.tgz//example.org/shop/web:1.4.2 mirror.example.org/delivery -R`,
		Args: terminal.Arguments(needsTarget("TARGET")),
		RunE: func(command *cobra.Command, args []string) error {
			if f.parallel < 1 {
				return terminal.Usage(fmt.Errorf("--parallel %d: at least one content is copied at a time", f.parallel))
			}
			to := args[len(args)-1]
			at, err := repositories.Destination(to, f.create)
			if err != nil {
				return err
			}
			return f.withTarget(command.Context(), streams, args[:len(args)-1], func(ctx context.Context, o *opened) error {
				return f.copy(ctx, streams, o, at)
			})
		},
	}
	f.add(command, outputText, outputJSON, outputYAML)
	command.ValidArgsFunction = completeCopy
	flags := command.Flags()
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "copy all referenced component versions, too")
	flags.BoolVarP(&f.byValue, "by-value", "V", false, "store resources that are elsewhere, such as images, with the component version")
	flags.BoolVar(&f.create, "create", false, "make the archive if it is not there")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace versions that exist with other content")
	flags.IntVar(&f.parallel, "parallel", 4, "how many contents are copied at the same time")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not show progress")
	return command
}

func (f *copyFlags) copy(ctx context.Context, streams terminal.Streams, o *opened, at repositories.Location) error {
	all, err := o.versions(ctx, f.recursive)
	if err != nil {
		return err
	}
	writer, err := o.access.Writer(at)
	if err != nil {
		return err
	}
	progress := repositories.NewTransfer(streams, f.quiet)
	defer progress.End()
	reader := *o.session.Reader()
	reader.Progress = progress.Reading
	how := publish.Copying{
		Options: publish.Options{Target: progress.Target(writer.Target), Spec: at.Spec, Overwrite: f.overwrite, Progress: progress.Say},
		Reader:  &reader, ByValue: f.byValue, Parallel: f.parallel,
	}
	if at.Spec.Kind == repository.KindOCI {
		how.Context = at.Context
	}
	copied, err := f.each(ctx, all, how)
	if err == nil {
		err = writer.Finish()
	}
	if err = errors.Join(err, writer.Close()); err != nil {
		return overwriteHint(err)
	}
	progress.End()
	for _, c := range copied {
		for _, reason := range c.Elsewhere {
			fmt.Fprintf(streams.Err, "Warning: a content of %s:%s stays where it is: %s\n", c.Name, c.Version, terminal.Printable(reason))
		}
	}
	return f.reportPublished(streams, "Copied %s to %s", at, copied)
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
