package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/audit"
)

func newAudit(s *settings) *cobra.Command {
	var user string
	var asJSON, mark, each bool
	var since int64
	command := &cobra.Command{
		Use:   "audit CLUSTER",
		Short: "Count the requests to a cluster's API server by user, verb and resource",
		Example: `  lab audit target
  mark=$(lab audit target --mark); make something; lab audit target --since $mark --user admin`,
		Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			client, err := s.client()
			if err != nil {
				return err
			}
			lab, err := client.Lab(command.Context())
			if err != nil {
				return err
			}
			cluster, found := lab.Clusters[args[0]]
			if !found {
				return fmt.Errorf("lab %s has no cluster %q", lab.Name, args[0])
			}
			out := command.OutOrStdout()
			if mark {
				end, err := audit.End(cluster.AuditLog)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(out, end)
				return err
			}
			if each {
				lines := json.NewEncoder(out)
				lines.SetEscapeHTML(false)
				return audit.Each(cluster.AuditLog, audit.Mark(since), func(request audit.Request) {
					if user == "" || request.User == user {
						_ = lines.Encode(request) // the reader has closed the pipe if this fails
					}
				})
			}
			counts, err := audit.Counts(cluster.AuditLog, audit.Mark(since), user)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(out, counts)
			}
			return printCounts(out, counts)
		},
	}
	command.Flags().StringVar(&user, "user", "", "count this user's requests only")
	command.Flags().Int64Var(&since, "since", 0, "count from this mark on")
	command.Flags().BoolVar(&mark, "mark", false, "print the mark of now")
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	command.Flags().BoolVar(&each, "each", false, "print every request instead of counts, as JSON lines")
	return command
}

func printCounts(w io.Writer, counts []audit.Count) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "USER\tVERB\tRESOURCE\tREQUESTS")
	for _, count := range counts {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", count.User, count.Verb, count.Resource, count.Requests)
	}
	return table.Flush()
}
