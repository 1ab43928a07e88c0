package installation

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
		want    verdict
	}{
		{"it has never run", nil, compareFirst},
		{"it has ended", []given.Option{given.Jobs("a", "a", "Failed")}, compareFirst},
		{"it works, perhaps with the new values already", []given.Option{given.Jobs("b", "a", "Progressing")}, askLater},
		{"it works and will do so again", []given.Option{given.Requested("reconcile"), given.Jobs("b", "a", "Progressing")}, askNever},
		{"it is about to begin", []given.Option{given.Requested("force-reconcile"), given.Jobs("a", "a", "Failed")}, askNever},
		{"an interruption must not be lost", []given.Option{given.Requested("interrupt"), given.Jobs("a", "a", "Failed")}, askLater},
		{"what nobody knows says nothing", []given.Option{given.Requested("dance"), given.Jobs("a", "a", "Failed")}, compareFirst},
		{"somebody has switched that off", []given.Option{given.Annotated(v1alpha1.SkipAnnotation, "true")}, askNever},
		{"it is being deleted", []given.Option{given.Deleting, given.Jobs("a", "a", "Failed")}, askNever},
		{"a subinstallation follows its parent", []given.Option{given.Sub}, askNever},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := toAsk(given.Situation(test.options...).Inst); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
