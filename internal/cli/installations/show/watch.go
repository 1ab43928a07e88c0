package show

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/await"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/tree"
	"go.landscaper.dev/internal/inspect"
	"go.landscaper.dev/internal/inspect/reading"
)

const (
	// cursorHome moves to the upper left corner of the terminal.
	cursorHome = "\x1b[H"
	// clearBelow removes what an earlier picture left.
	clearBelow = "\x1b[J"
)

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
	for {
		snapshot := live.Snapshot()
		trees, err := f.trees(snapshot, on, name)
		if err != nil {
			return err
		}
		news := line.News(live.Disconnected())
		if streams.Terminal {
			err = f.redraw(streams, trees, line.Lost, on.Now())
		} else {
			changes.tell(streams, news)
			err = changes.write(streams, trees)
		}
		if err != nil {
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

// ended tells whether --until is reached, and with which result.
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
func (f *inspectFlags) redraw(streams terminal.Streams, trees []*inspect.Node, lost string, now time.Time) error {
	var picture bytes.Buffer
	if lost != "" {
		picture.WriteString(tree.Cut(lost, streams.Columns()) + "\n\n")
	}
	options := f.treeOptions(streams)
	options.Live = now
	if err := tree.Write(&picture, trees, options); err != nil {
		return err
	}
	text := strings.ReplaceAll(tree.Clip(picture.String(), streams.Rows()), "\n", terminal.ClearRight+"\n")
	_, err := fmt.Fprint(streams.Out, cursorHome, text, clearBelow)
	return err
}

// changeLog remembers what it has told about.
type changeLog struct {
	began time.Time
	said  map[string]string
}

// tell writes news about the connection, which are no changes, to the standard error.
func (c *changeLog) tell(streams terminal.Streams, news string) {
	if news != "" {
		fmt.Fprintf(streams.Err, "%4s  %s\n", tree.Duration(time.Since(c.began)), news)
	}
}

func (c *changeLog) write(streams terminal.Streams, trees []*inspect.Node) error {
	present := map[string]bool{}
	var lines strings.Builder
	tell := func(object, state string) {
		if c.said[object] != state {
			c.said[object] = state
			fmt.Fprintf(&lines, "%4s  %s: %s\n", tree.Duration(time.Since(c.began)), terminal.Printable(object), terminal.Printable(state))
		}
	}
	for _, root := range trees {
		root.Walk(func(node *inspect.Node) {
			object := fmt.Sprintf("%s %s/%s", node.Kind, node.Namespace, node.Name)
			present[object] = true
			if state := tree.State(node); state != "" {
				tell(object, state)
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
