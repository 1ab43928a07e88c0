package decide_test

import (
	"errors"
	"testing"
	"time"

	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/runtime/job"
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
			got := decide.Next(given.Situation(append(test.options, given.Traced)...))
			var failure *job.Error
			if got.Do != decide.Fail || !errors.As(got.Err, &failure) || failure.Operation != test.operation || failure.Reason != test.short {
				t.Errorf("%s: %v", got.Do, got.Err)
			}
		})
	}
}

// TestUntilChildren: what children wait for is shown when it has lasted, after a look below
// those that say that the cause is there.
func TestUntilChildren(t *testing.T) {
	blocked, waits := given.WithStuck("b", job.BlockedReason, "m; in c", time.Minute), given.WithStuck("b", job.WaitingReason, "m", time.Minute)
	for _, test := range []struct {
		reason  string
		options []given.Option
		want    decide.Step
		message string
		wake    string
	}{
		{"nothing is the matter", []given.Option{given.InPhase(time.Minute), given.WithSub("b", "a", "", "Progressing")}, decide.Rest, "", "Installation b"},
		{"a child waits", []given.Option{given.InPhase(time.Minute), waits}, decide.Show, "m; in b", "the step itself"},
		{"the cause is below it", []given.Option{given.InPhase(time.Minute), blocked}, decide.Trace, "", "the step itself"},
		{"as far as that can be seen", []given.Option{given.InPhase(time.Minute), blocked, given.Traced}, decide.Show, "m; in c; in b", "the step itself"},
		{"it has begun just now", []given.Option{given.InPhase(time.Minute), given.WithStuck("b", job.WaitingReason, "m", time.Second)}, decide.Rest, "", "Installation b, the time 2030-01-02T12:00:04Z"},
		{"the parent has begun just now", []given.Option{given.InPhase(2 * time.Second), waits}, decide.Rest, "", "Installation b, the time 2030-01-02T12:00:03Z"},
		{"it is shown already", []given.Option{given.InPhase(time.Minute), given.Shown("m; in b", 20*time.Second), waits}, decide.Rest, "", "Installation b"},
		{"another one was shown just before", []given.Option{given.InPhase(time.Minute), given.Shown("n; in b", 20*time.Second), waits}, decide.Rest, "", "Installation b, the time 2030-01-02T12:00:20Z"},
		{"the wait is over", []given.Option{given.InPhase(time.Minute), given.Shown("m; in b", 40*time.Second), given.WithSub("b", "a", "", "Progressing")}, decide.Show, "", "the step itself"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			options := append([]given.Option{given.Finalized, given.Jobs("a", "", "Progressing")}, test.options...)
			got := decide.Next(given.Situation(options...))
			if got.Do != test.want || got.Message != test.message || got.Wake.String() != test.wake {
				t.Errorf("%s %q by %s, want %s %q by %s", got.Do, got.Message, got.Wake, test.want, test.message, test.wake)
			}
		})
	}
}
