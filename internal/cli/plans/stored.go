package plans

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/approvals"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/preview"
)

// shortest is how much of a digest is enough to mean a plan.
const shortest = 17

// stored are the plans and approvals of a namespace.
type stored struct {
	on *connection.Connection
	// plans are the first parts, the newest first.
	plans     []deliveryv1alpha1.DeliveryPlan
	approvals []*deliveryv1alpha1.DeliveryApproval
	policies  []*deliveryv1alpha1.DeliveryPolicy
	// roots are the Installations that were read, by their UIDs.
	roots map[types.UID]*v1alpha1.Installation
}

func read(ctx context.Context, on *connection.Connection) (*stored, error) {
	plans := &deliveryv1alpha1.DeliveryPlanList{}
	if err := on.Client.List(ctx, plans, client.InNamespace(on.Namespace)); err != nil {
		return nil, explain(on, err)
	}
	given, err := approvals.Given(ctx, on.Client, on.Namespace)
	if err != nil {
		return nil, explain(on, err)
	}
	policies, err := approvals.Policies(ctx, on.Client, on.Namespace)
	if err != nil {
		return nil, explain(on, err)
	}
	s := &stored{on: on, plans: plans.Items, approvals: given, policies: policies, roots: map[types.UID]*v1alpha1.Installation{}}
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

// readRoots reads the Installations of the namespace, if the user may do that.
func (s *stored) readRoots(ctx context.Context) error {
	list := &v1alpha1.InstallationList{}
	if err := s.on.Client.List(ctx, list, client.InNamespace(s.on.Namespace)); err != nil && !apierrors.IsForbidden(err) {
		return s.on.Explain(err)
	}
	for i := range list.Items {
		s.roots[list.Items[i].UID] = &list.Items[i]
	}
	return nil
}

// find returns the plan of an Installation with a digest, or the newest one.
func (s *stored) find(ctx context.Context, name, digest string) (found *deliveryv1alpha1.DeliveryPlan, before *deliveryv1alpha1.DeliveryPlan, err error) {
	inst, err := s.on.Installation(ctx, name)
	if err != nil {
		return nil, nil, s.on.Explain(err)
	}
	s.roots[inst.UID] = inst
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

// standing says how far the approval of a plan is. Where the user may not read Installations or policies,
// or no job needs the plan any more, it does not say how many have to approve.
func (s *stored) standing(plan *deliveryv1alpha1.DeliveryPlan) delivery.Standing {
	root := s.roots[plan.Spec.Installation.UID]
	if root == nil {
		root = &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: plan.Namespace, Name: plan.Spec.Installation.Name}}
		return delivery.StandingOf(plan, root, nil, s.approvals, time.Now())
	}
	standing := delivery.StandingOf(plan, root, s.policies, s.approvals, time.Now())
	if !delivery.MayBeOfNextJob(plan, root) {
		standing.Needs = 0
	}
	return standing
}

// approvedBy are the users who have approved a plan, and how many have to; or another text without any.
func approvedBy(standing delivery.Standing, none string) string {
	by := cmp.Or(strings.Join(standing.By, ", "), none)
	if standing.Needs > 0 {
		by += fmt.Sprintf(" (%d of %d)", len(standing.By), standing.Needs)
	}
	return by
}
