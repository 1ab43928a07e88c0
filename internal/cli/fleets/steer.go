package fleets

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	model "go.landscaper.dev/internal/model/fleet"
)

// steering is a command that changes one Fleet.
type steering struct {
	connection.Flags
	act func(ctx context.Context, out io.Writer, on *connection.Connection, fleet *fleetv1alpha1.Fleet) error
}

func (s *steering) command(streams terminal.Streams, command *cobra.Command) *cobra.Command {
	command.Args = terminal.Arguments(commandline.Arguments)
	command.RunE = func(command *cobra.Command, args []string) error {
		on, err := s.Connect()
		if err != nil {
			return err
		}
		fleet, err := read(command.Context(), on, args[0])
		if err != nil {
			return err
		}
		return s.act(command.Context(), streams.Out, on, fleet)
	}
	command.ValidArgsFunction = connection.CompleteFleets(&s.Flags, 1)
	s.Add(command)
	terminal.BeStrict(command)
	return command
}

// patch changes some fields of a Fleet.
func patch(ctx context.Context, on *connection.Connection, fleet *fleetv1alpha1.Fleet, change map[string]any) error {
	raw, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("encode the change: %w", err)
	}
	if err := on.Client.Patch(ctx, fleet, client.RawPatch(types.MergePatchType, raw)); err != nil {
		return on.Explain(err)
	}
	return nil
}

func newPromoteCommand(streams terminal.Streams) *cobra.Command {
	s := &steering{act: promote}
	return s.command(streams, &cobra.Command{
		Use:   "promote NAME",
		Short: "Open the gates of the present wave that wait for a promotion",
		Long: `Open the gates of the present wave that wait for a promotion. It counts for the revision that is
rolled out now, and for this wave alone; other gates of the wave are asked nevertheless.`,
		Example: `  landscaper-cli fleet promote shop`,
	})
}

func promote(ctx context.Context, out io.Writer, on *connection.Connection, fleet *fleetv1alpha1.Fleet) error {
	name, wave := terminal.Printable(fleet.Name), fleet.Status.Wave
	if wave == "" {
		return fmt.Errorf("the Fleet %s has no wave that could be promoted: its roll-out has ended, or has not begun", name)
	}
	value := fleet.Status.Revision + "/" + wave
	if err := patch(ctx, on, fleet, map[string]any{"metadata": map[string]any{"annotations": map[string]any{fleetv1alpha1.PromotedAnnotation: value}}}); err != nil {
		return err
	}
	fmt.Fprintf(out, "wave %s of Fleet %s is promoted for revision %s\n", terminal.Printable(wave), name, terminal.Printable(fleet.Status.Revision))
	return nil
}

func newPauseCommand(streams terminal.Streams) *cobra.Command {
	reason := ""
	s := &steering{}
	s.act = func(ctx context.Context, out io.Writer, on *connection.Connection, fleet *fleetv1alpha1.Fleet) error {
		if err := patch(ctx, on, fleet, map[string]any{"spec": map[string]any{"rollout": map[string]any{"paused": map[string]any{"reason": reason}}}}); err != nil {
			return err
		}
		fmt.Fprintf(out, "Fleet %s begins no further Installation; jobs that run go on\n", terminal.Printable(fleet.Name))
		return nil
	}
	command := s.command(streams, &cobra.Command{
		Use: "pause NAME", Short: "Begin no further Installation of a Fleet",
		Example: `  landscaper-cli fleet pause shop --reason overload`,
	})
	command.Flags().StringVar(&reason, "reason", "", "why, for people")
	return command
}

