// Package jobs has the commands that show which jobs an Installation has had, and what differs between two
// of them.
package jobs

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/history"
)

// version is that of what the commands print for programs.
const version = "cli." + v1alpha1.GroupName + "/v1alpha1"

// output is the form in which a command prints.
type output string

func (o *output) add(command *cobra.Command) {
	command.Flags().StringVarP((*string)(o), "output", "o", "text", "text, json or yaml")
	terminal.CompleteWith(command, "output", "text", "json", "yaml")
}

// check refuses other forms.
func (o *output) check() error {
	switch *o {
	case "text", "json", "yaml":
		return nil
	}
	return terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use text, json or yaml", *o))
}

// write prints a result for programs, or by a function for people.
func (o *output) write(out io.Writer, result any, people func(*tabwriter.Writer)) error {
	switch *o {
	case "json":
		return terminal.WriteJSON(out, result)
	case "yaml":
		return terminal.WriteYAML(out, result)
	}
	table := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	people(table)
	return table.Flush()
}

// short is as much of an ID as fits into a table. It names the job, unless others begin with it, too.
func short(id string) string {
	const enough = 8
	if len(id) == len("00000000-0000-0000-0000-000000000000") {
		return id[:enough]
	}
	return terminal.Printable(id)
}

// by is what has started a job, who has asked for it, and who has left a policy out, by the names that
// clients give themselves.
func by(job v1alpha1.JobRecord) string {
	text := or(string(job.Trigger), "not known")
	if job.RequestedBy != "" {
		text += ", by " + terminal.OneLine(job.RequestedBy)
	}
	if over := job.Overridden; over != nil {
		text += "; overrides " + terminal.OneLine(over.Policy)
		if over.By != "" {
			text += ", by " + terminal.OneLine(over.By)
		}
	}
	return text
}

// result is how a job has ended.
func result(job v1alpha1.JobRecord) string {
	switch {
	case job.Phase == "":
		return "running"
	case job.Reason != "":
		return string(job.Phase) + " (" + terminal.OneLine(job.Reason) + ")"
	}
	return string(job.Phase)
}

// objects is what a job has changed on clusters: created, changed, deleted.
func objects(job v1alpha1.JobRecord) string {
	if job.Objects == nil {
		return "-"
	}
	return fmt.Sprintf("+%d ~%d -%d", job.Objects.Created, job.Objects.Changed, job.Objects.Deleted)
}

// started is when a job was assigned.
func started(job history.Job) string {
	if job.Start == nil {
		return "-"
	}
	return job.Start.UTC().Format(time.RFC3339)
}

// span is a time that is absent if it was less than a second.
func span(job v1alpha1.JobRecord, length *v1alpha1.Duration) string {
	switch {
	case job.Phase == "":
		return "-"
	case length == nil:
		return "0s"
	}
	return length.Duration.String()
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

// row writes the cells of a line of a table.
func row(table io.Writer, cells ...string) {
	for i, cell := range cells {
		cells[i] = or(terminal.OneLine(cell), "-")
	}
	_, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) // the error comes with Flush
}
