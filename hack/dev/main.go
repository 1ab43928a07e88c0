// Command dev is the development loop: it starts two clusters, runs the server with a landscape, and
// builds and restarts the server whenever its sources change, until Ctrl-C. "make dev" runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"go.landscaper.dev/hack/dev/rebuild"
	"go.landscaper.dev/hack/story"
	"go.landscaper.dev/internal/cli/terminal"
)

func main() {
	// Messages of the client library are not part of the story.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, terminal.Standard()); err != nil {
		fmt.Fprintln(os.Stderr, "\ndev:", terminal.PrintableLines(err.Error()))
		os.Exit(1)
	}
}

// run returns without an error after Ctrl-C: this is how the loop is ended.
func run(ctx context.Context, streams terminal.Streams) (err error) {
	w := &world{Story: story.New(streams), streams: streams}
	defer func() {
		if ctx.Err() != nil {
			err = nil
		}
		err = errors.Join(err, w.close())
	}()
	if err := w.open(ctx); err != nil {
		return err
	}
	sources, err := w.Sources(ctx)
	if err != nil {
		return err
	}
	watcher, err := rebuild.Watch(ctx, sources)
	if err != nil {
		return err
	}
	if err := w.introduce(ctx); err != nil {
		return err
	}
	w.Say(fmt.Sprintf("\nThe server is built and restarted when a file changes in one of %d directories. Ctrl-C ends everything.\n", len(sources.Directories())))
	rebuild.Run(ctx, w, watcher, w)
	return nil
}
