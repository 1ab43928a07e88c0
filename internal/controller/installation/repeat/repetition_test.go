package repeat_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/repeat"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// TestRepeatDue: when the job of an Installation is repeated. All times are relative to
// noon.
func TestRepeatDue(t *testing.T) {
	const never = 1000 * time.Hour
	failed, succeeded := testbuilders.Jobs("a", "a", "Failed"), testbuilders.Jobs("a", "a", "Succeeded")
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    time.Duration
	}{
		{"nothing is repeated without spec.automaticReconcile", []testbuilders.Option{failed, testbuilders.FinishedBefore(0)}, never},
		{"the interval is kept before the first retry", []testbuilders.Option{failed, testbuilders.Every("2m", "", 4), testbuilders.FinishedBefore(0)}, 2 * time.Minute},
		{"the default for retries", []testbuilders.Option{failed, testbuilders.Every("", "1h", 0), func(s *decide.Situation) {
			s.Inst.Spec.AutomaticReconcile.FailedReconcile = &v1alpha1.FailedReconcile{}
		}, testbuilders.FinishedBefore(0)}, 5 * time.Minute},
		{"the default after a success", []testbuilders.Option{succeeded, func(s *decide.Situation) {
			s.Inst.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{SucceededReconcile: &v1alpha1.SucceededReconcile{}}
		}, testbuilders.FinishedBefore(0)}, 24 * time.Hour},
		{"further retries count from the one before", []testbuilders.Option{failed, testbuilders.Every("2m", "", 4), testbuilders.Observed(1), testbuilders.Counted(1, 1, true, time.Minute), testbuilders.FinishedBefore(0)}, time.Minute},
		{"after the last retry no other one follows", []testbuilders.Option{failed, testbuilders.Every("2m", "", 2), testbuilders.Observed(1), testbuilders.Counted(1, 2, true, time.Hour), testbuilders.FinishedBefore(0)}, never},
		{"no retries are wanted", []testbuilders.Option{failed, testbuilders.Every("2m", "", 0), testbuilders.FinishedBefore(0)}, never},
		{"a success is not retried", []testbuilders.Option{succeeded, testbuilders.Every("2m", "", 4), testbuilders.FinishedBefore(0)}, never},
		{"a failure is not repeated", []testbuilders.Option{failed, testbuilders.Every("", "2m", 0), testbuilders.FinishedBefore(0)}, never},
		{"a failed deletion is retried", []testbuilders.Option{testbuilders.Jobs("a", "a", "DeleteFailed"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Every("2m", "", 4), testbuilders.FinishedBefore(0)}, 2 * time.Minute},
		{"a success ends the count of retries", []testbuilders.Option{succeeded, testbuilders.Every("2m", "1h", 2), testbuilders.Observed(1), testbuilders.Counted(1, 2, true, time.Hour), testbuilders.FinishedBefore(time.Minute)}, 59 * time.Minute},
		{"the count belongs to a generation", []testbuilders.Option{failed, testbuilders.Every("2m", "", 2), testbuilders.Observed(2), testbuilders.Counted(1, 2, true, time.Hour), testbuilders.FinishedBefore(time.Minute)}, time.Minute},
		{"a changed Installation waits for a requested job", []testbuilders.Option{failed, testbuilders.Every("2m", "", 2), testbuilders.Generations(2, 1), testbuilders.FinishedBefore(time.Hour)}, never},
		{"a request comes first", []testbuilders.Option{failed, testbuilders.Requested("dance"), testbuilders.Every("2m", "", 2), testbuilders.FinishedBefore(time.Hour)}, never},
		{"skip suppresses a retry", []testbuilders.Option{failed, testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"), testbuilders.Every("2m", "", 2), testbuilders.FinishedBefore(time.Hour)}, never},
		{"a subinstallation has no jobs of its own", []testbuilders.Option{failed, testbuilders.Sub, testbuilders.Every("2m", "", 2), testbuilders.FinishedBefore(time.Hour)}, never},
		{"an Installation without any job is not repeated", []testbuilders.Option{testbuilders.Every("2m", "2m", 2)}, never},
		{"a running job is not repeated", []testbuilders.Option{testbuilders.Jobs("b", "a", "Progressing"), testbuilders.Every("2m", "2m", 2)}, never},
		{"an interval of zero repeats nothing", []testbuilders.Option{failed, testbuilders.Every("none", "", 2), testbuilders.FinishedBefore(time.Hour)}, never},
		{"the shortest interval is a second", []testbuilders.Option{failed, testbuilders.Every("1ns", "", 2), testbuilders.FinishedBefore(0)}, time.Second},
		{"a schedule comes before the interval", []testbuilders.Option{succeeded, testbuilders.Schedules("", "@every 4s"), testbuilders.FinishedBefore(time.Second)}, 3 * time.Second},
		{"fields of a schedule", []testbuilders.Option{failed, testbuilders.Schedules("CRON_TZ=UTC 30 13 * * *", ""), testbuilders.FinishedBefore(0)}, 90 * time.Minute},
		{"a schedule that is not valid is ignored", []testbuilders.Option{failed, testbuilders.Schedules("CRON_TZ=UTC", ""), testbuilders.FinishedBefore(0)}, 5 * time.Minute},
		{"a day that never comes", []testbuilders.Option{failed, testbuilders.Schedules("0 0 30 2 *", ""), testbuilders.FinishedBefore(0)}, never},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := repeat.Due(testbuilders.Situation(test.options...).Inst)
			switch {
			case test.want == never && !got.IsZero():
				t.Errorf("it is due at %s", got)
			case test.want != never && !got.Equal(testbuilders.Noon.Add(test.want)):
				t.Errorf("it is due %s after noon (%s), want %s", got.Sub(testbuilders.Noon), got, test.want)
			}
		})
	}
}

// TestNoteEnd: what the status counts when a job has ended.
func TestNoteEnd(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    *v1alpha1.AutomaticReconcileStatus
	}{
		{"a first failure counts from its end", []testbuilders.Option{testbuilders.Jobs("a", "a", "Failed"), testbuilders.Every("2m", "", 2), testbuilders.Observed(1), testbuilders.FinishedBefore(0)}, &v1alpha1.AutomaticReconcileStatus{Generation: 1, OnFailed: true, LastReconcileTime: metav1.NewTime(testbuilders.Noon)}},
		{"a retry continues the count", []testbuilders.Option{testbuilders.Jobs("a", "a", "Failed"), testbuilders.Every("2m", "", 2), testbuilders.Observed(1), testbuilders.Counted(1, 1, true, time.Hour), testbuilders.FinishedBefore(0)}, &v1alpha1.AutomaticReconcileStatus{Generation: 1, OnFailed: true, NumberOfReconciles: 1, LastReconcileTime: metav1.NewTime(testbuilders.Noon.Add(-time.Hour))}},
		{"a success begins anew", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Every("2m", "2m", 2), testbuilders.Observed(1), testbuilders.Counted(1, 1, true, time.Hour), testbuilders.FinishedBefore(0)}, &v1alpha1.AutomaticReconcileStatus{Generation: 1, LastReconcileTime: metav1.NewTime(testbuilders.Noon)}},
		{"a success that is not repeated ends the count", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Every("2m", "", 2), testbuilders.Observed(1), testbuilders.Counted(1, 1, true, time.Hour), testbuilders.FinishedBefore(0)}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.Situation(test.options...).Inst
			repeat.NoteEnd(inst)
			got := inst.Status.AutomaticReconcileStatus
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
