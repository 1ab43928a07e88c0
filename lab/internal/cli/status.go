package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/instance"
	"go.landscaper.dev/lab/internal/report"
	"go.landscaper.dev/lab/internal/supervisor"
)

func newStatus(s *settings) *cobra.Command {
	var asJSON, all bool
	command := &cobra.Command{
		Use:   "status",
		Short: "Show a lab's components with their memory, and its disk use",
		Args:  arguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if all {
				return statusOfAll(command.Context(), s, command.OutOrStdout())
			}
			client, err := s.client()
			if err != nil {
				return err
			}
			lab, err := client.Lab(command.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(command.OutOrStdout(), lab)
			}
			return printStatus(command.OutOrStdout(), lab)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print what \"up\" printed, with present values")
	command.Flags().BoolVar(&all, "all", false, "list the labs of the directory")
	return command
}

func printStatus(w io.Writer, lab report.Lab) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "lab %s\tpid %d\tmemory %s\tdisk %s\tsince %s\n\n", lab.Name, lab.PID, size(lab.MemoryBytes), size(lab.DiskBytes), lab.Started)
	fmt.Fprintln(table, "CLUSTER\tSERVER\tREADY AFTER\tMEMORY\tDISK")
	for _, component := range sortedKeys(lab.Clusters) {
		c := lab.Clusters[component]
		fmt.Fprintf(table, "%s\t%s\t%.1f s\t%s\t%s\n", component, c.Server, c.ReadySeconds, size(c.MemoryBytes), size(c.DiskBytes))
	}
	fmt.Fprintln(table, "\nCOMPONENT\tSTATE\tPID\tRESTARTS\tMEMORY")
	for _, c := range lab.Components {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\n", c.Name, c.State, c.PID, c.Restarts, size(c.MemoryBytes))
	}
	return table.Flush()
}

func statusOfAll(ctx context.Context, s *settings, w io.Writer) error {
	lab, err := s.instance()
	if err != nil {
		return err
	}
	labs, err := instance.List(lab.Root)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "LAB\tSTATE\tPID\tMEMORY\tDISK")
	for _, lab := range labs {
		state, described := "dead (remove with \"lab down\")", report.Lab{}
		if contact, err := lab.Contact(); err == nil {
			if described, err = supervisor.NewClient(contact).Lab(ctx); err == nil {
				state = "up"
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", lab.Name, state, described.PID, size(described.MemoryBytes), size(described.DiskBytes))
	}
	return table.Flush()
}

// size is a number of bytes as people read it.
func size(bytes int64) string {
	return fmt.Sprintf("%.0f MB", float64(bytes)/(1<<20))
}
