package rebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// Program is what is built again and restarted.
type Program interface {
	// Build builds the program, and returns the CPU time of that. The program that runs is not
	// affected.
	Build(ctx context.Context) (cpu time.Duration, err error)
	// Restart ends the program that runs, starts the one that was built, and returns when it
	// is ready.
	Restart(ctx context.Context) error
	// Ended is closed when the program that was started last has ended.
	Ended() <-chan struct{}
	// Sources are what the program is built from now.
	Sources(ctx context.Context) (Sources, error)
}

// Reporter shows what the loop does.
type Reporter interface {
	// StepTo shows a step.
	StepTo(name string, do func(progress io.Writer) (done string, err error)) error
	// Failed shows a failure, after which the loop waits for the next change.
	Failed(err error)
}

// errEnded is a program that was not asked to end.
var errEnded = errors.New("the server has ended by itself: the next change starts it again")

// Run builds and restarts the program after each change, until the context ends.
func Run(ctx context.Context, program Program, watcher *Watcher, report Reporter) {
	ended := program.Ended()
	failed := func(err error) {
		if err != nil && ctx.Err() == nil {
			report.Failed(err)
		}
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ended:
			ended = nil
			failed(errEnded)
		case files := <-watcher.Changes:
			restarted, err := round(ctx, program, files, watcher, report)
			if restarted {
				ended = program.Ended()
			}
			if err != nil && isClosed(ended) {
				ended = nil // the failure says it
			}
			failed(err)
		}
	}
}

func isClosed(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

// round builds the program, and restarts it if that was successful.
func round(ctx context.Context, program Program, files []string, watcher *Watcher, report Reporter) (restarted bool, err error) {
	err = report.StepTo("Rebuilding: "+describe(files), func(progress io.Writer) (string, error) {
		// What the build reads for the first time is watched before the build ends.
		followed := make(chan error, 1)
		go func() { followed <- follow(ctx, program, watcher) }()
		cpu, err := program.Build(ctx)
		// A build that fails says more than the list of its sources.
		if err := cmp.Or(err, <-followed); err != nil {
			return "", err
		}
		restarted = true
		fmt.Fprintln(progress, "restarting")
		return fmt.Sprintf("Rebuilt and restarted (%.1f s of CPU): %s", cpu.Seconds(), describe(files)), program.Restart(ctx)
	})
	return restarted, err
}

// follow watches what the program is built from now.
func follow(ctx context.Context, program Program, watcher *Watcher) error {
	sources, err := program.Sources(ctx)
	if err != nil {
		return err
	}
	return watcher.Follow(sources)
}

// describe names files that have changed, the first one with its directory.
func describe(files []string) string {
	first := filepath.Join(filepath.Base(filepath.Dir(files[0])), filepath.Base(files[0]))
	if len(files) == 1 {
		return first
	}
	return fmt.Sprintf("%s and %d more", first, len(files)-1)
}
