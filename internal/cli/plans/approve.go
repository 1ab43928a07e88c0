package plans

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/plan"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/model/delivery"
)

// userPart is how much of a digest of the name of a user is part of the name of an approval.
const userPart = 8

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
	if unknown := found.Spec.Summary.Unknown; unknown > 0 && !f.acceptUnknown {
		return fmt.Errorf("plan %s has %d parts that only the job can know: look at them with landscaper-cli plans show %s, and accept them with --accept-unknown", found.Spec.Digest, unknown, name)
	}
	if err := streams.Confirm("Approve plan "+found.Spec.Digest+"?", f.yes || f.digest != ""); err != nil {
		return err
	}
	user, err := whoAmI(ctx, on)
	if err != nil {
		return err
	}
	if err := f.create(ctx, on, found, user); err != nil {
		return err
	}
	fmt.Fprintf(streams.Out, "Approved plan %s of %s as %s: %s\n", found.Spec.Digest, name, terminal.Printable(user), delivery.Describe(found.Spec.Summary))
	return nil
}

// whoAmI is the name by which the API server knows the user.
func whoAmI(ctx context.Context, on *connection.Connection) (string, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := on.Client.Create(ctx, review); err != nil {
		return "", fmt.Errorf("ask the API server for the name of the user: %w", on.Explain(err))
	}
	return review.Status.UserInfo.Username, nil
}

// create creates the approval, which goes with its plan.
func (f *approving) create(ctx context.Context, on *connection.Connection, found *deliveryv1alpha1.DeliveryPlan, user string) error {
	sum := sha256.Sum256([]byte(user))
	approval := &deliveryv1alpha1.DeliveryApproval{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: found.Namespace, Name: found.Name + "-" + hex.EncodeToString(sum[:])[:userPart],
			OwnerReferences: []metav1.OwnerReference{{APIVersion: deliveryv1alpha1.GroupVersion.String(), Kind: "DeliveryPlan", Name: found.Name, UID: found.UID}},
		},
		Spec: deliveryv1alpha1.DeliveryApprovalSpec{
			Installation: found.Spec.Installation.Name, Digest: found.Spec.Digest, ApprovedBy: user, AcceptUnknown: f.acceptUnknown, Comment: f.comment,
		},
	}
	switch err := on.Client.Create(ctx, approval); {
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("you have approved this plan already: delete DeliveryApproval %s to approve it again", approval.Name)
	case apierrors.IsForbidden(err):
		return terminal.Exitf(terminal.ExitForbidden, "create DeliveryApproval %s: %w", approval.Name, err)
	case err != nil:
		return fmt.Errorf("create DeliveryApproval %s: %w", approval.Name, explain(on, err))
	}
	return nil
}
