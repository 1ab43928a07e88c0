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
		{"it has never run", nil, CompareFirst},
		{"it has ended", []testbuilders.Option{testbuilders.Jobs("a", "a", "Failed")}, CompareFirst},
		{"it works, perhaps with the new values already", []testbuilders.Option{testbuilders.Jobs("b", "a", "Progressing")}, AskLater},
		{"it works and will do so again", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Jobs("b", "a", "Progressing")}, AskNever},
		{"it is about to begin", []testbuilders.Option{testbuilders.Requested("force-reconcile"), testbuilders.Jobs("a", "a", "Failed")}, AskNever},
		{"an interruption must not be lost", []testbuilders.Option{testbuilders.Requested("interrupt"), testbuilders.Jobs("a", "a", "Failed")}, AskLater},
		{"what nobody knows says nothing", []testbuilders.Option{testbuilders.Requested("dance"), testbuilders.Jobs("a", "a", "Failed")}, CompareFirst},
		{"somebody has switched that off", []testbuilders.Option{testbuilders.Annotated(v1alpha1.SkipAnnotation, "true")}, AskNever},
		{"it is being deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Jobs("a", "a", "Failed")}, AskNever},
		{"a subinstallation follows its parent", []testbuilders.Option{testbuilders.Sub}, AskNever},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := ToAsk(testbuilders.Situation(test.options...).Inst); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
