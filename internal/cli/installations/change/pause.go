package change

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/requests"
)

// NewPauseCommand returns the command that stops deliveries.
func NewPauseCommand(terminal.Streams) *cobra.Command {
	reason := ""
	command := newPausing(&cobra.Command{
		Use:   "pause NAME",
		Short: "Let no job of a root Installation begin, and running ones begin no further item",
		Long: `Pause a root Installation: no job begins, and a running job begins no further deploy
item. Items at work end. The command writes a DeliveryPolicy with the name pause-NAME;
with --policy, NAME is a DeliveryPolicy, and everything that it selects is paused. The
server needs the feature DeliveryPolicies.`,
		Example: `  landscaper-cli installations pause shop --reason incident-7
  landscaper-cli installations pause --policy production`,
	}, "Paused %s until it is resumed\n",
		func(ctx context.Context, c client.Client, root client.ObjectKey) error {
			return requests.Pause(ctx, c, root, reason)
		},
		func(ctx context.Context, c client.Client, policy client.ObjectKey) error {
			return requests.SetPause(ctx, c, policy, &deliveryv1alpha1.Pause{Reason: reason})
		})
	command.Flags().StringVar(&reason, "reason", "", "why, for others who wonder")
	return command
}

// NewResumeCommand returns the command that ends a pause.
func NewResumeCommand(terminal.Streams) *cobra.Command {
	return newPausing(&cobra.Command{
		Use:   "resume NAME",
		Short: "End the pause of a root Installation",
		Long: `End the pause of a root Installation: the DeliveryPolicy with the name pause-NAME is
deleted. With --policy, NAME is a DeliveryPolicy, whose pause is removed. Other policies
may still let no job begin.`,
		Example: `  landscaper-cli installations resume shop
  landscaper-cli installations resume --policy production`,
	}, "Resumed %s\n", requests.Resume,
		func(ctx context.Context, c client.Client, policy client.ObjectKey) error {
			return requests.SetPause(ctx, c, policy, nil)
		})
}

// pausing begins or ends a pause of what has a name.
type pausing func(ctx context.Context, c client.Client, name client.ObjectKey) error

// newPausing completes a command that begins or ends the pause of a root or, with --policy, of all that a
// DeliveryPolicy selects. Done is said at the end, with the name.
func newPausing(command *cobra.Command, done string, ofRoot, ofPolicy pausing) *cobra.Command {
	f := &connection.Flags{}
	policy := false
	command.Args = terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments))
	command.ValidArgsFunction = connection.CompleteRoots(f, 1)
	command.RunE = func(command *cobra.Command, args []string) error {
		terminal.BeStrict(command)
		on, err := f.Connect()
		if err != nil {
			return err
		}
		change := ofRoot
		if policy {
			change = ofPolicy
		}
		if err := change(command.Context(), on.Client, client.ObjectKey{Namespace: on.Namespace, Name: args[0]}); err != nil {
			return on.Explain(err)
		}
		fmt.Fprintf(command.OutOrStdout(), done, args[0])
		return nil
	}
	f.Add(command)
	command.Flags().BoolVar(&policy, "policy", false, "NAME is a DeliveryPolicy")
	return command
}
