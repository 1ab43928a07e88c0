package fleets

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
)

func newShowCommand(streams terminal.Streams) *cobra.Command {
	f, all := &reading{}, false
	command := &cobra.Command{
		Use:   "show NAME",
		Short: "Show the waves of a Fleet, with the Installations that hold them up",
		Long: `Show the waves of a Fleet. Below each wave are its Installations that have not succeeded with
the newest revision, or all of them with --all.`,
		Example: `  landscaper-cli fleet show shop
  landscaper-cli fleet show shop --all`,
		Args: terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			on, err := f.connect()
			if err != nil {
				return err
			}
			fleet, err := read(command.Context(), on, args[0])
			if err != nil {
				return err
			}
			return f.print(streams.Out, fleet, func(out io.Writer) error {
				insts, err := members(command.Context(), on, fleet)
				if err != nil {
					return err
				}
				return show(out, fleet, insts, all)
			})
		},
		ValidArgsFunction: connection.CompleteFleets(&f.Flags, 1),
	}
	f.add(command)
	command.Flags().BoolVar(&all, "all", false, "show Installations that have succeeded, too")
	return command
}

// members reads the Installations of a Fleet.
func members(ctx context.Context, on *connection.Connection, fleet *fleetv1alpha1.Fleet) ([]v1alpha1.Installation, error) {
	list := &v1alpha1.InstallationList{}
	if err := on.Client.List(ctx, list, client.InNamespace(fleet.Namespace)); err != nil {
		return nil, on.Explain(err)
	}
	return slices.DeleteFunc(list.Items, func(inst v1alpha1.Installation) bool {
		return inst.Annotations[fleetv1alpha1.FleetUIDAnnotation] != string(fleet.UID)
	}), nil
}

func show(out io.Writer, fleet *fleetv1alpha1.Fleet, insts []v1alpha1.Installation, all bool) error {
	status, state := &fleet.Status, ready(fleet)
	fmt.Fprintf(out, "%s: %s\n", terminal.Printable(state.Reason), terminal.Printable(state.Message))
	if present := meta.FindStatusCondition(status.Conditions, fleetv1alpha1.TargetsPresentCondition); present != nil && present.Status != "True" {
		fmt.Fprintf(out, "%s: %s\n", terminal.Printable(present.Reason), terminal.Printable(present.Message))
	}
	fmt.Fprintf(out, "Revision %s, version %s", terminal.Printable(cmp.Or(status.Revision, "-")), terminal.Printable(cmp.Or(status.Version, "-")))
	if status.LastRevision != "" && status.LastRevision != status.Revision {
		fmt.Fprintf(out, "; all Targets had %s last", terminal.Printable(status.LastRevision))
	}
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nWAVE\tSTATE\tTARGETS\tUPDATED\tSUCCEEDED\tRUNNING\tFAILED\tBLOCKED")
	for i := range status.Waves {
		wave := &status.Waves[i]
		counts := &wave.Counts
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", terminal.Printable(wave.Name), wave.State, counts.Targets, counts.Updated, counts.Succeeded, counts.Running, counts.Failed, counts.Blocked)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the waves: %w", err)
	}
	for i := range status.Waves {
		branches(out, fleet, &status.Waves[i], insts, all)
	}
	return nil
}

