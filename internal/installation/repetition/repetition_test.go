package repetition_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/installation/repetition"
)

// TestRepeatDue: when the job of an Installation is repeated. All times are relative to
// noon.
func TestRepeatDue(t *testing.T) {
	const never = 1000 * time.Hour
	failed, succeeded := given.Jobs("a", "a", "Failed"), given.Jobs("a", "a", "Succeeded")
	for _, test := range []struct {
		reason  string
		options []given.Option
		want    time.Duration
	}{
		{"nothing is repeated unless somebody wants it", []given.Option{failed, given.FinishedBefore(0)}, never},
		{"the interval is kept before the first retry", []given.Option{failed, given.Every("2m", "", 4), given.FinishedBefore(0)}, 2 * time.Minute},
		{"the default for retries", []given.Option{failed, given.Every("", "1h", 0), func(s *decide.Situation) {
			s.Inst.Spec.AutomaticReconcile.FailedReconcile = &v1alpha1.FailedReconcile{}
		}, given.FinishedBefore(0)}, 5 * time.Minute},
		{"the default after a success", []given.Option{succeeded, func(s *decide.Situation) {
			s.Inst.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{SucceededReconcile: &v1alpha1.SucceededReconcile{}}
		}, given.FinishedBefore(0)}, 24 * time.Hour},
		{"further retries count from the one before", []given.Option{failed, given.Every("2m", "", 4), given.Observed(1), given.Counted(1, 1, true, time.Minute), given.FinishedBefore(0)}, time.Minute},
		{"after the last retry there is none", []given.Option{failed, given.Every("2m", "", 2), given.Observed(1), given.Counted(1, 2, true, time.Hour), given.FinishedBefore(0)}, never},
		{"no retries are wanted", []given.Option{failed, given.Every("2m", "", 0), given.FinishedBefore(0)}, never},
		{"a success is not retried", []given.Option{succeeded, given.Every("2m", "", 4), given.FinishedBefore(0)}, never},
		{"a failure is not repeated", []given.Option{failed, given.Every("", "2m", 0), given.FinishedBefore(0)}, never},
		{"a failed deletion is retried", []given.Option{given.Jobs("a", "a", "DeleteFailed"), given.Deleting, given.Finalized, given.Every("2m", "", 4), given.FinishedBefore(0)}, 2 * time.Minute},
		{"a success ends the count of retries", []given.Option{succeeded, given.Every("2m", "1h", 2), given.Observed(1), given.Counted(1, 2, true, time.Hour), given.FinishedBefore(time.Minute)}, 59 * time.Minute},
		{"the count belongs to a generation", []given.Option{failed, given.Every("2m", "", 2), given.Observed(2), given.Counted(1, 2, true, time.Hour), given.FinishedBefore(time.Minute)}, time.Minute},
		{"what was changed waits for a job that is asked for", []given.Option{failed, given.Every("2m", "", 2), given.Generations(2, 1), given.FinishedBefore(time.Hour)}, never},
		{"whatever is asked for comes first", []given.Option{failed, given.Requested("dance"), given.Every("2m", "", 2), given.FinishedBefore(time.Hour)}, never},
		{"skip suppresses it", []given.Option{failed, given.Annotated(v1alpha1.SkipAnnotation, "true"), given.Every("2m", "", 2), given.FinishedBefore(time.Hour)}, never},
		{"a subinstallation has no jobs of its own", []given.Option{failed, given.Sub, given.Every("2m", "", 2), given.FinishedBefore(time.Hour)}, never},
		{"nothing has ever run", []given.Option{given.Every("2m", "2m", 2)}, never},
		{"a running job is not repeated", []given.Option{given.Jobs("b", "a", "Progressing"), given.Every("2m", "2m", 2)}, never},
		{"an interval of nothing is none", []given.Option{failed, given.Every("none", "", 2), given.FinishedBefore(time.Hour)}, never},
		{"the shortest interval is a second", []given.Option{failed, given.Every("1ns", "", 2), given.FinishedBefore(0)}, time.Second},
		{"a schedule goes before the interval", []given.Option{succeeded, given.Schedules("", "@every 4s"), given.FinishedBefore(time.Second)}, 3 * time.Second},
		{"fields of a schedule", []given.Option{failed, given.Schedules("CRON_TZ=UTC 30 13 * * *", ""), given.FinishedBefore(0)}, 90 * time.Minute},
		{"a schedule that nobody understands is none", []given.Option{failed, given.Schedules("CRON_TZ=UTC", ""), given.FinishedBefore(0)}, 5 * time.Minute},
		{"a day that never comes", []given.Option{failed, given.Schedules("0 0 30 2 *", ""), given.FinishedBefore(0)}, never},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := repetition.Due(given.Situation(test.options...).Inst)
			switch {
			case test.want == never && !got.IsZero():
				t.Errorf("it is due at %s", got)
			case test.want != never && !got.Equal(given.Noon.Add(test.want)):
				t.Errorf("it is due %s after noon (%s), want %s", got.Sub(given.Noon), got, test.want)
			}
		})
	}
}

// TestNoteEnd: what the status tells when a job has ended.
func TestNoteEnd(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []given.Option
		want    *v1alpha1.AutomaticReconcileStatus
	}{
		{"a first failure counts from its end", []given.Option{given.Jobs("a", "a", "Failed"), given.Every("2m", "", 2), given.Observed(1), given.FinishedBefore(0)}, &v1alpha1.AutomaticReconcileStatus{Generation: 1, OnFailed: true, LastReconcileTime: metav1.NewTime(given.Noon)}},
		{"a retry goes on with the count", []given.Option{given.Jobs("a", "a", "Failed"), given.Every("2m", "", 2), given.Observed(1), given.Counted(1, 1, true, time.Hour), given.FinishedBefore(0)}, &v1alpha1.AutomaticReconcileStatus{Generation: 1, OnFailed: true, NumberOfReconciles: 1, LastReconcileTime: metav1.NewTime(given.Noon.Add(-time.Hour))}},
		{"a success begins anew", []given.Option{given.Jobs("a", "a", "Succeeded"), given.Every("2m", "2m", 2), given.Observed(1), given.Counted(1, 1, true, time.Hour), given.FinishedBefore(0)}, &v1alpha1.AutomaticReconcileStatus{Generation: 1, LastReconcileTime: metav1.NewTime(given.Noon)}},
		{"a success that is not repeated ends the count", []given.Option{given.Jobs("a", "a", "Succeeded"), given.Every("2m", "", 2), given.Observed(1), given.Counted(1, 1, true, time.Hour), given.FinishedBefore(0)}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := given.Situation(test.options...).Inst
			repetition.NoteEnd(inst)
			got := inst.Status.AutomaticReconcileStatus
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
