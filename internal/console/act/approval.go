package act

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/planner"
	"go.landscaper.dev/internal/landscape/approvals"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/preview"
)

// Stored implements console.Actor.
func (a *Actor) Stored(ctx context.Context, inst *v1alpha1.Installation) (*console.StoredPlan, error) {
	stored, err := read(ctx, a.client, inst)
	if err != nil || stored.Plan == nil {
		return stored, explained(err)
	}
	stored.Refusal, err = a.refusal(ctx, inst.Namespace, stored)
	return stored, explained(err)
}

// refusal says why the user cannot approve a plan; empty if the user can.
func (a *Actor) refusal(ctx context.Context, namespace string, stored *console.StoredPlan) (string, error) {
	may, err := a.may(ctx, authorizationv1.ResourceAttributes{Verb: "create", Group: deliveryv1alpha1.GroupName, Resource: "deliveryapprovals", Namespace: namespace})
	switch {
	case err != nil:
		return "", err
	case !may:
		return "You may not create DeliveryApprovals in this namespace.", nil
	}
	// Without a name, the API server says at the approval that there is one.
	user, err := approvals.WhoAmI(ctx, a.client)
	if err == nil && slices.Contains(stored.ApprovedBy, user) {
		return "You have approved this plan.", nil
	}
	if err == nil && slices.Contains(stored.Void, user) {
		return "Your approval of this plan does not count: delete the DeliveryApproval to approve the plan again.", nil
	}
	return "", nil
}

// read reads the plan that waits, with those who have approved it.
func read(ctx context.Context, c client.Client, inst *v1alpha1.Installation) (*console.StoredPlan, error) {
	stored := &console.StoredPlan{UID: inst.UID}
	newest, before, err := approvals.Newest(ctx, c, inst)
	if meta.IsNoMatchError(err) {
		return nil, &console.Refusal{Status: http.StatusNotFound, Text: "the cluster does not serve the kinds of approvals"}
	}
	if err != nil || newest == nil || !delivery.MayBeOfNextJob(newest, inst) {
		return stored, err
	}
	if stored.Plan, err = contentOf(ctx, c, newest); err != nil {
		return nil, err
	}
	given, err := approvals.Given(ctx, c, inst.Namespace)
	if err != nil {
		return nil, err
	}
	policies, err := approvals.Policies(ctx, c, inst.Namespace)
	if err != nil {
		return nil, err
	}
	stored.Since, stored.Deletion, stored.Unknown = newest.CreationTimestamp, newest.Spec.Installation.Deleted, newest.Spec.Summary.Unknown
	standing := delivery.StandingOf(newest, inst, policies, given, time.Now())
	stored.ApprovedBy, stored.Needs, stored.Void = standing.By, standing.Needs, standing.Void
	if before == nil {
		return stored, nil
	}
	earlier, err := contentOf(ctx, c, before)
	if err != nil {
		return nil, err
	}
	stored.Earlier = &console.EarlierPlan{
		Digest: before.Spec.Digest, ApprovedBy: delivery.StandingOf(before, inst, policies, given, time.Now()).By,
		Lines: diff.Lines(planner.Lines(earlier), planner.Lines(stored.Plan)),
	}
	return stored, nil
}

func contentOf(ctx context.Context, c client.Client, plan *deliveryv1alpha1.DeliveryPlan) (*console.Plan, error) {
	result := &preview.Result{}
	if err := approvals.Content(ctx, c, plan, result); err != nil {
		return nil, err // names the plan
	}
	shown := planner.Of(result)
	// What is approved is what the object says.
	shown.Digest = plan.Spec.Digest
	return shown, nil
}

// approve approves the plan that the user has seen, or none.
func (a *Actor) approve(ctx context.Context, inst *v1alpha1.Installation, request console.Request) error {
	refusal := func(status int, text string) error { return &console.Refusal{Status: status, Text: text} }
	if request.Digest == "" {
		return refusal(http.StatusUnprocessableEntity, "the request does not say which plan you have seen")
	}
	plan, key := &deliveryv1alpha1.DeliveryPlan{}, client.ObjectKey{Namespace: inst.Namespace, Name: deliveryplan.NameOf(inst.Name, request.Digest)}
	err := a.client.Get(ctx, key, plan)
	switch {
	case apierrors.IsNotFound(err), err == nil && (plan.Spec.Digest != request.Digest || plan.Spec.Installation.UID != inst.UID):
		return refusal(http.StatusConflict, "this plan is not stored any more: look at the present one")
	case err != nil:
		return fmt.Errorf("read the DeliveryPlan: %w", err)
	}
	_, err = approvals.Approve(ctx, a.client, plan, approvals.Choice{AcceptUnknown: request.AcceptUnknown, Comment: request.Comment})
	switch {
	case errors.Is(err, approvals.ErrUnknown):
		return refusal(http.StatusUnprocessableEntity, "the plan has parts that only the job can know: accept them, too")
	case errors.Is(err, approvals.ErrAlready):
		return refusal(http.StatusConflict, err.Error())
	}
	return err // says what failed
}

// may asks whether the user may do something.
func (a *Actor) may(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	said, err := a.reviews.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}, metav1.CreateOptions{})
	switch {
	case apierrors.IsForbidden(err):
		// The server may not act as this user: nothing is offered.
		return false, nil
	case err != nil:
		return false, fmt.Errorf("ask what you may do: %w", err)
	}
	return said.Status.Allowed && !said.Status.Denied, nil
}

// Stored implements console.Actor.
func (p PlansOnly) Stored(ctx context.Context, inst *v1alpha1.Installation) (*console.StoredPlan, error) {
	stored, err := read(ctx, p.Client, inst)
	if err == nil {
		stored.Refusal = "This console only reads."
	}
	return stored, explained(err)
}
