package plans

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/plan"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/approvals"
	"go.landscaper.dev/internal/model/delivery"
)

type approving struct {
	connection.Flags
	digest, comment    string
	acceptUnknown, yes bool
}

func newApproveCommand(streams terminal.Streams) *cobra.Command {
	f := &approving{}
	command := &cobra.Command{
		Use:   "approve NAME",
		Short: "Approve the plan of the next job of a root Installation",
		Long: `Approve the plan of the next job of a root Installation. With --digest, exactly that plan
is approved, or none. Without it, the command shows the newest plan and asks. You need
the right to create DeliveryApprovals; the API server ensures that yours has your name.

A plan with parts that only the job can know is approved with --accept-unknown alone.`,
		Example: `  landscaper-cli plans approve shop
  landscaper-cli plans approve shop --digest sha256:0b1c2d3e4f --comment CHG-17`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			if f.digest == "" && !streams.Terminal && !f.yes {
				return terminal.Usage(errors.New("name the plan with --digest: without a terminal there is no user to show it to"))
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
	flags.StringVar(&f.digest, "digest", "", "digest of the plan, or its beginning")
	flags.StringVar(&f.comment, "comment", "", "why, for others who wonder")
	flags.BoolVar(&f.acceptUnknown, "accept-unknown", false, "approve the parts, too, that only the job can know")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	terminal.BeStrict(command)
	return command
}

func (f *approving) run(ctx context.Context, streams terminal.Streams, on *connection.Connection, name string) error {
	s, err := read(ctx, on)
	if err != nil {
		return err
	}
	found, _, err := s.find(ctx, name, f.digest)
	if err != nil {
		return err
	}
	if f.digest == "" {
		result, err := s.result(ctx, found)
		if err != nil {
			return err
		}
		fmt.Fprint(streams.Err, plan.Text(result, false))
	}
	if present, _, err := s.find(ctx, name, ""); err == nil && present.Name != found.Name {
		fmt.Fprintf(streams.Err, "Warning: the next job needs an approval of plan %s: look at it with landscaper-cli plans show %s\n", present.Spec.Digest, name)
	}
	if unknown := found.Spec.Summary.Unknown; unknown > 0 && !f.acceptUnknown {
		return fmt.Errorf("plan %s has %d parts that only the job can know: look at them with landscaper-cli plans show %s, and accept them with --accept-unknown", found.Spec.Digest, unknown, name)
	}
	if err := streams.Confirm("Approve plan "+found.Spec.Digest+"?", f.yes || f.digest != ""); err != nil {
		return err
	}
	user, err := approvals.Approve(ctx, on.Client, found, approvals.Choice{AcceptUnknown: f.acceptUnknown, Comment: f.comment})
	switch {
	case apierrors.IsForbidden(err):
		return terminal.Exitf(terminal.ExitForbidden, "%w", err)
	case errors.Is(err, approvals.ErrAlready):
		return err // says what to do
	case err != nil:
		return explain(on, err)
	}
	fmt.Fprintf(streams.Out, "Approved plan %s of %s as %s: %s\n", found.Spec.Digest, name, terminal.Printable(user), delivery.Describe(found.Spec.Summary))
	return nil
}