func newResumeCommand(streams terminal.Streams) *cobra.Command {
	s := &steering{act: func(ctx context.Context, out io.Writer, on *connection.Connection, fleet *fleetv1alpha1.Fleet) error {
		if fleet.Spec.Rollout == nil || fleet.Spec.Rollout.Paused == nil {
			return fmt.Errorf("the Fleet %s is not paused", terminal.Printable(fleet.Name))
		}
		if err := patch(ctx, on, fleet, map[string]any{"spec": map[string]any{"rollout": map[string]any{"paused": nil}}}); err != nil {
			return err
		}
		fmt.Fprintf(out, "Fleet %s goes on\n", terminal.Printable(fleet.Name))
		return nil
	}}
	return s.command(streams, &cobra.Command{Use: "resume NAME", Short: "End the pause of a Fleet", Example: `  landscaper-cli fleet resume shop`})
}

func newGoBackCommand(streams terminal.Streams) *cobra.Command {
	to := ""
	s := &steering{}
	s.act = func(ctx context.Context, out io.Writer, on *connection.Connection, fleet *fleetv1alpha1.Fleet) error {
		return goBack(ctx, out, on, fleet, to)
	}
	command := s.command(streams, &cobra.Command{
		Use:   "go-back NAME",
		Short: "Give a Fleet the specification of an earlier revision",
		Long: `Give a Fleet the template, the version, the values and the overrides of an earlier revision:
without --to, of the one that all Targets had last, or else of the one before. It is a roll-out like any
other, in waves. A Fleet that follows a Channel has the version of the revision then, and no Channel.`,
		Example: `  landscaper-cli fleet go-back shop
  landscaper-cli fleet go-back shop --to shop-1f0c9a3be0d7f21c`,
	})
	command.Flags().StringVar(&to, "to", "", "the name of the ControllerRevision")
	return command
}

func goBack(ctx context.Context, out io.Writer, on *connection.Connection, fleet *fleetv1alpha1.Fleet, to string) error {
	list := &appsv1.ControllerRevisionList{}
	label := client.MatchingLabels{fleetv1alpha1.FleetLabel: model.LabelValue(fleet.Name)}
	if err := on.Client.List(ctx, list, client.InNamespace(fleet.Namespace), label); err != nil {
		return on.Explain(err)
	}
	revision := choose(fleet, list.Items, to)
	if revision == nil {
		return fmt.Errorf("the Fleet %s has no such revision: kubectl get controllerrevisions -l %s=%s lists those that are kept", terminal.Printable(fleet.Name), fleetv1alpha1.FleetLabel, model.LabelValue(fleet.Name))
	}
	content, err := model.Decode(revision.Data.Raw)
	if err != nil {
		return err // says what was read
	}
	channel := fleet.Spec.Version != nil && fleet.Spec.Version.Channel != ""
	fleet.Spec.Template, fleet.Spec.Values, fleet.Spec.Overrides, fleet.Spec.Version = content.Template, content.Values, content.Overrides, nil
	if content.Version != "" {
		fleet.Spec.Version = &fleetv1alpha1.FleetVersion{Version: content.Version}
	}
	if err := on.Client.Update(ctx, fleet); err != nil {
		return on.Explain(err)
	}
	fmt.Fprintf(out, "Fleet %s rolls revision %s out, with version %s\n", terminal.Printable(fleet.Name), terminal.Printable(revision.Name), terminal.Printable(cmp.Or(content.Version, "of the template")))
	if channel {
		fmt.Fprintln(out, "it does not follow its Channel any more: write spec.version.channel when it is to do so again")
	}
	return nil
}

// choose returns the revision with a name, or without one that to which a user mostly wants to go back.
func choose(fleet *fleetv1alpha1.Fleet, all []appsv1.ControllerRevision, to string) *appsv1.ControllerRevision {
	own := slices.DeleteFunc(all, func(one appsv1.ControllerRevision) bool { return !metav1.IsControlledBy(&one, fleet) })
	slices.SortFunc(own, func(a, b appsv1.ControllerRevision) int { return cmp.Compare(b.Revision, a.Revision) })
	last := fleet.Status.LastRevision
	if to == "" && last != fleet.Status.Revision {
		to = last
	}
	for i := range own {
		if own[i].Name == to || to == "" && own[i].Name != fleet.Status.Revision {
			return &own[i]
		}
	}
	return nil
}