// branches shows what a wave waits for, and its Installations.
func branches(out io.Writer, fleet *fleetv1alpha1.Fleet, wave *fleetv1alpha1.WaveStatus, insts []v1alpha1.Installation, all bool) {
	var lines []string
	if wave.Message != "" {
		lines = append(lines, terminal.Printable(wave.Message))
	}
	for i := range insts {
		inst := &insts[i]
		newest := inst.Annotations[fleetv1alpha1.RevisionAnnotation] == fleet.Status.Revision
		good := newest && inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Succeeded && inst.Annotations[v1alpha1.OperationAnnotation] == ""
		if inst.Labels[fleetv1alpha1.WaveLabel] != wave.Name || good && !all {
			continue
		}
		line := fmt.Sprintf("%s: %s", inst.Name, cmp.Or(string(inst.Status.InstallationPhase), "no job yet"))
		if !newest {
			line += ", revision " + inst.Annotations[fleetv1alpha1.RevisionAnnotation]
		}
		lines = append(lines, terminal.Printable(line))
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", terminal.Printable(wave.Name))
	for i, line := range lines {
		branch := "├─ "
		if i == len(lines)-1 {
			branch = "└─ "
		}
		fmt.Fprintln(out, branch+line)
	}
}

func newWatchCommand(streams terminal.Streams) *cobra.Command {
	f := &connection.Flags{}
	command := &cobra.Command{
		Use:   "watch NAME",
		Short: "Print a line for each state of a roll-out, until it ends or stops",
		Long: `Print a line for each state of a roll-out, until all Targets have the newest revision. The exit
code is 1 if the roll-out stops.`,
		Example: `  landscaper-cli fleet watch shop`,
		Args:    terminal.Arguments(commandline.Arguments),
		RunE: func(command *cobra.Command, args []string) error {
			on, err := f.Connect()
			if err != nil {
				return err
			}
			return follow(command.Context(), streams.Out, on, args[0])
		},
		ValidArgsFunction: connection.CompleteFleets(f, 1),
	}
	f.Add(command)
	terminal.BeStrict(command)
	return command
}

// follow prints what the status says, as it changes.
func follow(ctx context.Context, out io.Writer, on *connection.Connection, name string) error {
	fleet, err := read(ctx, on, name)
	if err != nil {
		return err
	}
	said := ""
	if ended, err := progress(out, fleet, &said); ended {
		return err
	}
	for {
		events, err := on.Watches.Watch(ctx, &fleetv1alpha1.FleetList{}, client.InNamespace(on.Namespace), client.MatchingFields{"metadata.name": name})
		if err != nil {
			return explain(on, err)
		}
		ended, err := await(out, events, &said)
		events.Stop()
		if ended || ctx.Err() != nil {
			return cmp.Or(err, ctx.Err())
		}
	}
}

// await reads the events of a watch until it ends, or the roll-out does.
func await(out io.Writer, events watch.Interface, said *string) (ended bool, err error) {
	for event := range events.ResultChan() {
		fleet, is := event.Object.(*fleetv1alpha1.Fleet)
		if !is {
			continue
		}
		if event.Type == watch.Deleted {
			return true, fmt.Errorf("the Fleet %s was deleted", terminal.Printable(fleet.Name))
		}
		if ended, err := progress(out, fleet, said); ended {
			return true, err
		}
	}
	return false, nil
}

// progress prints the state if it has changed, and reports whether the roll-out has ended.
func progress(out io.Writer, fleet *fleetv1alpha1.Fleet, said *string) (ended bool, err error) {
	state := ready(fleet)
	var waves []string
	for i := range fleet.Status.Waves {
		wave := &fleet.Status.Waves[i]
		waves = append(waves, fmt.Sprintf("%s %s %d/%d", wave.Name, wave.State, wave.Counts.Succeeded, wave.Counts.Targets))
	}
	if line := terminal.Printable(state.Reason + ": " + strings.Join(waves, ", ")); line != *said {
		*said = line
		fmt.Fprintln(out, line)
	}
	switch {
	case fleet.Status.ObservedGeneration != fleet.Generation:
		return false, nil
	case state.Status == "True":
		return true, nil
	case state.Reason == "RolloutStopped" && !slices.ContainsFunc(fleet.Status.Waves, func(w fleetv1alpha1.WaveStatus) bool { return w.State == fleetv1alpha1.WaveGoingBack }):
		return true, fmt.Errorf("the roll-out has stopped: %s", terminal.Printable(state.Message))
	}
	return false, nil
}
