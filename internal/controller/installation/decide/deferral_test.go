package decide_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
)

// frozen is a freeze from an hour before the decision until an hour after it.
func frozen(applies deliveryv1alpha1.AppliesTo) testbuilders.Option {
	return func(s *decide.Situation) {
		s.Policies = append(s.Policies, &deliveryv1alpha1.DeliveryPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "freeze"},
			Spec: deliveryv1alpha1.DeliveryPolicySpec{Freezes: []deliveryv1alpha1.Freeze{{
				From: metav1.NewTime(testbuilders.Noon.Add(-time.Hour)), To: metav1.NewTime(testbuilders.Noon.Add(time.Hour)), AppliesTo: applies,
			}}},
		})
	}
}

func paused(s *decide.Situation) {
	s.Policies = append(s.Policies, &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Name: "pause"}, Spec: deliveryv1alpha1.DeliveryPolicySpec{Paused: &deliveryv1alpha1.Pause{}}})
}

// said lets the condition say what the decision before said.
func said(s *decide.Situation) {
	verdict := decide.Next(*s).Verdict
	job.SetCondition(&s.Inst.Status.Conditions, v1alpha1.Condition{Type: deliveryv1alpha1.DeferredCondition, Status: v1alpha1.ConditionTrue, Reason: string(verdict.Reason), Message: verdict.String()}, metav1.NewTime(s.Now))
}

// TestDeferral: which jobs a policy defers, what is done meanwhile, and what ends it.
func TestDeferral(t *testing.T) {
	const itself, recheck = "the step itself", "DeliveryPolicy freeze, the time 2030-01-02T12:15:00Z"
	request, deferred := testbuilders.Requested("reconcile"), frozen("All")
	ended := testbuilders.Jobs("a", "a", "Succeeded")
	overdue := func(s *decide.Situation) {
		testbuilders.Every("1h", "1h", 1)(s)
		testbuilders.FinishedBefore(2 * time.Hour)(s)
	}
	follows := testbuilders.Triggered(predicates.Triggers{OnImportChange: true})
	tests := []struct {
		reason  string
		options []testbuilders.Option
		want    decide.Step
		wake    string
	}{
		{"a request is deferred, and that is said", []testbuilders.Option{request, deferred}, decide.Defer, itself},
		{"it is said once", []testbuilders.Option{request, deferred, said}, decide.Rest, recheck},
		{"a request at once is deferred", []testbuilders.Option{testbuilders.Requested("force-reconcile"), ended, deferred, said}, decide.Rest, recheck},
		{"a first job that was picked up before a crash is deferred: anyone may write that note", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u"), deferred, said}, decide.Rest, recheck},
		{"an interruption of a first job that was picked up waits for the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u"), testbuilders.Requested("interrupt"), deferred, said}, decide.Rest, recheck},
		{"a deletion is deferred", []testbuilders.Option{testbuilders.Finalized, testbuilders.Deleting, ended, deferred, said}, decide.Rest, recheck},
		{"a changed specification is deferred", []testbuilders.Option{testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), testbuilders.Generations(2, 1), deferred, said}, decide.Rest, recheck},
		{"a repetition that is due is deferred, and does not enqueue the Installation at once", []testbuilders.Option{testbuilders.Finalized, ended, overdue, deferred, said}, decide.Rest, recheck},
		{"a repetition that is due is deferred by a freeze of automatic jobs", []testbuilders.Option{testbuilders.Finalized, ended, overdue, frozen("Automatic"), said}, decide.Rest, recheck},
		{"changed imports are deferred", []testbuilders.Option{testbuilders.Finalized, ended, follows, testbuilders.Importing("a", "b"), deferred, said}, decide.Rest, recheck},
		{"a request passes a freeze of automatic jobs", []testbuilders.Option{request, frozen("Automatic")}, decide.Admit, itself},
		{"a repetition that is not due is not deferred", []testbuilders.Option{testbuilders.Finalized, ended, testbuilders.Every("3h", "3h", 1), testbuilders.FinishedBefore(time.Hour), deferred}, decide.Rest, "the time 2030-01-02T14:00:00Z"},
		{"nothing asks for a job", []testbuilders.Option{ended, deferred}, decide.Rest, "nothing, the job has ended"},

		{"an interruption is not deferred", []testbuilders.Option{testbuilders.Requested("interrupt"), testbuilders.Jobs("a", "", "Progressing"), deferred}, decide.Interrupt, itself},
		{"nor is an abort", []testbuilders.Option{testbuilders.Requested("abort"), testbuilders.Jobs("a", "", "Progressing"), paused}, decide.Interrupt, itself},
		{"an interruption withdraws a request that was deferred", []testbuilders.Option{testbuilders.Requested("interrupt"), ended, deferred}, decide.Interrupt, itself},
		{"a running job goes on", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), deferred}, decide.ReadInputs, itself},
		{"a subinstallation gets the job of its parent", []testbuilders.Option{testbuilders.Below("b", "a", "Progressing"), testbuilders.Jobs("a", "a", "Succeeded"), deferred}, decide.Adopt, itself},
		{"an orphan deletes itself", []testbuilders.Option{testbuilders.WithoutParent, testbuilders.Deleting, testbuilders.Finalized, ended, deferred}, decide.Admit, itself},

		{"dependents are triggered while a request is deferred", []testbuilders.Option{testbuilders.Finalized, ended, request, testbuilders.WithDependents("d"), deferred}, decide.TriggerDependents, itself},
		{"a stored plan is deleted while a request is deferred", []testbuilders.Option{testbuilders.Finalized, ended, request, testbuilders.PlanStored, deferred}, decide.CleanUp, itself},

		{"the freeze has ended", []testbuilders.Option{request, deferred, said, func(s *decide.Situation) { s.Now = s.Now.Add(time.Hour) }}, decide.Admit, itself},
		{"the policy is deleted", []testbuilders.Option{request, deferred, said, func(s *decide.Situation) { s.Policies = nil }}, decide.Admit, itself},
		{"another policy defers the job now", []testbuilders.Option{request, deferred, said, func(s *decide.Situation) { s.Policies = nil }, paused}, decide.Defer, itself},
		{"a pause waits for a change, and looks again", []testbuilders.Option{request, paused, said}, decide.Rest, "DeliveryPolicy pause, the time 2030-01-02T12:15:00Z"},
		{"the policy is overridden", []testbuilders.Option{deferred, func(s *decide.Situation) {
			s.Inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile", deliveryv1alpha1.OverrideAnnotation: "freeze"}
		}}, decide.Admit, itself},
		{"the request was withdrawn: nothing is deferred any more", []testbuilders.Option{request, deferred, said, func(s *decide.Situation) { s.Inst.Annotations = nil }}, decide.Defer, itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(test.options...))
			if got.Do != test.want || got.Wake.String() != test.wake {
				t.Errorf("%s and waits for %s, want %s and %s: %s", got.Do, got.Wake, test.want, test.wake, got.Verdict)
			}
		})
	}
}
