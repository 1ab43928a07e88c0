package approvals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
)

// userPart is how much of a digest of the name of a user is part of the name of an approval.
const userPart = 8

var (
	// ErrUnknown says that a plan has parts that the user has not accepted.
	ErrUnknown = errors.New("it has parts that only the job can know")
	// ErrAlready says that the user has approved a plan before.
	ErrAlready = errors.New("you have approved this plan already")
)

// Choice is what a user adds to an approval.
type Choice struct {
	// AcceptUnknown approves the parts, too, that only the job can know.
	AcceptUnknown bool
	Comment       string
}

// WhoAmI is the name by which the API server knows the user of a client.
func WhoAmI(ctx context.Context, c client.Client) (string, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(ctx, review); err != nil {
		return "", fmt.Errorf("ask the API server for the name of the user: %w", err)
	}
	return review.Status.UserInfo.Username, nil
}

// Approve approves a plan with the rights of the user of a client, whose name it returns. The approval is
// deleted with its plan.
func Approve(ctx context.Context, c client.Client, plan *deliveryv1alpha1.DeliveryPlan, choice Choice) (user string, err error) {
	if plan.Spec.Summary.Unknown > 0 && !choice.AcceptUnknown {
		return "", ErrUnknown
	}
	if user, err = WhoAmI(ctx, c); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(user))
	approval := &deliveryv1alpha1.DeliveryApproval{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: plan.Namespace, Name: plan.Name + "-" + hex.EncodeToString(sum[:])[:userPart],
			OwnerReferences: []metav1.OwnerReference{{APIVersion: deliveryv1alpha1.GroupVersion.String(), Kind: "DeliveryPlan", Name: plan.Name, UID: plan.UID}},
		},
		Spec: deliveryv1alpha1.DeliveryApprovalSpec{
			Installation: plan.Spec.Installation.Name, Digest: plan.Spec.Digest, ApprovedBy: user, AcceptUnknown: choice.AcceptUnknown, Comment: choice.Comment,
		},
	}
	switch err := c.Create(ctx, approval); {
	case apierrors.IsAlreadyExists(err):
		return "", fmt.Errorf("%w: delete DeliveryApproval %s to approve it again", ErrAlready, approval.Name)
	case err != nil:
		return "", fmt.Errorf("create DeliveryApproval %s: %w", approval.Name, err)
	}
	return user, nil
}
