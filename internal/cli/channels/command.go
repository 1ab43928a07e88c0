// Package channels has the commands that show Channels, and let one be polled now.
package channels

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
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
		Use:     "channels",
		Aliases: []string{"channel"},
		Short:   "Show Channels, which find versions of components",
		Long: `Show Channels. A Channel finds the newest version of a component that fits a range and has
the signatures that are required; Fleets and single Installations follow it.`,
		Args: terminal.Subcommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newListCommand(streams), newShowCommand(streams), newPollCommand(streams))
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
		Short:   "List the Channels of a namespace",
		Example: `  landscaper-cli channels list -n team-a`,
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, _ []string) error {
			on, err := f.connect()
			if err != nil {
				return err
			}
			all := &fleetv1alpha1.ChannelList{}
			if err := on.Client.List(command.Context(), all, client.InNamespace(on.Namespace)); err != nil {
				return explain(on, err)
			}
			return f.print(streams.Out, all, func(out io.Writer) error { return list(out, all.Items) })
		},
	}
	f.add(command)
	return command
}

func list(out io.Writer, all []fleetv1alpha1.Channel) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tCOMPONENT\tVERSIONS\tVERSION\tFOLLOWERS\tSTATE")
	for i := range all {
		ch := &all[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\n", terminal.Printable(ch.Name), terminal.Printable(ch.Spec.Component), terminal.Printable(cmp.Or(ch.Spec.Versions, "*")),
			terminal.Printable(cmp.Or(ch.Status.Version, "-")), ch.Status.Followers, terminal.Printable(ready(ch).Reason))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the Channels: %w", err)
	}
	return nil
}

// ready returns the condition of a Channel, also of one that the server has not seen.
func ready(ch *fleetv1alpha1.Channel) metav1.Condition {
	if found := meta.FindStatusCondition(ch.Status.Conditions, fleetv1alpha1.ReadyCondition); found != nil {
		return *found
	}
	return metav1.Condition{Reason: "Unseen", Message: "the server has not looked at it yet: check that the feature Fleets is on"}
}

func newShowCommand(streams terminal.Streams) *cobra.Command {
	f := &reading{}
	command := &cobra.Command{
		Use:   "show NAME",
		Short: "Show what a Channel offers, and what it refuses and why",
		Example: `  landscaper-cli channels show stable
  landscaper-cli channels show stable -o json`,
		Args: terminal.Arguments(cobra.MatchAll(needsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			on, err := f.connect()
			if err != nil {
				return err
			}
			ch, err := read(command.Context(), on, args[0])
			if err != nil {
				return err
			}
			return f.print(streams.Out, ch, func(out io.Writer) error { return show(out, ch) })
		},
		ValidArgsFunction: connection.CompleteChannels(&f.Flags, 1),
	}
	f.add(command)
	return command
}

func show(out io.Writer, ch *fleetv1alpha1.Channel) error {
	state := ready(ch)
	fmt.Fprintf(out, "%s of %s: %s\n", terminal.Printable(cmp.Or(ch.Spec.Versions, "every version")), terminal.Printable(ch.Spec.Component), terminal.Printable(state.Message))
	if signatures := ch.Spec.Signatures; len(signatures) > 0 {
		fmt.Fprintf(out, "Signatures: %s\n", terminal.Printable(strings.Join(signatures, ", ")))
	}
	fmt.Fprintf(out, "Followers: %d\n", ch.Status.Followers)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(ch.Status.Versions) > 0 {
		fmt.Fprintln(table, "\nVERSION\tDIGEST\tFOUND")
	}
	for _, version := range ch.Status.Versions {
		fmt.Fprintf(table, "%s\t%s\t%s\n", terminal.Printable(version.Version), terminal.Printable(version.Digest), version.Found.UTC().Format("2006-01-02 15:04 MST"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the versions: %w", err)
	}
	if len(ch.Status.Refused) > 0 {
		fmt.Fprintln(out, "\nRefused:")
	}
	for _, refused := range ch.Status.Refused {
		fmt.Fprintf(out, "  %s: %s: %s\n", terminal.Printable(refused.Version), terminal.Printable(refused.Reason), terminal.Printable(refused.Message))
	}
	return nil
}

// needsName demands the name of a Channel.
func needsName(command *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "" {
		return commandline.Wrong(command, "NAME is missing: name the Channel")
	}
	return nil
}

func read(ctx context.Context, on *connection.Connection, name string) (*fleetv1alpha1.Channel, error) {
	ch := &fleetv1alpha1.Channel{}
	if err := on.Client.Get(ctx, client.ObjectKey{Namespace: on.Namespace, Name: name}, ch); err != nil {
		return nil, explain(on, err)
	}
	return ch, nil
}

// explain says what to do where the cluster does not have the kind.
func explain(on *connection.Connection, err error) error {
	status, is := err.(apierrors.APIStatus)
	if apierrors.IsNotFound(err) && is && (status.Status().Details == nil || status.Status().Details.Name == "") {
		return terminal.Exitf(terminal.ExitNotFound, "%s does not serve the kind of Channels: landscaper install --feature-gates=Fleets=true brings it: %w", on.Where, err)
	}
	return on.Explain(err)
}
