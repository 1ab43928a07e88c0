// Package await waits for Installations: the command wait, and what others that wait share.
package await

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
)

// shownBlockers is the number of blockers in a line of progress.
const shownBlockers = 3

// longestProgress is how long a line of progress may be: the messages in it are those of
// others.
const longestProgress = 600

// untilNextLook is when the wait looks again if nothing has changed: what does not change for a time
// gets other words.
const untilNextLook = 5 * time.Second

// Flags say what is waited for, and for how long.
type Flags struct {
	// Goal is what is waited for.
	Goal string
	// condition is set if the goal is not one of the known ones.
	condition *inspect.Condition
	timeout   time.Duration
	quiet     bool
}

// AddLimits adds the flags that every command that waits has.
func (f *Flags) AddLimits(command *cobra.Command) {
	flags := command.Flags()
	flags.DurationVar(&f.timeout, "timeout", 30*time.Minute, "how long to wait; 0 means no limit")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not show progress")
}

// NewCommand returns the command that waits.
func NewCommand(streams terminal.Streams) *cobra.Command {
	f := &connection.Flags{}
	w := Flags{}
	command := &cobra.Command{
		Use:   "wait NAME...",
		Short: "Wait until Installations have succeeded, failed, finished or are deleted",
		Long: `Wait for the newest job of one or more Installations. A job that was asked for but has
not begun counts as the newest, so that the result of an earlier job is never
reported.

Progress goes to the standard error: who is waited for, and why. The command ends
with code 2 as soon as one of the Installations has ended badly, with 3 if one does
not exist, and with 5 when the time is over.`,
		Example: `  landscaper-cli installations wait shop tools
  landscaper-cli inst wait shop --for deleted --timeout 10m
  landscaper-cli inst wait shop --for phase=Progressing
  landscaper-cli inst wait shop --for 'jsonpath={.status.conditions[?(@.type=="Ready")].status}=True'`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			if err := w.parse(); err != nil {
				return terminal.Usage(err)
			}
			on, err := f.Connect()
			if err != nil {
				return err
			}
			starts := map[string]inspect.Start{}
			for _, name := range args {
				starts[name] = inspect.Start{}
			}
			return New(streams, on, w, starts).Run(command.Context())
		},
		ValidArgsFunction: connection.CompleteInstallations(f, -1),
	}
	f.Add(command)
	command.Flags().StringVar(&w.Goal, "for", string(inspect.GoalSucceeded), "what to wait for: "+goals()+", phase=PHASE or jsonpath={.PATH}=VALUE")
	terminal.CompleteWith(command, "for", strings.Split(goals(), ", ")...)
	w.AddLimits(command)
	terminal.BeStrict(command)
	return command
}

// parse reads what is waited for.
func (f *Flags) parse() (err error) {
	if slices.Contains(inspect.Goals, inspect.Goal(f.Goal)) {
		return nil
	}
	f.condition, err = inspect.ParseCondition(f.Goal)
	if err == nil && f.condition == nil {
		err = fmt.Errorf("invalid option for '--for' flag: %q: use one of %s, phase=PHASE or jsonpath={.PATH}=VALUE", f.Goal, goals())
	}
	return err
}

func (f *Flags) judge(installation *v1alpha1.Installation, start inspect.Start) inspect.Verdict {
	if f.condition != nil {
		return f.condition.Judge(installation, start)
	}
	return inspect.Judge(installation, inspect.Goal(f.Goal), start)
}

func goals() string {
	words := make([]string, 0, len(inspect.Goals))
	for _, goal := range inspect.Goals {
		words = append(words, string(goal))
	}
	return strings.Join(words, ", ")
}

// Wait waits for Installations and reports the progress.
type Wait struct {
	streams terminal.Streams
	on      *connection.Connection
	flags   Flags
	began   time.Time
	// starts are the Installations that are still waited for.
	starts map[string]inspect.Start
	// said is the last progress about each of them.
	said map[string]string
	line Line
}

// New returns a wait for those Installations that starts has, from how each was then.
func New(streams terminal.Streams, on *connection.Connection, flags Flags, starts map[string]inspect.Start) *Wait {
	return &Wait{streams: streams, on: on, flags: flags, began: time.Now(), starts: starts, said: map[string]string{}}
}

// Run waits until all are where they should be, or one never gets there.
func (w *Wait) Run(ctx context.Context) error {
	ctx, cancel := terminal.WithTimeout(ctx, w.flags.timeout)
	defer cancel()
	err := w.follow(ctx)
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), terminal.ErrTimeout):
		return terminal.Exitf(terminal.ExitTimeout, "after %s still waiting for %s", w.flags.timeout, w.open())
	}
	return terminal.Exitf(terminal.ExitInterrupted, "interrupted while waiting for %s", w.open())
}

