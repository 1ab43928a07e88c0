package decide_test

import (
	"testing"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// keeping is a policy that keeps specifications.
func keeping(mode deliveryv1alpha1.RollbackMode) testbuilders.Option {
	return func(s *decide.Situation) {
		s.Policies = append(s.Policies, &deliveryv1alpha1.DeliveryPolicy{Spec: deliveryv1alpha1.DeliveryPolicySpec{History: &deliveryv1alpha1.History{Revisions: 2, Rollback: mode}}})
	}
}

// failed says that the last job has failed with the second generation.
func failed(s *decide.Situation) {
	testbuilders.Jobs("a", "a", "Failed")(s)
	testbuilders.Observed(2)(s)
	s.Inst.Status.History = []v1alpha1.JobRecord{{JobID: "a", Phase: "Failed", Generation: 2}}
}

// TestGoBack: what comes before the judgement of a failed specification, and what after it.
func TestGoBack(t *testing.T) {
	goesBack := keeping(deliveryv1alpha1.RollbackOnFailure)
	retries := func(s *decide.Situation) {
		s.Inst.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{FailedReconcile: &v1alpha1.FailedReconcile{}}
	}
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    decide.Step
	}{
		{"a job has failed", []testbuilders.Option{failed, goesBack}, decide.GoBack},
		{"no policy asks for it", []testbuilders.Option{failed}, decide.Rest},
		{"a policy only keeps specifications", []testbuilders.Option{failed, keeping(deliveryv1alpha1.RollbackNever)}, decide.Rest},
		{"a user asks for a job first", []testbuilders.Option{failed, goesBack, testbuilders.Requested("reconcile")}, decide.Admit},
		{"an automatic repetition comes later", []testbuilders.Option{failed, goesBack, retries}, decide.GoBack},
		{"an approval is for the job and not for the specification", []testbuilders.Option{failed, goesBack, governed}, decide.GoBack},
		{"a user asks for a job that waits for its approval: the specification stays", []testbuilders.Option{failed, goesBack, governed, testbuilders.Requested("reconcile"), planned(0), said}, decide.Rest},
		{"a freeze defers the job and not the specification", []testbuilders.Option{failed, goesBack, frozen("All")}, decide.GoBack},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := decide.Next(testbuilders.Situation(test.options...)).Do; got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
