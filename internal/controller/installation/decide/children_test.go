package decide_test

import (
	"errors"
	"testing"
	"time"

	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestFailuresOfChildren: the status reports failed children as upstream was seen to report them.
func TestFailuresOfChildren(t *testing.T) {
	for _, test := range []struct {
		reason    string
		options   []testbuilders.Option
		operation string
		short     reasons.Reason
	}{
		{"a subinstallation has failed", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Failed"), testbuilders.Jobs("a", "", "Progressing")}, "buildErrorIfFailedChild", "children failed"},
		{"a subinstallation could not be deleted: upstream does not name the phase as operation", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.Jobs("a", "z", "Deleting")}, "handleReconcilePhase", "UndeletedSubobjects"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(append(test.options, testbuilders.Traced)...))
			var failure *job.Error
			if got.Do != decide.Fail || !errors.As(got.Err, &failure) || failure.Operation != test.operation || failure.Reason != test.short {
				t.Errorf("%s: %v", got.Do, got.Err)
			}
		})
	}
}

// TestUntilChildren: the blocker of children is shown when it has lasted, after reading below those
// that say that the cause is there.
func TestUntilChildren(t *testing.T) {
	blocked, waits := testbuilders.WithStuck("b", string(reasons.ChildrenBlocked), "m; in c", time.Minute), testbuilders.WithStuck("b", string(reasons.Waiting), "m", time.Minute)
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    decide.Step
		message string
		wake    string
	}{
		{"no child is blocked", []testbuilders.Option{testbuilders.InPhase(time.Minute), testbuilders.WithSub("b", "a", "", "Progressing")}, decide.Rest, "", "Installation b"},
		{"a child waits", []testbuilders.Option{testbuilders.InPhase(time.Minute), waits}, decide.Show, "m; in b", "the step itself"},
		{"the cause is below the child and was not read", []testbuilders.Option{testbuilders.InPhase(time.Minute), blocked}, decide.Trace, "", "the step itself"},
		{"the cause below the child was read", []testbuilders.Option{testbuilders.InPhase(time.Minute), blocked, testbuilders.Traced}, decide.Show, "m; in c; in b", "the step itself"},
		{"the wait of the child has begun just now", []testbuilders.Option{testbuilders.InPhase(time.Minute), testbuilders.WithStuck("b", string(reasons.Waiting), "m", time.Second)}, decide.Rest, "", "Installation b, the time 2030-01-02T12:00:04Z"},
		{"the parent has begun just now", []testbuilders.Option{testbuilders.InPhase(2 * time.Second), waits}, decide.Rest, "", "Installation b, the time 2030-01-02T12:00:03Z"},
		{"the message is shown already", []testbuilders.Option{testbuilders.InPhase(time.Minute), testbuilders.Shown("m; in b", 20*time.Second), waits}, decide.Rest, "", "Installation b"},
		{"another message was shown just before", []testbuilders.Option{testbuilders.InPhase(time.Minute), testbuilders.Shown("n; in b", 10*time.Second), waits}, decide.Rest, "", "Installation b, the time 2030-01-02T12:00:15Z"},
		{"another message was shown when the job was two thirds as old", []testbuilders.Option{testbuilders.InPhase(time.Minute), testbuilders.Shown("n; in b", 20*time.Second), waits}, decide.Show, "m; in b", "the step itself"},
		{"the wait is over", []testbuilders.Option{testbuilders.InPhase(time.Minute), testbuilders.Shown("m; in b", 40*time.Second), testbuilders.WithSub("b", "a", "", "Progressing")}, decide.Show, "", "the step itself"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			options := append([]testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Progressing")}, test.options...)
			got := decide.Next(testbuilders.Situation(options...))
			if got.Do != test.want || got.Message != test.message || got.Wake.String() != test.wake {
				t.Errorf("%s %q by %s, want %s %q by %s", got.Do, got.Message, got.Wake, test.want, test.message, test.wake)
			}
		})
	}
}
