package show

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/await"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/treeview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
)

const (
	// cursorHome moves to the upper left corner of the terminal.
	cursorHome = "\x1b[H"
	// clearBelow removes what an earlier picture left.
	clearBelow = "\x1b[J"
)

// View says how the trees of Follow look.
type View struct {
	// Wide shows what is deployed.
	Wide           bool
	NoColor, ASCII bool
	// Endless goes on when all have ended.
	Endless bool
	// Wrong, if it is set, says what is wrong beside the trees. Only a terminal shows it, above them.
	Wrong func() string
}

// Follow shows the trees of all namespaces of a cluster that another command has brought up, until all of
// them have ended. Its error says which have ended badly.
func Follow(ctx context.Context, streams terminal.Streams, on *connection.Connection, view View) error {
	f := &inspectFlags{allNamespaces: true, watch: true, noColor: view.NoColor, ascii: view.ASCII, names: string(treeview.ObjectNames), wrong: view.Wrong}
	if view.Wide {
		f.output.mode = outputWide
	}
	if !view.Endless {
		f.until = string(inspect.GoalFinished)
	}
	return f.follow(ctx, streams, on, "")
}

// follow shows the trees again after every change: on a terminal in place, else
// as a line for each object whose phase has changed.
func (f *inspectFlags) follow(ctx context.Context, streams terminal.Streams, on *connection.Connection, name string) error {
	live, err := reading.Follow(ctx, on.Watches, f.scope(on))
	if err != nil {
		return on.Explain(fmt.Errorf("cannot collect installation: %w", err))
	}
	defer live.Close()
	changes := changeLog{began: time.Now(), said: map[string]string{}}
	var line await.Line
	// Only the times in the picture move by themselves.
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	if !streams.Terminal {
		clock.Stop()
	}
	var trees []*inspect.Node
	for {
		present, err := f.trees(live.Snapshot(), on, name)
		gone := err != nil && trees != nil
		if err != nil && !gone {
			return err
		}
		trees = present
		news := line.News(live.Disconnected())
		if streams.Terminal {
			wrong := cmp.Or(line.Lost, f.wrongBeside())
			if gone {
				wrong = "the Installation " + name + " was deleted"
			}
			err = f.redraw(streams, f.chosen(trees), wrong, on.Now())
		} else {
			changes.tell(streams, news)
			err = changes.write(streams, f.chosen(trees), trees)
		}
		if gone || err != nil {
			return err
		}
		if ended, err := f.ended(trees); ended {
			return err
		}
		select {
		case <-live.Changed():
		case <-clock.C:
		case <-ctx.Done():
			return terminal.Exitf(terminal.ExitInterrupted, "interrupted")
		}
	}
}

// wrongBeside is what is wrong beside the trees; empty for nothing.
func (f *inspectFlags) wrongBeside() string {
	if f.wrong == nil {
		return ""
	}
	return f.wrong()
}

// ended tells whether --until is reached, and with which result: by all trees, also where
// only what has failed is shown.
func (f *inspectFlags) ended(trees []*inspect.Node) (bool, error) {
	if f.until == "" {
		return false, nil
	}
	var failed []string
	for _, root := range trees {
		if inspect.Judge(root.Installation, inspect.GoalFinished, inspect.Start{}).Result != inspect.Reached {
			return false, nil
		}
		if root.Failed() {
			failed = append(failed, root.Name)
		}
	}
	if len(failed) > 0 {
		return true, terminal.Exitf(terminal.ExitEndedBadly, "ended in a failed phase: %s", strings.Join(failed, ", "))
	}
	return true, nil
}

// redraw draws the picture in its place, below what is wrong with it: without a
// connection, it is an old one.
func (f *inspectFlags) redraw(streams terminal.Streams, trees []*inspect.Node, wrong string, now time.Time) error {
	var picture bytes.Buffer
	if wrong != "" {
		picture.WriteString(treeview.Cut(wrong, streams.Columns()) + "\n\n")
	}
	options := f.treeOptions(streams)
	options.Live = now
	if err := treeview.Write(&picture, trees, options); err != nil {
		return err
	}
	text := strings.ReplaceAll(treeview.Clip(picture.String(), streams.Rows()), "\n", terminal.ClearRight+"\n")
	_, err := fmt.Fprint(streams.Out, cursorHome, text, clearBelow)
	return err
}

// changeLog remembers the states that it has printed.
type changeLog struct {
	began time.Time
	said  map[string]string
}

// tell writes news about the connection, which are no changes, to the standard error.
func (c *changeLog) tell(streams terminal.Streams, news string) {
	if news != "" {
		fmt.Fprintf(streams.Err, "%4s  %s\n", treeview.Duration(time.Since(c.began)), news)
	}
}

// write tells what has changed in the trees that are shown, and what is in none any more.
func (c *changeLog) write(streams terminal.Streams, shown, all []*inspect.Node) error {
	present := map[string]bool{}
	var lines strings.Builder
	tell := func(object, state string) {
		if c.said[object] != state {
			c.said[object] = state
			fmt.Fprintf(&lines, "%4s  %s: %s\n", treeview.Duration(time.Since(c.began)), terminal.Printable(object), terminal.Printable(state))
		}
	}
	for _, root := range all {
		root.Walk(func(node *inspect.Node) { present[objectOf(node)] = true })
	}
	for _, root := range shown {
		root.Walk(func(node *inspect.Node) {
			if state := treeview.State(node); state != "" {
				tell(objectOf(node), state)
			}
		})
	}
	for _, object := range slices.Sorted(maps.Keys(c.said)) {
		if !present[object] {
			tell(object, "deleted")
		}
	}
	_, err := fmt.Fprint(streams.Out, lines.String())
	return err
}

func objectOf(node *inspect.Node) string {
	return fmt.Sprintf("%s %s/%s", node.Kind, node.Namespace, node.Name)
}
