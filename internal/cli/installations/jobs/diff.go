package jobs

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/history"
	"go.landscaper.dev/internal/landscape/inspect"
)

// compared is what differs between two jobs, for programs.
type compared struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	history.Comparison
	// Parts are the Installations below, those first in which something differs.
	Parts []part `json:"parts,omitempty"`
}

// part is an Installation below in two jobs.
type part struct {
	// Name is that of the object, Title that in the blueprint.
	Name  string `json:"name"`
	Title string `json:"title"`
	history.Part
}

// NewDiffCommand returns the command that compares two jobs.
func NewDiffCommand(streams terminal.Streams) *cobra.Command {
	f, form := &connection.Flags{}, output("text")
	command := &cobra.Command{
		Use:   "diff NAME [JOB] [JOB]",
		Short: "Show what differs between two jobs of an Installation",
		Long: `Show what two jobs of an Installation have worked on, and what came of it: component,
generation, imports by their fingerprints, times, and the Installations below. A job is
named by its ID, or by a beginning of it. Without the second one, it is compared with the
job before; without any, the last two are compared.`,
		Example: `  landscaper-cli installations diff shop
  landscaper-cli inst diff shop 57f02bd1 9e6d3725`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
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
			view, err := compare(tree, snapshot, args[1:])
			if err != nil {
				return err
			}
			return form.write(streams.Out, view, view.table)
		},
		ValidArgsFunction: completeJobs(f, 2),
	}
	f.Add(command)
	form.add(command)
	terminal.BeStrict(command)
	return command
}

// compare compares the jobs with these IDs.
func compare(tree *inspect.Node, snapshot inspect.Snapshot, ids []string) (*compared, error) {
	jobs := history.JobsOf(tree, snapshot.Events)
	var whole [2]string
	for i, id := range ids {
		found, err := history.Find(jobs, id)
		if err != nil {
			return nil, err // names the job
		}
		whole[i] = found.JobID
	}
	view := &compared{APIVersion: version, Kind: "JobComparison", Namespace: tree.Namespace, Name: tree.Name}
	view.Comparison = history.Compare(tree, jobs, whole[0], whole[1])
	if view.Earlier == nil || view.Later == nil {
		return nil, fmt.Errorf("the history of Installation %s has no two jobs to compare: see landscaper-cli installations history %[1]s", tree.Name)
	}
	for _, below := range history.PartsOf(tree, view.Comparison) {
		view.Parts = append(view.Parts, part{Name: below.Node.Name, Title: cmp.Or(below.Node.TemplateName, below.Node.Name), Part: below})
	}
	return view, nil
}

// table prints what each of both jobs has, and marks what differs.
func (c *compared) table(table *tabwriter.Writer) {
	earlier, later := c.Earlier, c.Later
	line := func(differs bool, cells ...string) {
		mark := "  "
		if differs {
			mark = "~ "
		}
		_, _ = fmt.Fprint(table, mark) // the error comes with Flush
		row(table, cells...)
	}
	fact := func(name, before, after string) { line(before != after, name, before, after) }
	line(false, "JOB", short(earlier.JobID), short(later.JobID))
	fact("result", result(earlier.JobRecord), result(later.JobRecord))
	fact("generation", number(earlier.Generation), number(later.Generation))
	fact("component", earlier.Component, later.Component)
	line(false, "objects", objects(earlier.JobRecord), objects(later.JobRecord))
	for _, imported := range c.Imports {
		fact("import "+imported.Name, or(imported.Earlier, "absent"), or(imported.Later, "absent"))
	}
	if len(c.Imports) == 0 {
		fact("imports", earlier.ImportsHash, later.ImportsHash)
	}
	line(false, "by", by(earlier.JobRecord), by(later.JobRecord))
	line(false, "started", started(*earlier), started(*later))
	for _, stage := range []struct {
		name string
		of   func(v1alpha1.JobRecord) *v1alpha1.Duration
	}{
		{"queued", func(r v1alpha1.JobRecord) *v1alpha1.Duration { return r.Queued }},
		{"preparing", func(r v1alpha1.JobRecord) *v1alpha1.Duration { return r.Preparing }},
		{"running", func(r v1alpha1.JobRecord) *v1alpha1.Duration { return r.Running }},
	} {
		line(false, stage.name, span(earlier.JobRecord, stage.of(earlier.JobRecord)), span(later.JobRecord, stage.of(later.JobRecord)))
	}
	for _, below := range c.Parts {
		cells := []string{"in " + below.Title, outcome(below.Earlier), outcome(below.Later)}
		if len(below.Differs) > 0 {
			cells = append(cells, strings.Join(below.Differs, " "))
		}
		line(len(below.Differs) > 0, cells...)
	}
}

// outcome is what a part did in a job.
func outcome(of *history.Outcome) string {
	switch {
	case of == nil:
		return "absent"
	case of.Took == nil:
		return result(of.JobRecord)
	}
	return result(of.JobRecord) + " in " + of.Took.Duration.String()
}

func number(generation int64) string {
	if generation == 0 {
		return ""
	}
	return fmt.Sprint(generation)
}
