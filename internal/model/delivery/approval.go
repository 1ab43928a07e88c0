package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// Fresh is how old a plan may be when its job begins. An older one is worked out again first, and
	// has to have the same digest.
	Fresh = 30 * time.Second
	// planAge is when the plan of a job that waits is worked out again, for those who look at it.
	planAge = time.Hour
	// planRetry is when a plan is tried again that could not be worked out.
	planRetry = time.Minute
	// planPause is how long a root waits at least between two plans, whatever changes.
	planPause = 5 * time.Second
)

// PlanBasis is what tells the plans of an Installation apart before they are worked out.
type PlanBasis struct {
	Generation int64
	// JobID is the last job: each job needs a plan of its own.
	JobID   string
	Deleted bool
}

// BasisOf is that of the next job of an Installation.
func BasisOf(inst *v1alpha1.Installation) PlanBasis {
	return PlanBasis{Generation: inst.Generation, JobID: inst.Status.JobID, Deleted: predicates.BeingDeleted(inst)}
}

// Planned is what is known of the plan of the next job.
type Planned struct {
	Basis PlanBasis
	// At is when it was worked out, or was tried.
	At time.Time
	// Failed is why there is no plan; Refused says that another attempt gives no other answer.
	Failed  string
	Refused bool
	// Name is the name of the DeliveryPlan.
	Name, Digest string
	Summary      deliveryv1alpha1.PlanSummary
	// Seen are the approvals that there were before it was worked out.
	Seen []types.UID
}

// Asked is what an approval depends on.
type Asked struct {
	Policies []*deliveryv1alpha1.DeliveryPolicy
	Inst     *v1alpha1.Installation
	// Own is what the Installation asks for itself, see OwnRule; empty where the feature is off.
	Own string
	// Planned is nil without a plan.
	Planned *Planned
	// Approvals and Plans are those of the namespace.
	Approvals []*deliveryv1alpha1.DeliveryApproval
	Plans     []*deliveryv1alpha1.DeliveryPlan
	Now       time.Time

	// opens is when the job may begin at the earliest, whatever its plan is; zero if it may now.
	opens time.Time
}

// Ahead adds to a refusal what becomes of the plan meanwhile. The plan of a job that waits for a time is
// worked out as soon as an approval given then counts at that time: users approve by day what runs at
// night. It is compared once more when the job begins.
func (in Asked) Ahead(refused Verdict) Verdict {
	rules, _, _ := in.rules()
	if len(rules) == 0 || refused.Until.IsZero() {
		return refused
	}
	shortest := slices.MinFunc(rules, func(a, b Rules) int { return cmp.Compare(a.validFor, b.validFor) }).validFor
	if from := refused.Until.Add(-shortest); in.Now.Before(from) {
		refused.again = from
		return refused
	}
	in.opens = refused.Until
	about := in.judge(rules)
	refused.Work, refused.again, refused.awaits = about.Work, about.again, about.awaits
	switch {
	case !about.Permitted():
		refused.Message += "; " + about.Message
	case len(about.Plan.ApprovedBy) == 0:
		refused.Message += "; its plan " + about.Plan.Digest + " needs no approval"
	default:
		refused.Message += "; its plan " + about.Plan.Digest + " is approved by " + strings.Join(about.Plan.ApprovedBy, " and ") + ", and is compared with what would happen then"
	}
	return refused
}

// JudgeApproval says whether the next job of a root may begin as far as its plan is concerned. A verdict
// that permits it names the plan, if a policy asks for one.
func JudgeApproval(in Asked) Verdict {
	rules, overridden, err := in.rules()
	if err != nil {
		return refuseOwn(err)
	}
	if len(rules) == 0 {
		return Verdict{Overridden: overridden}
	}
	verdict := in.judge(rules)
	verdict.Overridden = overridden
	if verdict.Permitted() {
		return verdict
	}
	verdict.Planning = true
	for _, rule := range rules {
		verdict.Policies = append(verdict.Policies, rule.name)
	}
	verdict.Policy = cmp.Or(verdict.Policy, rules[0].name)
	return verdict
}

// rules are all that ask for approvals, and a policy that is overridden. An error says that what the root
// itself asks for is not understood.
func (in Asked) rules() (rules []Rules, overridden string, err error) {
	rules, overridden = approvalRules(in.Policies, in.Inst)
	if in.Own == "" {
		return rules, overridden, nil
	}
	own := ownRules(in.Own)
	if own.Err != nil {
		return rules, overridden, own.Err
	}
	return append(rules, own), overridden, nil
}

