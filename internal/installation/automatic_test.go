package installation

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/repetition"
)

// every makes an Installation repeat its job.
func every(failed, succeeded string, times int) option {
	return func(s *decide.Situation) {
		s.Inst.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{}
		if failed != "" {
			s.Inst.Spec.AutomaticReconcile.FailedReconcile = &v1alpha1.FailedReconcile{Interval: durationOf(failed), NumberOfReconciles: &times}
		}
		if succeeded != "" {
			s.Inst.Spec.AutomaticReconcile.SucceededReconcile = &v1alpha1.SucceededReconcile{Interval: durationOf(succeeded)}
		}
	}
}

func durationOf(text string) *v1alpha1.Duration {
	value := &v1alpha1.Duration{}
	if err := value.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
		panic(err)
	}
	return value
}

func schedules(failed, succeeded string) option {
	return func(s *decide.Situation) {
		s.Inst.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{
			FailedReconcile: &v1alpha1.FailedReconcile{CronSpec: failed}, SucceededReconcile: &v1alpha1.SucceededReconcile{CronSpec: succeeded},
		}
	}
}

// counted is the counter of automatic jobs of a generation; the last one was a time
// before noon.
func counted(generation int64, count int, onFailed bool, before time.Duration) option {
	return func(s *decide.Situation) {
		s.Inst.Status.AutomaticReconcileStatus = &v1alpha1.AutomaticReconcileStatus{
			Generation: generation, NumberOfReconciles: count, OnFailed: onFailed, LastReconcileTime: metav1.NewTime(noon.Add(-before)),
		}
	}
}

// finishedBefore is the end of the last job, a time before noon.
func finishedBefore(before time.Duration) option {
	return func(s *decide.Situation) {
		at := metav1.NewTime(noon.Add(-before))
		s.Inst.Status.TransitionTimes = &v1alpha1.TransitionTimes{FinishedTime: &at}
	}
}

func observed(generation int64) option { return generations(generation, generation) }

