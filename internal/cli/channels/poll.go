package channels

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
)

func newPollCommand(streams terminal.Streams) *cobra.Command {
	f := &connection.Flags{}
	command := &cobra.Command{
		Use:   "poll NAME",
		Short: "Let a Channel ask its registry now",
		Long: `Let a Channel ask its registry now, instead of at the end of its interval. The tag of the
version that it offers is looked at, too. Requests within five seconds are one.`,
		Example: `  landscaper-cli channels poll stable`,
		Args:    terminal.Arguments(cobra.MatchAll(needsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			on, err := f.Connect()
			if err != nil {
				return err
			}
			return poll(command.Context(), streams, on, args[0])
		},
		ValidArgsFunction: connection.CompleteChannels(f, 1),
	}
	f.Add(command)
	terminal.BeStrict(command)
	return command
}

func poll(ctx context.Context, streams terminal.Streams, on *connection.Connection, name string) error {
	ch, err := read(ctx, on, name)
	if err != nil {
		return err
	}
	if ch.Spec.Suspended {
		return fmt.Errorf("the Channel %s is suspended: remove spec.suspended first", terminal.Printable(name))
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, fleetv1alpha1.PollAnnotation, time.Now().UTC().Format(time.RFC3339Nano))
	if err := on.Client.Patch(ctx, ch, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return on.Explain(err)
	}
	fmt.Fprintf(streams.Out, "Channel %s asks its registry now\n", terminal.Printable(name))
	return nil
}
