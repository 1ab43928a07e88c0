package jobs

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/history"
)

// listed is the history of an Installation for programs.
type listed struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	// Jobs are the newest first, each with its imports; More is how many older ones are recorded.
	Jobs []history.Job `json:"jobs"`
	More int           `json:"more,omitempty"`
}

// NewHistoryCommand returns the command that lists jobs.
func NewHistoryCommand(streams terminal.Streams) *cobra.Command {
	f, form, limit := &connection.Flags{}, output("text"), 0
	command := &cobra.Command{
		Use:   "history NAME",
		Short: "List the jobs of an Installation, and who or what has started them",
		Long: `List the last jobs of an Installation, the newest first: what has started each, what it
has worked on, how long it took, and how it has ended. An Installation records its last
ten, fewer if the record would be too large.

BY is the trigger of the job and, of a request, the name that the client has given itself,
which is a claim. IMPORTS tells the imports of jobs apart; -o json has a fingerprint of
each import. OBJECTS counts the objects of target clusters that a job of a root has created,
changed and deleted; it is not known if the server was restarted in the job.`,
		Example: `  landscaper-cli installations history shop
  landscaper-cli inst history shop --limit 3 -o yaml`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			if limit < 0 {
				return terminal.Usage(errors.New("invalid option for '--limit' flag: write a number from 0 on"))
			}
			if err := form.check(); err != nil {
				return err
			}
			on, err := f.Connect()
			if err != nil {
				return err
			}
			tree, snapshot, err := on.Tree(command.Context(), args[0])
			if err != nil {
				return err
			}
			view := listed{APIVersion: version, Kind: "InstallationHistory", Namespace: tree.Namespace, Name: tree.Name, Jobs: history.JobsOf(tree, snapshot.Events)}
			for i := range view.Jobs {
				view.Jobs[i].Imports = history.ImportsOf(tree.Installation.Status.History, view.Jobs[i].JobRecord)
			}
			view.shorten(limit)
			return form.write(streams.Out, view, view.table)
		},
		ValidArgsFunction: connection.CompleteInstallations(f, 1),
	}
	f.Add(command)
	form.add(command)
	command.Flags().IntVar(&limit, "limit", 0, "show so many jobs at most; 0 means all")
	terminal.BeStrict(command)
	return command
}

// shorten leaves the newest jobs.
func (l *listed) shorten(limit int) {
	if l.Jobs == nil {
		l.Jobs = []history.Job{}
	}
	if limit > 0 && len(l.Jobs) > limit {
		l.More = len(l.Jobs) - limit
		l.Jobs = l.Jobs[:limit]
	}
}

func (l *listed) table(table *tabwriter.Writer) {
	if len(l.Jobs) == 0 {
		_, _ = fmt.Fprintf(table, "The Installation %s has had no job.\n", l.Name) // the error comes with Flush
		return
	}
	row(table, "JOB", "STARTED", "BY", "GENERATION", "COMPONENT", "IMPORTS", "OBJECTS", "QUEUED", "PREPARING", "RUNNING", "RESULT")
	for _, job := range l.Jobs {
		generation := ""
		if job.Generation > 0 {
			generation = fmt.Sprint(job.Generation)
		}
		record := job.JobRecord
		row(table, short(job.JobID), started(job), by(record), generation, job.Component, job.ImportsHash, objects(record),
			span(record, job.Queued), span(record, job.Preparing), span(record, job.Running), result(record))
	}
	if l.More > 0 {
		_, _ = fmt.Fprintf(table, "%d older ones are not shown.\n", l.More) // the error comes with Flush
	}
}
