package plans

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/approvals"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/preview"
)

// shortest is how much of a digest is enough to mean a plan.
const shortest = 17

// stored are the plans and approvals of a namespace.
type stored struct {
	on *connection.Connection
	// plans are the first parts, the newest first.
	plans     []deliveryv1alpha1.DeliveryPlan
	approvals []deliveryv1alpha1.DeliveryApproval
}

func read(ctx context.Context, on *connection.Connection) (*stored, error) {
	plans, approved := &deliveryv1alpha1.DeliveryPlanList{}, &deliveryv1alpha1.DeliveryApprovalList{}
	if err := on.Client.List(ctx, plans, client.InNamespace(on.Namespace)); err != nil {
		return nil, explain(on, err)
	}
	if err := on.Client.List(ctx, approved, client.InNamespace(on.Namespace)); err != nil {
		return nil, explain(on, err)
	}
	s := &stored{on: on, plans: plans.Items, approvals: approved.Items}
	s.plans = slices.DeleteFunc(s.plans, func(plan deliveryv1alpha1.DeliveryPlan) bool { return plan.Spec.Part != 0 })
	slices.SortFunc(s.plans, func(a, b deliveryv1alpha1.DeliveryPlan) int { return deliveryplan.Newer(&a, &b) })
	return s, nil
}

// explain says what to do where the cluster does not have the kinds.
func explain(on *connection.Connection, err error) error {
	if apierrors.IsNotFound(err) {
		return terminal.Exitf(terminal.ExitNotFound, "%s does not serve the kinds of approvals: landscaper install --feature-gates=DeliveryPolicies=true brings them: %w", on.Where, err)
	}
	return on.Explain(err)
}

// of returns the plans of an Installation that exists, the newest first.
func (s *stored) of(inst *v1alpha1.Installation) []deliveryv1alpha1.DeliveryPlan {
	return slices.DeleteFunc(slices.Clone(s.plans), func(plan deliveryv1alpha1.DeliveryPlan) bool { return plan.Spec.Installation.UID != inst.UID })
}

// find returns the plan of an Installation with a digest, or the newest one.
func (s *stored) find(ctx context.Context, name, digest string) (found *deliveryv1alpha1.DeliveryPlan, before *deliveryv1alpha1.DeliveryPlan, err error) {
	inst, err := s.on.Installation(ctx, name)
	if err != nil {
		return nil, nil, s.on.Explain(err)
	}
	if digest != "" && (len(digest) < shortest || !strings.HasPrefix(digest, "sha256:")) {
		return nil, nil, terminal.Usage(fmt.Errorf("--digest %q: write sha256: and at least %d digits", digest, shortest-len("sha256:")))
	}
	own := s.of(inst)
	at := slices.IndexFunc(own, func(plan deliveryv1alpha1.DeliveryPlan) bool { return strings.HasPrefix(plan.Spec.Digest, digest) })
	switch {
	case len(own) == 0:
		return nil, nil, terminal.Exitf(terminal.ExitNotFound, "no plan of Installation %s is stored: landscaper-cli inspect %s says what its next job waits for", name, name)
	case at < 0:
		return nil, nil, terminal.Exitf(terminal.ExitNotFound, "Installation %s has no plan %s: the present one is %s", name, digest, own[0].Spec.Digest)
	case at+1 < len(own):
		before = &own[at+1]
	}
	return &own[at], before, nil
}

// result reads the content of a plan.
func (s *stored) result(ctx context.Context, plan *deliveryv1alpha1.DeliveryPlan) (*preview.Result, error) {
	result := &preview.Result{}
	if err := approvals.Content(ctx, s.on.Client, plan, result); err != nil {
		return nil, err // names the plan
	}
	return result, nil
}

// approvedBy are the users who have approved a plan.
func (s *stored) approvedBy(plan *deliveryv1alpha1.DeliveryPlan) []string {
	return approvals.By(s.approvals, plan)
}
