// Command demo shows Landscaper at work: it starts three clusters, Flux, a Git server and
// a registry, runs the server, opens the console, brings up the data flow example, shows and
// checks what it has brought up, and cleans up. "make demo" runs it.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"golang.org/x/term"
	"k8s.io/klog/v2"

	"go.landscaper.dev/hack/story"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/treeview"
	"go.landscaper.dev/test/showcase"
)

func main() {
	one := flag.Bool("one-target", false, "let Flux deploy to the cluster that it runs on, instead of a second one")
	flag.Parse()
	// Messages of the client library are not part of the story.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, terminal.Standard(), *one)
	switch {
	case err == nil:
		return
	case ctx.Err() != nil:
		err = errors.New("interrupted")
	}
	fmt.Fprintln(os.Stderr, "\ndemo:", terminal.PrintableLines(err.Error()))
	os.Exit(1)
}

func run(ctx context.Context, streams terminal.Streams, one bool) (err error) {
	w := &world{Story: story.New(streams), streams: streams}
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = w.keepLogs(err)
		}
		err = errors.Join(err, w.close())
	}()
	for _, act := range []func(context.Context) error{
		func(ctx context.Context) error { return w.open(ctx, one) }, w.bringUp, w.check, w.wait, w.cleanUp,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// bringUp publishes the example and deploys it.
func (w *world) bringUp(ctx context.Context) error {
	script := func(name string) func(io.Writer) error {
		return func(progress io.Writer) error { return w.stage.Script(ctx, "dataflow", name, progress) }
	}
	if err := w.Step("Publishing its blueprints in the registry", script("push-component.sh")); err != nil {
		return err
	}
	if err := w.Step("Creating the Context, Targets and Installations", script("deploy-k8s-resources.sh")); err != nil {
		return err
	}
	for _, installation := range []struct{ name, brings string }{
		{"dataflow-secret", "access to the second cluster"},
		{"dataflow-gitrepository", "Flux fetches the files"},
		{"dataflow-root", "a token travels into a ConfigMap"},
	} {
		err := w.Step(installation.name+": "+installation.brings, func(progress io.Writer) error {
			return w.stage.Wait(ctx, blockers{progress, installation.name}, installation.name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// blockers receives the progress of the wait for an Installation. It leaves out the name of the
// Installation, which the step has, and the phase.
type blockers struct {
	progress     io.Writer
	installation string
}

// Write implements io.Writer.
func (b blockers) Write(text []byte) (int, error) {
	repeated := regexp.MustCompile(`(?m)^(.*\s)?` + regexp.QuoteMeta(b.installation) + ` \([^)]*\): `)
	if _, err := b.progress.Write(repeated.ReplaceAll(text, nil)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// check shows what is on the clusters, and compares it with what should be there.
func (w *world) check(ctx context.Context) error {
	var shown showcase.Transcript
	err := w.Step("Comparing the clusters with what should be there", func(io.Writer) (err error) {
		if shown, err = w.stage.ShowDataflow(ctx); err != nil {
			return err
		}
		if differences := showcase.CompareDataflow(shown); len(differences) > 0 {
			return fmt.Errorf("the example has brought up something else than expected:\n%s", strings.Join(differences, "\n"))
		}
		return w.stage.CheckToken(ctx)
	})
	if len(shown) > 0 {
		w.Say("\nWhat was brought up: the Installations, the objects of Flux, the workload on the second cluster:\n")
		w.show(shown)
	}
	if err != nil {
		return err
	}
	w.Say("The token in ConfigMap test-configmap is that of Secret test-secret: it has travelled through Landscaper.\n")
	return nil
}

// show prints commands and what they have printed. A terminal that is too narrow for a table
// shows the beginning of each of its lines.
func (w *world) show(shown showcase.Transcript) {
	if w.streams.Terminal {
		for i := range shown {
			lines := strings.Split(shown[i].Output, "\n")
			for j, line := range lines {
				lines[j] = treeview.Cut(line, w.streams.Columns())
			}
			shown[i].Output = strings.Join(lines, "\n")
		}
	}
	shown.Print(terminal.Lines(w.streams.Out))
}

// wait says how to look further, until the user ends the demo. Without a user, the demo ends.
func (w *world) wait(ctx context.Context) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	look, err := w.look()
	if err != nil {
		return err
	}
	w.Say("Look further, in another terminal and in the browser:\n")
	w.Look(look)
	w.Say("\nPress Enter to delete the Installations and to end.")
	pressed := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		close(pressed)
	}()
	select {
	case <-pressed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cleanUp deletes what the demo has created.
func (w *world) cleanUp(ctx context.Context) error {
	return w.Step("Deleting all that the demo has created", func(progress io.Writer) error {
		for _, script := range []string{"delete-installation.sh", "delete-other-k8s-resources.sh"} {
			if err := w.stage.Script(ctx, "dataflow", script, progress); err != nil {
				return err
			}
		}
		return nil
	})
}
