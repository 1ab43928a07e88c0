package dependents

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// TestToAsk: what becomes of a root that a job concerns.
func TestToAsk(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    Verdict
	}{
		{"the root has never had a job", nil, CompareFirst},
		{"the job of the root has ended", []testbuilders.Option{testbuilders.Jobs("a", "a", "Failed")}, CompareFirst},
		{"the root is at work, perhaps with the new values already", []testbuilders.Option{testbuilders.Jobs("b", "a", "Progressing")}, TriggerLater},
		{"the root is at work and has a request for another job", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Jobs("b", "a", "Progressing")}, TriggerNever},
		{"the root is about to begin a job", []testbuilders.Option{testbuilders.Requested("force-reconcile"), testbuilders.Jobs("a", "a", "Failed")}, TriggerNever},
		{"an interruption must not be lost", []testbuilders.Option{testbuilders.Requested("interrupt"), testbuilders.Jobs("a", "a", "Failed")}, TriggerLater},
		{"an unknown operation is ignored", []testbuilders.Option{testbuilders.Requested("dance"), testbuilders.Jobs("a", "a", "Failed")}, CompareFirst},
		{"the user has switched automatic jobs off", []testbuilders.Option{testbuilders.Annotated(v1alpha1.SkipAnnotation, "true")}, TriggerNever},
		{"the root is being deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Jobs("a", "a", "Failed")}, TriggerNever},
		{"a subinstallation follows its parent", []testbuilders.Option{testbuilders.Sub}, TriggerNever},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := Decide(testbuilders.Situation(test.options...).Inst); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