func (w *Wait) follow(ctx context.Context) error {
	live, err := reading.Follow(ctx, w.on.Watches, w.on.Namespace)
	if err != nil {
		return w.on.Explain(err)
	}
	defer live.Close()
	if err := w.begin(live.Snapshot()); err != nil {
		return err
	}
	clock := time.NewTicker(untilNextLook)
	defer clock.Stop()
	for {
		if err := w.look(live.Snapshot()); err != nil || len(w.starts) == 0 {
			return err
		}
		w.tellAboutConnection(live.Disconnected())
		select {
		case <-live.Changed():
		case <-clock.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin notes which Installations are meant, and complains if one is missing.
func (w *Wait) begin(snapshot inspect.Snapshot) error {
	for _, name := range w.names() {
		installation := Find(snapshot, w.on.Namespace, name)
		start := w.starts[name]
		switch {
		case installation != nil && start.UID == "":
			start.UID = installation.UID
			w.starts[name] = start
		case installation == nil && start.UID == "" && inspect.Goal(w.flags.Goal) != inspect.GoalDeleted:
			return w.on.Missing(name)
		}
	}
	return nil
}

// look judges each Installation that is still waited for.
func (w *Wait) look(snapshot inspect.Snapshot) error {
	for _, name := range w.names() {
		installation := Find(snapshot, w.on.Namespace, name)
		verdict := w.flags.judge(installation, w.starts[name])
		switch verdict.Result {
		case inspect.Pending:
			w.tell(name, progress(snapshot, installation, verdict))
		case inspect.Reached:
			fmt.Fprintf(w.streams.Out, "Installation %s: %s\n", name, terminal.OneLine(reached(installation, w.starts[name])))
			delete(w.starts, name)
		case inspect.Gone:
			return terminal.Exitf(terminal.ExitNotFound, "the Installation %s was deleted", name)
		case inspect.EndedSucceeded:
			return terminal.Exitf(terminal.ExitFailed, "the Installation %s has not failed: it ended in phase %s", name, installation.Status.InstallationPhase)
		case inspect.EndedFailed:
			return terminal.Exitf(terminal.ExitEndedBadly, "the Installation %s ended in phase %s: %s", name, installation.Status.InstallationPhase, blockers(snapshot, installation))
		}
	}
	return nil
}

func (w *Wait) names() []string {
	names := make([]string, 0, len(w.starts))
	for name := range w.starts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// open tells what is still waited for.
func (w *Wait) open() string {
	var open []string
	for _, name := range w.names() {
		said := w.said[name]
		if said == "" {
			said = name
		}
		open = append(open, said)
	}
	if w.line.Lost != "" {
		open = append(open, w.line.Lost)
	}
	return strings.Join(open, "; ")
}

// tell prints a line of progress if it is news.
func (w *Wait) tell(name, line string) {
	line = runewidth.Truncate(name+" "+terminal.OneLine(line), longestProgress, "…")
	if w.said[name] == line {
		return
	}
	w.said[name] = line
	w.print(line)
}

func (w *Wait) tellAboutConnection(err error) {
	if news := w.line.News(err); news != "" {
		w.print(news)
	}
}

func (w *Wait) print(line string) {
	if !w.flags.quiet {
		fmt.Fprintf(w.streams.Err, "%4s  %s\n", time.Since(w.began).Round(time.Second), line)
	}
}

// Find returns an Installation of a snapshot, or nil.
func Find(snapshot inspect.Snapshot, namespace, name string) *v1alpha1.Installation {
	for _, installation := range snapshot.Installations {
		if installation.Namespace == namespace && installation.Name == name {
			return installation
		}
	}
	return nil
}

func reached(installation *v1alpha1.Installation, start inspect.Start) string {
	if installation == nil || start.UID != "" && installation.UID != start.UID {
		return "deleted"
	}
	return string(installation.Status.InstallationPhase)
}

// progress tells how far an Installation is and what keeps it.
func progress(snapshot inspect.Snapshot, installation *v1alpha1.Installation, verdict inspect.Verdict) string {
	phase := string(installation.Status.InstallationPhase)
	if phase == "" {
		phase = "no phase"
	}
	if verdict.Reason != "" {
		return fmt.Sprintf("(%s): %s", phase, verdict.Reason)
	}
	return fmt.Sprintf("(%s): %s", phase, blockers(snapshot, installation))
}

// blockers names the objects that keep an Installation from being ready.
func blockers(snapshot inspect.Snapshot, installation *v1alpha1.Installation) string {
	found := inspect.Blockers(inspect.Tree(snapshot, installation.Namespace, installation.Name))
	var words []string
	for i, node := range found {
		if i == shownBlockers {
			words = append(words, fmt.Sprintf("and %d more", len(found)-i))
			break
		}
		words = append(words, blocker(node, installation))
	}
	if len(words) == 0 {
		return "the result is being collected"
	}
	return strings.Join(words, "; ")
}

func blocker(node *inspect.Node, installation *v1alpha1.Installation) string {
	why := node.Why()
	if node.Installation == installation {
		if why == "" {
			return "the job is running"
		}
		return why
	}
	text := fmt.Sprintf("%s %s", node.Kind, node.Name)
	if node.Phase != "" {
		text += " (" + node.Phase + ")"
	}
	if why != "" && node.Target != "" {
		why = "on " + node.Target + ": " + why
	}
	if why != "" {
		text += ": " + why
	}
	return text
}
