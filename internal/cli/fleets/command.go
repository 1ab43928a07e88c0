// Package fleets has the commands that show Fleets, and steer their roll-outs.
package fleets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
)

// NewCommand returns the command with its subcommands.
func NewCommand(streams terminal.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:     "fleet",
		Aliases: []string{"fleets"},
		Short:   "Show Fleets, and steer their roll-outs",
		Long: `Show Fleets, and steer their roll-outs. A Fleet brings one product up on many clusters: one
Installation for each Target that it selects, changed in waves.`,
		Args: terminal.Subcommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(
		newListCommand(streams), newShowCommand(streams), newWatchCommand(streams), newPromoteCommand(streams),
		newPauseCommand(streams), newResumeCommand(streams), newGoBackCommand(streams),
	)
	return command
}

// reading is a command that shows something.
type reading struct {
	connection.Flags
	output string
}

func (f *reading) add(command *cobra.Command) {
	f.Add(command)
	command.Flags().StringVarP(&f.output, "output", "o", "text", "text, json or yaml")
	terminal.CompleteWith(command, "output", "text", "json", "yaml")
	terminal.BeStrict(command)
}

func (f *reading) connect() (*connection.Connection, error) {
	if !slices.Contains([]string{"text", "json", "yaml"}, f.output) {
		return nil, terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use text, json or yaml", f.output))
	}
	return f.Connect()
}

// print writes a result for programs, or calls what writes it for people.
func (f *reading) print(out io.Writer, result any, text func(io.Writer) error) error {
	switch f.output {
	case "json":
		return terminal.WriteJSON(out, result)
	case "yaml":
		return terminal.WriteYAML(out, result)
	}
	return text(out)
}

func newListCommand(streams terminal.Streams) *cobra.Command {
	f := &reading{}
	command := &cobra.Command{
		Use:     "list",
		Short:   "List the Fleets of a namespace",
		Example: `  landscaper-cli fleet list -n team-a`,
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			on, err := f.connect()
			if err != nil {
				return err
			}
			all := &fleetv1alpha1.FleetList{}
			if err := on.Client.List(command.Context(), all, client.InNamespace(on.Namespace)); err != nil {
				return explain(on, err)
			}
			return f.print(streams.Out, all, func(out io.Writer) error { return list(out, all.Items) })
		},
	}
	f.add(command)
	return command
}

func list(out io.Writer, all []fleetv1alpha1.Fleet) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tVERSION\tWAVE\tTARGETS\tUPDATED\tSUCCEEDED\tFAILED\tBLOCKED\tSTATE")
	for i := range all {
		status := &all[i].Status
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", terminal.Printable(all[i].Name), terminal.Printable(cmp.Or(status.Version, "-")), terminal.Printable(cmp.Or(status.Wave, "-")),
			status.Counts.Targets, status.Counts.Updated, status.Counts.Succeeded, status.Counts.Failed, status.Counts.Blocked, terminal.Printable(ready(&all[i]).Reason))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the Fleets: %w", err)
	}
	return nil
}

// ready returns the condition of a Fleet, also of one that the server has not seen.
func ready(fleet *fleetv1alpha1.Fleet) metav1.Condition {
	if found := meta.FindStatusCondition(fleet.Status.Conditions, fleetv1alpha1.ReadyCondition); found != nil {
		return *found
	}
	return metav1.Condition{Reason: "Unseen", Message: "the server has not looked at it yet: check that the feature Fleets is on"}
}

func read(ctx context.Context, on *connection.Connection, name string) (*fleetv1alpha1.Fleet, error) {
	fleet := &fleetv1alpha1.Fleet{}
	if err := on.Client.Get(ctx, client.ObjectKey{Namespace: on.Namespace, Name: name}, fleet); err != nil {
		return nil, explain(on, err)
	}
	return fleet, nil
}

// explain says what to do where the cluster does not have the kind.
func explain(on *connection.Connection, err error) error {
	var status apierrors.APIStatus
	if apierrors.IsNotFound(err) && errors.As(err, &status) && (status.Status().Details == nil || status.Status().Details.Name == "") {
		return terminal.Exitf(terminal.ExitNotFound, "%s does not serve the kind of Fleets: landscaper install --feature-gates=Fleets=true brings it: %w", on.Where, err)
	}
	return on.Explain(err)
}
