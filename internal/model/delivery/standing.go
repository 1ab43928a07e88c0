package delivery

import (
	"slices"
	"time"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
)

// Standing is how far the approval of a plan is, for people who look at it.
type Standing struct {
	// By are the users whose approvals count, and Needs is how many have to approve; 0 if nothing asks for
	// that.
	By    []string
	Needs int
	// Void are the users whose approvals do not count: they are too old, are being withdrawn, or do not
	// accept unknown parts.
	Void []string
}

// StandingOf judges the approvals of a stored plan as its job does. Of several rules, it is about the one
// that lacks most. Where the policies are not known, approvals count as long as they do by default.
func StandingOf(plan *deliveryv1alpha1.DeliveryPlan, inst *v1alpha1.Installation, policies []*deliveryv1alpha1.DeliveryPolicy, approvals []*deliveryv1alpha1.DeliveryApproval, now time.Time) Standing {
	in := Asked{
		Policies: policies, Inst: inst, Own: OwnRule(inst), Approvals: approvals, Now: now,
		Planned: &Planned{Digest: plan.Spec.Digest, Summary: plan.Spec.Summary},
	}
	// What the root asks for and is not understood demands nothing: no job begins.
	rules, _, _ := in.rules()
	byDefault := ownRules(string(deliveryv1alpha1.ApproveAlways)).validFor
	standing := Standing{By: usersOf(in.counting(byDefault))}
	for _, rule := range rules {
		approval := rule.policy.Spec.Approval
		if rule.Err != nil || !asksForApproval(approval, plan.Spec.Summary) {
			continue
		}
		one := Standing{By: usersOf(in.counting(rule.validFor)), Needs: max(int(approval.Approvers), 1)}
		if standing.Needs == 0 || one.lacks() > standing.lacks() || one.lacks() == standing.lacks() && one.Needs > standing.Needs {
			standing = one
		}
	}
	standing.Void = slices.DeleteFunc(in.approvers(), func(user string) bool { return slices.Contains(standing.By, user) })
	return standing
}

// lacks is how many more users have to approve.
func (s Standing) lacks() int { return max(s.Needs-len(s.By), 0) }

// approvers are the users who have ever approved the plan.
func (in Asked) approvers() []string {
	var all []*deliveryv1alpha1.DeliveryApproval
	for _, approval := range in.Approvals {
		if in.isFor(approval) {
			all = append(all, approval)
		}
	}
	return usersOf(all)
}

// MayBeOfNextJob reports whether a stored plan may be that of the next job. One that was carried out, or
// follows from an earlier specification, stays until there is another one.
func MayBeOfNextJob(plan *deliveryv1alpha1.DeliveryPlan, inst *v1alpha1.Installation) bool {
	of := plan.Spec.Installation
	switch {
	case of.UID != inst.UID, carriedOut(inst, plan.Spec.Digest), predicates.BeingDeleted(inst) && !of.Deleted:
		return false
	}
	// A cache may show an Installation that is older than the plan.
	return of.Generation >= inst.Generation
}
