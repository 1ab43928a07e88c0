// Package localtest has the command that runs the tests of blueprints and landscapes.
package localtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/base/pattern"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/foreign"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/local/cases"
)

type flags struct {
	run, junit       string
	update, registry bool
	coverage         bool
	verbose          bool
	parallel         int
	timeout          time.Duration
}

// NewCommand returns the command.
func NewCommand(streams terminal.Streams) *cobra.Command {
	f := &flags{}
	command := &cobra.Command{
		Use:   "test [DIRECTORY]",
		Short: "Run the tests of blueprints and landscapes, without a cluster",
		Long: `Run the tests that are written in files *_test.yaml below a directory (default: the present
one). Each case brings up a blueprint or a landscape in memory, as "local run" does, and
compares phases, errors, exports, objects and what remains after the deletion with what is
expected. The command ends with code 2 if a case fails, and with code 3 without any case.

--coverage lists the branches of Go templates (if, with, range and their else), the templates of
spiff, and the conditions of imports that no case has reached.`,
		Example: `  landscaper-cli test ./blueprint

  # some cases only
  landscaper-cli test --run 'size/.*'

  # what no case has reached
  landscaper-cli test --coverage

  # accept what has changed
  landscaper-cli test --update`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			where := "."
			if len(args) > 0 {
				where = args[0]
			}
			return f.test(command.Context(), streams, where)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	flags := command.Flags()
	flags.StringVar(&f.run, "run", "", "run only cases whose name fits this regular expression")
	flags.StringVar(&f.junit, "junit", "", "write the outcomes to this `file`, in the form of JUnit")
	flags.BoolVar(&f.update, "update", false, "write snapshots instead of comparing with them")
	flags.BoolVar(&f.coverage, "coverage", false, "list what no case has reached of templates and conditions")
	flags.BoolVar(&f.registry, "registry", false, "read components and charts from registries, wherever you could")
	flags.BoolVar(&f.verbose, "verbose", false, "name cases that pass as well")
	flags.IntVar(&f.parallel, "parallel", 4*runtime.NumCPU(), "number of cases that run at the same time")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "limit for the time of each case")
	terminal.BeStrict(command)
	return command
}

// job is a case that is to be run.
type job struct {
	file  *cases.File
	index int
}

func (f *flags) test(ctx context.Context, streams terminal.Streams, where string) error {
	jobs, err := f.jobs(where)
	if err != nil {
		return err
	}
	began := time.Now()
	recorders, err := f.recorders(ctx, jobs)
	if err != nil {
		return err // names the blueprint
	}
	outcomes := f.carryOut(ctx, jobs, recorders)
	if ctx.Err() != nil {
		return terminal.Exitf(terminal.ExitInterrupted, "interrupted")
	}
	failed := 0
	out := terminal.Lines(streams.Out)
	for _, outcome := range outcomes {
		switch {
		case len(outcome.Failures) > 0:
			failed++
			fmt.Fprintf(out, "FAIL  %s: %s (%.2fs)\n", outcome.File, outcome.Case, outcome.Duration.Seconds())
			for _, text := range outcome.Failures {
				fmt.Fprintf(out, "      %s\n", text)
			}
		case f.verbose:
			fmt.Fprintf(out, "ok    %s: %s (%.2fs)\n", outcome.File, outcome.Case, outcome.Duration.Seconds())
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed (%.2fs)\n", len(outcomes)-failed, failed, time.Since(began).Seconds())
	recorders.write(out)
	if f.junit != "" {
		var text bytes.Buffer
		if err := cases.WriteJUnit(&text, outcomes); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
		if err := terminal.WriteFile(f.junit, text.Bytes(), 0o644); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	if failed > 0 {
		return terminal.Silent(terminal.ExitEndedBadly)
	}
	return nil
}

// jobs are the cases that were asked for.
func (f *flags) jobs(where string) ([]job, error) {
	if f.parallel < 1 {
		return nil, terminal.Usage(errors.New("--parallel must be at least 1"))
	}
	chosen, err := pattern.Compile(f.run)
	if err != nil {
		return nil, terminal.Usage(fmt.Errorf("--run: %w", err))
	}
	names, err := cases.Find(where)
	if errors.Is(err, os.ErrNotExist) {
		return nil, terminal.Exitf(terminal.ExitNotFound, "there is no directory or file %s", where)
	}
	if err != nil {
		return nil, err
	}
	within := where
	if len(names) == 1 && names[0] == where {
		within = filepath.Dir(where)
	}
	var jobs []job
	var errs []error
	for _, name := range names {
		file, err := cases.Read(name, within)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for i, one := range file.Test.Cases {
			if chosen.MatchString(one.Name) {
				jobs = append(jobs, job{file, i})
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, terminal.Exitf(terminal.ExitNotFound, "there is no case to run in %s: tests are in files *_test.yaml", where)
	}
	return jobs, nil
}

// carryOut runs cases, some at the same time, and returns their outcomes in order.
func (f *flags) carryOut(ctx context.Context, jobs []job, recorders recorders) []cases.Outcome {
	options := cases.Options{Update: f.update, Online: f.registry, Timeout: f.timeout, Renderers: foreign.Renderers(ctx)}
	outcomes := make([]cases.Outcome, len(jobs))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(f.parallel, len(jobs)) {
		workers.Go(func() {
			for i := range next {
				outcomes[i] = cases.Run(recorders.within(ctx, jobs[i].file), jobs[i].file, jobs[i].index, options)
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	workers.Wait()
	return outcomes
}