// approvalRules are the policies that ask for approvals of a root, and one that is overridden.
func approvalRules(policies []*deliveryv1alpha1.DeliveryPolicy, inst *v1alpha1.Installation) (selecting []Rules, overridden string) {
	for _, policy := range policies {
		if policy.Spec.Approval == nil {
			continue
		}
		switch rules := Read(policy); {
		case !rules.Selects(inst):
		case rules.overriddenBy(inst):
			overridden = rules.name
		default:
			selecting = append(selecting, rules)
		}
	}
	slices.SortFunc(selecting, func(a, b Rules) int { return strings.Compare(a.name, b.name) })
	return selecting, overridden
}

func (in Asked) judge(rules []Rules) Verdict {
	planned := in.Planned
	switch {
	case planned == nil:
		return Verdict{Pending: true, Reason: reasons.PlanPending, Message: "its plan is being worked out", Work: true}
	case planned.Basis != BasisOf(in.Inst):
		return in.planAgain(Verdict{Pending: true, Reason: reasons.PlanPending, Message: "its plan is being worked out"}, planPause)
	case planned.Refused:
		return in.planAgain(Verdict{Reason: reasons.PlanRefused, Message: planned.Failed}, planAge)
	case planned.Failed != "":
		return in.planAgain(Verdict{Reason: reasons.PlanFailed, Message: "its plan cannot be worked out: " + planned.Failed}, planRetry)
	}
	approvers, unseen := map[string]bool{}, false
	for _, rule := range rules {
		refused, counting := in.against(rule)
		if refused != nil {
			refused.Policy = rule.name
			return in.planAgain(*refused, planAge)
		}
		for _, approval := range counting {
			approvers[approval.Spec.ApprovedBy] = true
			unseen = unseen || !slices.Contains(planned.Seen, approval.UID)
		}
	}
	if in.opens.IsZero() && (unseen || in.Now.Sub(planned.At) > Fresh) {
		// What was approved has to be what happens now, not what was shown.
		return Verdict{Pending: true, Reason: reasons.PlanPending, Message: "its plan " + planned.Digest + " may be carried out, and is compared with what would happen now", Work: true}
	}
	approved := &v1alpha1.ApprovedPlan{Name: planned.Name, Digest: planned.Digest}
	for user := range approvers {
		approved.ApprovedBy = append(approved.ApprovedBy, user)
	}
	slices.Sort(approved.ApprovedBy)
	if !in.opens.IsZero() {
		return in.planAgain(Verdict{Plan: approved}, planAge)
	}
	return Verdict{Plan: approved}
}

// planAgain lets a plan be worked out again some time after the last one.
func (in Asked) planAgain(verdict Verdict, after time.Duration) Verdict {
	again := in.Planned.At.Add(after)
	if in.Now.Before(again) {
		verdict.again = again
		return verdict
	}
	verdict.Work = true
	return verdict
}

// against judges the plan by a rule: it returns why the job may not begin, or the approvals.
func (in Asked) against(rule Rules) (refused *Verdict, counting []*deliveryv1alpha1.DeliveryApproval) {
	approval, summary := rule.policy.Spec.Approval, in.Planned.Summary
	switch {
	case summary.Unknown > 0 && approval.Unknown == deliveryv1alpha1.RefuseUnknown:
		return &Verdict{Reason: reasons.PlanRefused, Message: fmt.Sprintf("plan %s has %d parts that only the job can know, which the policy does not permit", in.Planned.Digest, summary.Unknown)}, nil
	case !asksForApproval(approval, summary):
		return nil, nil
	}
	counting = in.counting(rule.validFor)
	if len(usersOf(counting)) >= max(int(approval.Approvers), 1) {
		return nil, counting
	}
	return &Verdict{awaits: true, Reason: reasons.ApprovalRequired, Message: in.lacking(rule, usersOf(counting))}, nil
}

// asksForApproval reports whether a plan needs an approval. One with unknown parts always does: a change
// could hide there.
func asksForApproval(approval *deliveryv1alpha1.ApprovalRule, summary deliveryv1alpha1.PlanSummary) bool {
	if summary.Unknown > 0 {
		return true
	}
	switch approval.When {
	case deliveryv1alpha1.ApproveDeletions:
		return summary.Delete+summary.Replace > 0
	case deliveryv1alpha1.ApproveObjects:
		changed := summary.Create + summary.Change + summary.Delete + summary.Replace + summary.Move
		return approval.Objects == nil || changed > *approval.Objects
	}
	return true
}

