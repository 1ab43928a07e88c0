package show

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
)

// storyFlags are those of commands that tell what happened.
type storyFlags struct {
	connection.Flags
	tell func(*inspect.Node, []*corev1.Event) []inspect.Entry
	// write prints the entries that have not been printed yet.
	write  func(io.Writer, []inspect.Entry) error
	follow bool
	until  string
	output string
	types  []string
}

// NewEventsCommand returns the command that lists events.
func NewEventsCommand(streams terminal.Streams) *cobra.Command {
	f := &storyFlags{tell: inspect.EventsOf, write: writeEvents}
	command := &cobra.Command{
		Use:   "events NAME",
		Short: "Show the events of an Installation and all that belongs to it",
		Long:  `Show the events of an Installation and of all that belongs to it, the oldest first.`,
		Example: `  landscaper-cli installations events shop
  landscaper-cli inst events shop --types Warning --watch`,
	}
	command.Flags().BoolVarP(&f.follow, "watch", "W", false, "go on with new events until interrupted")
	command.Flags().StringSliceVar(&f.types, "types", nil, "only events of these types: Normal, Warning")
	terminal.CompleteWith(command, "types", corev1.EventTypeNormal, corev1.EventTypeWarning)
	return f.complete(command, streams)
}

// NewLogsCommand returns the command that tells what a job did.
func NewLogsCommand(streams terminal.Streams) *cobra.Command {
	f := &storyFlags{tell: inspect.Story, write: writeStory}
	command := &cobra.Command{
		Use:   "logs NAME",
		Short: "Tell what the last job of an Installation did, step by step",
		Long: `Tell what the last job of an Installation did, in order: from the events of all that
belongs to it, and from what each object publishes about itself. A job that is running
ends with what it waits for.`,
		Example: `  landscaper-cli installations logs shop

  # until the job has ended
  landscaper-cli inst logs shop --follow`,
	}
	command.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on until the job has ended; ends with code 2 if it has failed")
	f.until = string(inspect.GoalFinished)
	return f.complete(command, streams)
}

func (f *storyFlags) complete(command *cobra.Command, streams terminal.Streams) *cobra.Command {
	command.Args = terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments))
	command.RunE = func(command *cobra.Command, args []string) error {
		if f.output != "" && f.output != "json" {
			return terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use json", f.output))
		}
		on, err := f.Connect()
		if err != nil {
			return err
		}
		return f.run(command.Context(), streams, on, args[0])
	}
	command.ValidArgsFunction = connection.CompleteInstallations(&f.Flags, 1)
	f.Add(command)
	command.Flags().StringVarP(&f.output, "output", "o", "", "json: an object in each line (default: a text)")
	terminal.CompleteWith(command, "output", "json")
	terminal.BeStrict(command)
	return command
}

func (f *storyFlags) run(ctx context.Context, streams terminal.Streams, on *connection.Connection, name string) error {
	printed := map[string]bool{}
	if !f.follow {
		snapshot, err := reading.Collect(ctx, on.Client, on.Namespace, reading.Events)
		if err != nil {
			return on.Explain(err)
		}
		connection.WarnUnreadable(streams.Err, "something is missing here", snapshot)
		_, err = f.print(streams, on, snapshot, name, printed)
		return err
	}
	live, err := reading.Follow(ctx, on.Watches, on.Namespace, reading.Events)
	if err != nil {
		return on.Explain(err)
	}
	defer live.Close()
	for {
		if ended, err := f.print(streams, on, live.Snapshot(), name, printed); ended || err != nil {
			return err
		}
		select {
		case <-live.Changed():
		case <-ctx.Done():
			return terminal.Exitf(terminal.ExitInterrupted, "interrupted")
		}
	}
}

// print prints what is new, and tells whether that was the end of what is followed.
func (f *storyFlags) print(streams terminal.Streams, on *connection.Connection, snapshot inspect.Snapshot, name string, printed map[string]bool) (bool, error) {
	tree := inspect.Tree(snapshot, on.Namespace, name)
	if tree == nil {
		if len(printed) > 0 {
			return true, nil // it was deleted, and with it its story
		}
		return true, on.Missing(name)
	}
	entries := slices.DeleteFunc(f.tell(tree, snapshot.Events), func(entry inspect.Entry) bool {
		key := fmt.Sprint(entry.Kind, entry.Name, entry.Time.Unix(), entry.Reason, entry.Message, entry.Count)
		known := printed[key]
		printed[key] = true
		return known || len(f.types) > 0 && !slices.Contains(f.types, entry.Type)
	})
	write := f.write
	if f.output == "json" {
		write = writeLines
	}
	if err := write(streams.Out, entries); err != nil {
		return true, err
	}
	if !f.follow || f.until == "" || inspect.Judge(tree.Installation, inspect.GoalFinished, inspect.Start{}).Result != inspect.Reached {
		return false, nil
	}
	if tree.Failed() {
		return true, terminal.Exitf(terminal.ExitEndedBadly, "the job ended in phase %s", tree.Phase)
	}
	return true, nil
}

func writeLines(out io.Writer, entries []inspect.Entry) error {
	encoder := json.NewEncoder(terminal.JSON(out))
	for _, entry := range entries {
		if err := encoder.Encode(entry); err != nil {
			return err
		}
	}
	return nil
}

// timeFormat is a time of the day; the day of a story is known.
const timeFormat = "15:04:05"

// writeStory prints a line for each entry: time, object, message.
func writeStory(out io.Writer, entries []inspect.Entry) error {
	for _, entry := range entries {
		mark := " "
		if entry.Type == corev1.EventTypeWarning {
			mark = "!"
		}
		message := entry.Message
		if message == "" {
			message = entry.Reason
		}
		if _, err := fmt.Fprintf(out, "%s %s %s %s: %s%s\n", entry.Time.Format(timeFormat), mark, entry.Kind, terminal.Printable(entry.Name), terminal.OneLine(message), times(entry)); err != nil {
			return err
		}
	}
	return nil
}

// writeEvents prints a table.
func writeEvents(out io.Writer, entries []inspect.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "LAST SEEN\tTYPE\tREASON\tOBJECT\tMESSAGE")
	for _, entry := range entries {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s %s\t%s%s\n", entry.Time.Format(time.RFC3339), terminal.OneLine(entry.Type), terminal.OneLine(entry.Reason), entry.Kind, terminal.Printable(entry.Name), terminal.OneLine(entry.Message), times(entry))
	}
	return table.Flush()
}

func times(entry inspect.Entry) string {
	if entry.Count < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", entry.Count)
}
