package decide_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/delivery"
)

func governed(s *decide.Situation) {
	s.Policies = append(s.Policies, &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Name: "production"}, Spec: deliveryv1alpha1.DeliveryPolicySpec{Approval: &deliveryv1alpha1.ApprovalRule{}}})
}

// owned asks for approvals itself.
func owned(s *decide.Situation) { s.OwnApproval = "Always" }

// planned has a plan for the next job that was worked out some time ago.
func planned(age time.Duration) testbuilders.Option {
	return func(s *decide.Situation) {
		s.Planned = &delivery.Planned{Basis: delivery.BasisOf(s.Inst), At: s.Now.Add(-age), Name: "plan", Digest: "sha256:aa", Seen: []types.UID{"ann"}}
	}
}

func approved(s *decide.Situation) {
	s.Approvals = append(s.Approvals, &deliveryv1alpha1.DeliveryApproval{
		ObjectMeta: metav1.ObjectMeta{UID: "ann", CreationTimestamp: metav1.NewTime(s.Now)},
		Spec:       deliveryv1alpha1.DeliveryApprovalSpec{Installation: s.Inst.Name, Digest: "sha256:aa", ApprovedBy: "ann"},
	})
}

func later(by time.Duration) testbuilders.Option {
	return func(s *decide.Situation) { s.Now = s.Now.Add(by) }
}

// validFor lets approvals count for some time.
func validFor(text string) testbuilders.Option {
	return func(s *decide.Situation) { s.Policies[0].Spec.Approval.ValidFor = text }
}

// TestApproval: which jobs need an approved plan, when the plan is worked out, and which plan a job gets.
func TestApproval(t *testing.T) {
	const itself = "the step itself"
	request, ended := testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "Succeeded")
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    decide.Step
		wake    string
		plan    string
	}{
		{"it is said that the plan is being worked out", []testbuilders.Option{request, governed}, decide.Defer, itself, ""},
		{"and that is done", []testbuilders.Option{request, governed, said}, decide.PlanAhead, itself, ""},
		{"it is said that the plan needs an approval", []testbuilders.Option{request, governed, said, planned(0)}, decide.Defer, itself, ""},
		{"an approval is waited for", []testbuilders.Option{request, governed, planned(0), said}, decide.Rest, "DeliveryPolicy production, DeliveryApproval any, the time 2030-01-02T12:15:00Z", ""},
		{"a plan that waits for an hour is worked out again, and what was said stays", []testbuilders.Option{request, governed, planned(time.Hour), said}, decide.PlanAhead, itself, ""},
		{"approved: the job gets its plan", []testbuilders.Option{request, governed, planned(0), said, approved}, decide.Admit, itself, "plan"},
		{"approved, and the plan is not fresh: what was said stays", []testbuilders.Option{request, governed, planned(time.Minute), said, approved}, decide.PlanAhead, itself, ""},
		{"another job has begun since: what was approved was its plan", []testbuilders.Option{request, governed, ended, planned(0), approved, said, func(s *decide.Situation) { s.Inst.Status.JobID, s.Inst.Status.JobIDFinished = "b", "b" }}, decide.Defer, itself, ""},
		{"a deletion needs an approval", []testbuilders.Option{testbuilders.Finalized, testbuilders.Deleting, ended, governed, planned(0), said}, decide.Rest, "DeliveryPolicy production, DeliveryApproval any, the time 2030-01-02T12:15:00Z", ""},
		{"the plan of a job that deploys is not that of the deletion", []testbuilders.Option{testbuilders.Finalized, ended, planned(time.Minute), testbuilders.Deleting, governed, approved, said}, decide.PlanAhead, itself, ""},
		{"a freeze ends before an approval would: the plan is worked out meanwhile", []testbuilders.Option{request, governed, frozen("All"), said}, decide.PlanAhead, itself, ""},
		{"and an approval is waited for", []testbuilders.Option{request, governed, frozen("All"), planned(0), said}, decide.Rest, "DeliveryPolicy freeze, DeliveryApproval any, the time 2030-01-02T12:15:00Z", ""},
		{"approved during a freeze: the plan is not compared before the job may begin", []testbuilders.Option{request, governed, frozen("All"), planned(time.Minute), approved, said}, decide.Rest, "DeliveryPolicy freeze, the time 2030-01-02T12:15:00Z", ""},
		{"the freeze has ended: it is compared", []testbuilders.Option{request, governed, frozen("All"), planned(time.Minute), approved, later(time.Hour), said}, decide.PlanAhead, itself, ""},
		{"and the job gets its plan", []testbuilders.Option{request, governed, frozen("All"), approved, later(time.Hour), planned(0)}, decide.Admit, itself, "plan"},
		{"the freeze lasts longer than an approval would: no plan yet", []testbuilders.Option{request, governed, validFor("10m"), frozen("All"), said}, decide.Rest, "DeliveryPolicy freeze, the time 2030-01-02T12:15:00Z", ""},
		{"a pause has no end: no plan", []testbuilders.Option{request, governed, paused, said}, decide.Rest, "DeliveryPolicy pause, the time 2030-01-02T12:15:00Z", ""},
		{"the server has gone back: its job needs an approval, too", []testbuilders.Option{ended, testbuilders.Generations(3, 2), request, keeping(deliveryv1alpha1.RollbackOnFailure), governed, planned(0), said}, decide.Rest, "DeliveryPolicy production, DeliveryApproval any, the time 2030-01-02T12:15:00Z", ""},
		{"and begins with it", []testbuilders.Option{ended, testbuilders.Generations(3, 2), request, keeping(deliveryv1alpha1.RollbackOnFailure), governed, planned(0), approved, said}, decide.Admit, itself, "plan"},
		{"nothing asks for a job: no plan", []testbuilders.Option{ended, governed}, decide.Rest, "nothing, the job has ended", ""},
		{"a running job goes on", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), governed}, decide.ReadInputs, itself, ""},
		{"a subinstallation gets the job of its parent", []testbuilders.Option{testbuilders.Below("b", "a", "Progressing"), ended, governed}, decide.Adopt, itself, ""},
		{"an interruption withdraws a request", []testbuilders.Option{testbuilders.Requested("interrupt"), ended, governed}, decide.Interrupt, itself, ""},
		{"the policy is deleted: a job without a plan", []testbuilders.Option{request, governed, planned(0), said, approved, func(s *decide.Situation) { s.Policies = nil }}, decide.Admit, itself, ""},
		{"the owner asks for an approval, and no policy does", []testbuilders.Option{request, owned, said}, decide.PlanAhead, itself, ""},
		{"and has got it", []testbuilders.Option{request, owned, planned(0), said, approved}, decide.Admit, itself, "plan"},
		{"where the feature is off, the annotation means nothing", []testbuilders.Option{func(s *decide.Situation) {
			s.Inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile", deliveryv1alpha1.ApprovalAnnotation: "Always"}
		}}, decide.Admit, itself, ""},
		{"the policy is overridden: a job without a plan", []testbuilders.Option{governed, func(s *decide.Situation) {
			s.Inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile", deliveryv1alpha1.OverrideAnnotation: "production"}
		}}, decide.Admit, itself, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(test.options...))
			plan := ""
			if got.Verdict.Plan != nil {
				plan = got.Verdict.Plan.Name
			}
			if got.Do != test.want || got.Wake.String() != test.wake || plan != test.plan {
				t.Errorf("%s with plan %q, and waits for %s, want %s, %q and %s: %s", got.Do, plan, got.Wake, test.want, test.plan, test.wake, got.Verdict)
			}
		})
	}
}