// counting are the approvals of the plan. Those for a job that waits for a time have to count then.
func (in Asked) counting(validFor time.Duration) []*deliveryv1alpha1.DeliveryApproval {
	begins := in.Now
	if !in.opens.IsZero() {
		begins = in.opens
	}
	var all []*deliveryv1alpha1.DeliveryApproval
	for _, approval := range in.Approvals {
		counts := in.isFor(approval) && approval.DeletionTimestamp == nil &&
			begins.Before(approval.CreationTimestamp.Add(validFor)) &&
			(in.Planned.Summary.Unknown == 0 || approval.Spec.AcceptUnknown)
		if counts {
			all = append(all, approval)
		}
	}
	return all
}

// isFor reports whether an approval is one of the plan, also if it does not count.
func (in Asked) isFor(approval *deliveryv1alpha1.DeliveryApproval) bool {
	return approval.Spec.Installation == in.Inst.Name && approval.Spec.Digest == in.Planned.Digest
}

// usersOf are the users who have given approvals.
func usersOf(approvals []*deliveryv1alpha1.DeliveryApproval) []string {
	users := make([]string, len(approvals))
	for i, approval := range approvals {
		users[i] = approval.Spec.ApprovedBy
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// Seen are the approvals that exist when a plan of an Installation begins to be worked out.
func Seen(approvals []*deliveryv1alpha1.DeliveryApproval, inst *v1alpha1.Installation) []types.UID {
	var seen []types.UID
	for _, approval := range approvals {
		if approval.Spec.Installation == inst.Name {
			seen = append(seen, approval.UID)
		}
	}
	return seen
}

// lacking says which approvals a plan lacks, and how it gets them.
func (in Asked) lacking(rule Rules, by []string) string {
	approval, planned := rule.policy.Spec.Approval, in.Planned
	var text strings.Builder
	fmt.Fprintf(&text, "plan %s (%s) needs the approval of ", planned.Digest, Describe(planned.Summary))
	if approval.Approvers > 1 {
		fmt.Fprintf(&text, "%d users", approval.Approvers)
	} else {
		text.WriteString("a user")
	}
	if len(by) > 0 {
		text.WriteString(", and has that of " + strings.Join(by, ", "))
	}
	if void := in.void(rule.validFor); void != "" {
		text.WriteString("; " + void)
	}
	fmt.Fprintf(&text, ": landscaper-cli plans approve %s -n %s --digest %s", in.Inst.Name, in.Inst.Namespace, planned.Digest)
	if planned.Summary.Unknown > 0 {
		text.WriteString(" --accept-unknown")
	}
	return text.String()
}

// void says that an earlier plan was approved; empty if none was. Approvals of plans that have been
// carried out stay: they are no news.
func (in Asked) void(validFor time.Duration) string {
	var latest *deliveryv1alpha1.DeliveryApproval
	for _, approval := range in.Approvals {
		ofEarlier := approval.Spec.Installation == in.Inst.Name && approval.Spec.Digest != in.Planned.Digest &&
			in.Now.Before(approval.CreationTimestamp.Add(validFor)) && !carriedOut(in.Inst, approval.Spec.Digest) &&
			slices.ContainsFunc(in.Plans, func(plan *deliveryv1alpha1.DeliveryPlan) bool {
				return plan.Spec.Installation.UID == in.Inst.UID && plan.Spec.Digest == approval.Spec.Digest
			})
		if ofEarlier && (latest == nil || latest.CreationTimestamp.Before(&approval.CreationTimestamp)) {
			latest = approval
		}
	}
	if latest == nil {
		return ""
	}
	return fmt.Sprintf("plan %s, which %s has approved, is not what would happen any more", latest.Spec.Digest, latest.Spec.ApprovedBy)
}

func carriedOut(inst *v1alpha1.Installation, digest string) bool {
	return inst.Status.ApprovedPlan != nil && inst.Status.ApprovedPlan.Digest == digest
}

// Describe is a summary for people.
func Describe(summary deliveryv1alpha1.PlanSummary) string {
	var parts []string
	for _, part := range []struct {
		count int32
		what  string
	}{
		{summary.Create, "to create"}, {summary.Change, "to change"}, {summary.Move, "to move"}, {summary.Delete, "to delete"},
		{summary.Replace, "to delete and create"}, {summary.Unknown, "known only when the job runs"},
	} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	if len(parts) == 0 {
		return "nothing changes"
	}
	return strings.Join(parts, ", ")
}
