package dependents

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/given"
)

// TestToAsk: what becomes of a root that a job concerns.
func TestToAsk(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []given.Option
		want    Verdict
	}{
		{"it has never run", nil, CompareFirst},
		{"it has ended", []given.Option{given.Jobs("a", "a", "Failed")}, CompareFirst},
		{"it works, perhaps with the new values already", []given.Option{given.Jobs("b", "a", "Progressing")}, AskLater},
		{"it works and will do so again", []given.Option{given.Requested("reconcile"), given.Jobs("b", "a", "Progressing")}, AskNever},
		{"it is about to begin", []given.Option{given.Requested("force-reconcile"), given.Jobs("a", "a", "Failed")}, AskNever},
		{"an interruption must not be lost", []given.Option{given.Requested("interrupt"), given.Jobs("a", "a", "Failed")}, AskLater},
		{"what nobody knows says nothing", []given.Option{given.Requested("dance"), given.Jobs("a", "a", "Failed")}, CompareFirst},
		{"somebody has switched that off", []given.Option{given.Annotated(v1alpha1.SkipAnnotation, "true")}, AskNever},
		{"it is being deleted", []given.Option{given.Deleting, given.Jobs("a", "a", "Failed")}, AskNever},
		{"a subinstallation follows its parent", []given.Option{given.Sub}, AskNever},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := ToAsk(given.Situation(test.options...).Inst); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
