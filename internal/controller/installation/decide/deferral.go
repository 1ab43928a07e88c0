package decide

import (
	"cmp"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Verdict says whether the next job may begin.
type Verdict struct{ delivery.Verdict }

// Verdict judges a job that something starts. A job that nothing asks for is not deferred.
func (s Situation) Verdict(trigger v1alpha1.JobTrigger) Verdict {
	if trigger == "" || len(s.Policies) == 0 && s.OwnApproval == "" {
		return Verdict{}
	}
	verdict := delivery.Judge(s.Policies, s.Inst, trigger, s.Now)
	asked := delivery.Asked{Policies: s.Policies, Inst: s.Inst, Own: s.OwnApproval, Planned: s.Planned, Approvals: s.Approvals, Plans: s.Plans, Now: s.Now}
	if !verdict.Permitted() {
		return Verdict{asked.Ahead(verdict)}
	}
	approval := delivery.JudgeApproval(asked)
	approval.Overridden = cmp.Or(approval.Overridden, verdict.Overridden)
	return Verdict{approval}
}

// says reports whether the condition says what a verdict does. While a plan is worked out again, what was
// said about the last one stays.
func (s Situation) says(verdict Verdict) bool {
	present := delivery.Deferral(s.Inst.Status.Conditions)
	if verdict.Pending && reasons.IsAboutPlan(present) {
		return true
	}
	return delivery.DeferralMessage(s.Inst.Status.Conditions) == verdict.message()
}

// message is what the condition says; empty if no job is deferred.
func (v Verdict) message() string {
	if v.Permitted() {
		return ""
	}
	return v.String()
}
