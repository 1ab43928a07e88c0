package decide_test

import (
	"errors"
	"testing"

	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/job"
)

// TestFailuresOfChildren: what the status says of children that have failed is what the
// public system was seen to say.
func TestFailuresOfChildren(t *testing.T) {
	for _, test := range []struct {
		reason           string
		options          []given.Option
		operation, short string
	}{
		{"one did not come up", []given.Option{given.Finalized, given.Written("b"), given.WithSub("b", "a", "a", "Failed"), given.Jobs("a", "", "Progressing")}, "buildErrorIfFailedChild", "children failed"},
		{"one could not be deleted: the name of the phase is no operation there", []given.Option{given.Deleting, given.Finalized, given.WithSub("(b)", "a", "a", "DeleteFailed"), given.Jobs("a", "z", "Deleting")}, "handleReconcilePhase", "UndeletedSubobjects"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(given.Situation(test.options...))
			var failure *job.Error
			if got.Do != decide.Fail || !errors.As(got.Err, &failure) || failure.Operation != test.operation || failure.Reason != test.short {
				t.Errorf("%s: %v", got.Do, got.Err)
			}
		})
	}
}