// TestRepeatDue: when the job of an Installation is repeated. All times are relative to
// noon.
func TestRepeatDue(t *testing.T) {
	const never = 1000 * time.Hour
	failed, succeeded := jobs("a", "a", "Failed"), jobs("a", "a", "Succeeded")
	for _, test := range []struct {
		reason  string
		options []option
		want    time.Duration
	}{
		{"nothing is repeated unless somebody wants it", []option{failed, finishedBefore(0)}, never},
		{"the interval is kept before the first retry", []option{failed, every("2m", "", 4), finishedBefore(0)}, 2 * time.Minute},
		{"the default for retries", []option{failed, every("", "1h", 0), func(s *decide.Situation) {
			s.Inst.Spec.AutomaticReconcile.FailedReconcile = &v1alpha1.FailedReconcile{}
		}, finishedBefore(0)}, 5 * time.Minute},
		{"the default after a success", []option{succeeded, func(s *decide.Situation) {
			s.Inst.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{SucceededReconcile: &v1alpha1.SucceededReconcile{}}
		}, finishedBefore(0)}, 24 * time.Hour},
		{"further retries count from the one before", []option{failed, every("2m", "", 4), observed(1), counted(1, 1, true, time.Minute), finishedBefore(0)}, time.Minute},
		{"after the last retry there is none", []option{failed, every("2m", "", 2), observed(1), counted(1, 2, true, time.Hour), finishedBefore(0)}, never},
		{"no retries are wanted", []option{failed, every("2m", "", 0), finishedBefore(0)}, never},
		{"a success is not retried", []option{succeeded, every("2m", "", 4), finishedBefore(0)}, never},
		{"a failure is not repeated", []option{failed, every("", "2m", 0), finishedBefore(0)}, never},
		{"a failed deletion is retried", []option{jobs("a", "a", "DeleteFailed"), deleting, finalized, every("2m", "", 4), finishedBefore(0)}, 2 * time.Minute},
		{"a success ends the count of retries", []option{succeeded, every("2m", "1h", 2), observed(1), counted(1, 2, true, time.Hour), finishedBefore(time.Minute)}, 59 * time.Minute},
		{"the count belongs to a generation", []option{failed, every("2m", "", 2), observed(2), counted(1, 2, true, time.Hour), finishedBefore(time.Minute)}, time.Minute},
		{"what was changed waits for a job that is asked for", []option{failed, every("2m", "", 2), generations(2, 1), finishedBefore(time.Hour)}, never},
		{"whatever is asked for comes first", []option{failed, requested("dance"), every("2m", "", 2), finishedBefore(time.Hour)}, never},
		{"skip suppresses it", []option{failed, annotated(v1alpha1.SkipAnnotation, "true"), every("2m", "", 2), finishedBefore(time.Hour)}, never},
		{"a subinstallation has no jobs of its own", []option{failed, sub, every("2m", "", 2), finishedBefore(time.Hour)}, never},
		{"nothing has ever run", []option{every("2m", "2m", 2)}, never},
		{"a running job is not repeated", []option{jobs("b", "a", "Progressing"), every("2m", "2m", 2)}, never},
		{"an interval of nothing is none", []option{failed, every("none", "", 2), finishedBefore(time.Hour)}, never},
		{"the shortest interval is a second", []option{failed, every("1ns", "", 2), finishedBefore(0)}, time.Second},
		{"a schedule goes before the interval", []option{succeeded, schedules("", "@every 4s"), finishedBefore(time.Second)}, 3 * time.Second},
		{"fields of a schedule", []option{failed, schedules("CRON_TZ=UTC 30 13 * * *", ""), finishedBefore(0)}, 90 * time.Minute},
		{"a schedule that nobody understands is none", []option{failed, schedules("CRON_TZ=UTC", ""), finishedBefore(0)}, 5 * time.Minute},
		{"a day that never comes", []option{failed, schedules("0 0 30 2 *", ""), finishedBefore(0)}, never},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := repetition.Due(situationWith(test.options...).Inst)
			switch {
			case test.want == never && !got.IsZero():
				t.Errorf("it is due at %s", got)
			case test.want != never && !got.Equal(noon.Add(test.want)):
				t.Errorf("it is due %s after noon (%s), want %s", got.Sub(noon), got, test.want)
			}
		})
	}
}

// TestNoteEnd: what the status tells when a job has ended.
func TestNoteEnd(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []option
		want    *v1alpha1.AutomaticReconcileStatus
	}{
		{"a first failure counts from its end", []option{jobs("a", "a", "Failed"), every("2m", "", 2), observed(1), finishedBefore(0)}, &v1alpha1.AutomaticReconcileStatus{Generation: 1, OnFailed: true, LastReconcileTime: metav1.NewTime(noon)}},
		{"a retry goes on with the count", []option{jobs("a", "a", "Failed"), every("2m", "", 2), observed(1), counted(1, 1, true, time.Hour), finishedBefore(0)}, &v1alpha1.AutomaticReconcileStatus{Generation: 1, OnFailed: true, NumberOfReconciles: 1, LastReconcileTime: metav1.NewTime(noon.Add(-time.Hour))}},
		{"a success begins anew", []option{jobs("a", "a", "Succeeded"), every("2m", "2m", 2), observed(1), counted(1, 1, true, time.Hour), finishedBefore(0)}, &v1alpha1.AutomaticReconcileStatus{Generation: 1, LastReconcileTime: metav1.NewTime(noon)}},
		{"a success that is not repeated ends the count", []option{jobs("a", "a", "Succeeded"), every("2m", "", 2), observed(1), counted(1, 1, true, time.Hour), finishedBefore(0)}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := situationWith(test.options...).Inst
			repetition.NoteEnd(inst)
			got := inst.Status.AutomaticReconcileStatus
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
