package delivery

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// ownRule stands in a verdict in the place of a policy for what an Installation asks for itself. No object
// can have this name.
const ownRule = "annotation " + deliveryv1alpha1.ApprovalAnnotation

// OwnRule is which approvals a root asks for itself; empty without any. It counts where the feature is on.
func OwnRule(root *v1alpha1.Installation) string {
	return root.Annotations[deliveryv1alpha1.ApprovalAnnotation]
}

// ownRules are the rules of a policy that asks for one approval, and lets users accept unknown parts.
func ownRules(value string) Rules {
	when := deliveryv1alpha1.ApprovalWhen(value)
	rules := Read(&deliveryv1alpha1.DeliveryPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: ownRule},
		Spec:       deliveryv1alpha1.DeliveryPolicySpec{Approval: &deliveryv1alpha1.ApprovalRule{When: when}},
	})
	if !slices.Contains([]deliveryv1alpha1.ApprovalWhen{deliveryv1alpha1.ApproveAlways, deliveryv1alpha1.ApproveDeletions}, when) {
		rules.Err = fmt.Errorf("its value %.40q is not %s or %s", value, deliveryv1alpha1.ApproveAlways, deliveryv1alpha1.ApproveDeletions)
	}
	return rules
}

// refuseOwn refuses a job whose owner asks for something that is not understood: what was meant is not
// known, as with a policy.
func refuseOwn(err error) Verdict {
	return Verdict{Reason: reasons.InvalidPolicy, Policy: ownRule, Policies: []string{ownRule}, Message: err.Error()}
}

// source is what defers a job, for people.
func source(policy string) string {
	if policy == ownRule {
		return ownRule
	}
	return "DeliveryPolicy " + policy
}

// policies are those among names: the Installation itself is always watched.
func policies(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == ownRule })
}
