package change

import (
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
	f := &connection.Flags{}
	var reason string
	policy := false
	command := &cobra.Command{
		Use:   "pause NAME",
		Short: "Let no job of a root Installation begin, and running ones begin no further item",
		Long: `Pause a root Installation: no job begins, and a running job begins no further deploy
item. Items at work end. The command writes a DeliveryPolicy with the name pause-NAME;
with --policy, NAME is a DeliveryPolicy, and everything that it selects is paused. The
server needs the feature DeliveryPolicies.`,
		Example: `  landscaper-cli installations pause shop --reason incident-7
  landscaper-cli installations pause --policy production`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			terminal.BeStrict(command)
			on, err := f.Connect()
			if err != nil {
				return err
			}
			name := client.ObjectKey{Namespace: on.Namespace, Name: args[0]}
			if policy {
				err = requests.SetPause(command.Context(), on.Client, name, &deliveryv1alpha1.Pause{Reason: reason})
			} else {
				err = requests.Pause(command.Context(), on.Client, name, reason)
			}
			if err != nil {
				return on.Explain(err)
			}
			fmt.Fprintf(command.OutOrStdout(), "Paused %s until it is resumed\n", args[0])
			return nil
		},
		ValidArgsFunction: connection.CompleteRoots(f, 1),
	}
	f.Add(command)
	command.Flags().StringVar(&reason, "reason", "", "why, for others who wonder")
	command.Flags().BoolVar(&policy, "policy", false, "NAME is a DeliveryPolicy")
	return command
}

// NewResumeCommand returns the command that ends a pause.
func NewResumeCommand(terminal.Streams) *cobra.Command {
	f := &connection.Flags{}
	policy := false
	command := &cobra.Command{
		Use:   "resume NAME",
		Short: "End the pause of a root Installation",
		Long: `End the pause of a root Installation: the DeliveryPolicy with the name pause-NAME is
deleted. With --policy, NAME is a DeliveryPolicy, whose pause is removed. Other policies
may still let no job begin.`,
		Example: `  landscaper-cli installations resume shop
  landscaper-cli installations resume --policy production`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			terminal.BeStrict(command)
			on, err := f.Connect()
			if err != nil {
				return err
			}
			name := client.ObjectKey{Namespace: on.Namespace, Name: args[0]}
			if policy {
				err = requests.SetPause(command.Context(), on.Client, name, nil)
			} else {
				err = requests.Resume(command.Context(), on.Client, name)
			}
			if err != nil {
				return on.Explain(err)
			}
			fmt.Fprintf(command.OutOrStdout(), "Resumed %s\n", args[0])
			return nil
		},
		ValidArgsFunction: connection.CompleteRoots(f, 1),
	}
	f.Add(command)
	command.Flags().BoolVar(&policy, "policy", false, "NAME is a DeliveryPolicy")
	return command
}
