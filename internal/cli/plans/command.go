// Package plans has the commands that show plans which need an approval, and approve them.
package plans

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/plan"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/delivery"
)

// NewCommand returns the command with its subcommands.
func NewCommand(streams terminal.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "plans",
		Short: "Show and approve plans that a DeliveryPolicy demands",
		Long: `Show and approve plans. Where a DeliveryPolicy demands an approval, the server stores what
the next job of a root would change, and the job begins when that plan was approved.`,
		Args: terminal.Subcommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newListCommand(streams), newShowCommand(streams), newApproveCommand(streams))
	return command
}

func newListCommand(streams terminal.Streams) *cobra.Command {
	f := &connection.Flags{}
	command := &cobra.Command{
		Use:     "list",
		Short:   "List the stored plans of a namespace",
		Example: `  landscaper-cli plans list -n team-a`,
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			on, err := f.Connect()
			if err != nil {
				return err
			}
			s, err := read(command.Context(), on)
			if err != nil {
				return err
			}
			if err := s.readRoots(command.Context()); err != nil {
				return err
			}
			return s.list(streams.Out)
		},
	}
	f.Add(command)
	terminal.BeStrict(command)
	return command
}

func (s *stored) list(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "INSTALLATION\tPLAN\tCHANGES\tAPPROVED BY")
	listed := map[types.UID]bool{}
	for _, plan := range s.plans {
		standing, of := s.standing(&plan), plan.Spec.Installation.UID
		if listed[of] {
			// No job needs an earlier plan.
			standing.Needs = 0
		}
		listed[of] = true
		what := delivery.Describe(plan.Spec.Summary)
		if plan.Spec.Installation.Deleted {
			what = "deletion: " + what
		}
		fmt.Fprintln(table, terminal.Printable(plan.Spec.Installation.Name)+"\t"+terminal.Printable(plan.Spec.Digest)+"\t"+what+"\t"+terminal.Printable(approvedBy(standing, "-")))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the plans: %w", err)
	}
	return nil
}

type showing struct {
	connection.Flags
	digest, output string
	noColor        bool
}

func newShowCommand(streams terminal.Streams) *cobra.Command {
	f := &showing{}
	command := &cobra.Command{
		Use:   "show NAME",
		Short: "Show the stored plan of a root Installation",
		Long: `Show the stored plan of the next job of a root Installation, as "installations plan" shows
one, with those who have approved it. If an earlier plan is stored, too, the lines follow
in which the plan differs from it. Values of Secrets are not stored.`,
		Example: `  landscaper-cli plans show shop
  landscaper-cli plans show shop --digest sha256:0b1c2d3e4f`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			if !slices.Contains([]string{"text", "json", "yaml"}, f.output) {
				return terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use text, json or yaml", f.output))
			}
			on, err := f.Connect()
			if err != nil {
				return err
			}
			return f.run(command.Context(), streams, on, args[0])
		},
		ValidArgsFunction: connection.CompleteRoots(&f.Flags, 1),
	}
	f.Add(command)
	flags := command.Flags()
	flags.StringVar(&f.digest, "digest", "", "digest of another plan than the newest, or its beginning")
	flags.StringVarP(&f.output, "output", "o", "text", "text, json or yaml")
	flags.BoolVar(&f.noColor, "no-color", false, "do not colour the output of a terminal")
	terminal.CompleteWith(command, "output", "text", "json", "yaml")
	terminal.BeStrict(command)
	return command
}

func (f *showing) run(ctx context.Context, streams terminal.Streams, on *connection.Connection, name string) error {
	s, err := read(ctx, on)
	if err != nil {
		return err
	}
	found, before, err := s.find(ctx, name, f.digest)
	if err != nil {
		return err
	}
	result, err := s.result(ctx, found)
	if err != nil {
		return err
	}
	switch f.output {
	case "json":
		return terminal.WriteJSON(streams.Out, result)
	case "yaml":
		return terminal.WriteYAML(streams.Out, result)
	}
	fmt.Fprint(streams.Out, plan.Text(result, streams.Color() && !f.noColor))
	standing := s.standing(found)
	fmt.Fprintln(streams.Out, "Approved by:", terminal.Printable(approvedBy(standing, "no user")))
	if len(standing.Void) > 0 {
		fmt.Fprintln(streams.Out, "Too old, withdrawn, or without the unknown parts:", terminal.Printable(strings.Join(standing.Void, ", ")))
	}
	if before == nil {
		return nil
	}
	earlier, err := s.result(ctx, before)
	if err != nil {
		return err
	}
	heading := "plan " + before.Spec.Digest
	if by := s.standing(before).By; len(by) > 0 {
		heading += ", which " + strings.Join(by, ", ") + " has approved"
	}
	fmt.Fprintf(streams.Out, "\nCompared with %s:\n", terminal.Printable(heading))
	for _, line := range diff.Lines(strings.Split(plan.Text(earlier, false), "\n"), strings.Split(plan.Text(result, false), "\n")) {
		sign := "+ "
		if line.Action == diff.Delete {
			sign = "- "
		}
		fmt.Fprintln(streams.Out, sign+line.Text)
	}
	return nil
}
