package repeat

import (
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/validation"
)

// The intervals of automatic jobs if the user names none.
const (
	defaultRetryInterval  = 5 * time.Minute
	defaultRepeatInterval = 24 * time.Hour
)

// rule says when a job is repeated.
type rule struct {
	interval time.Duration
	cron     string
	// limit is how often, or nil.
	limit *int
}

// after returns when the job is due that follows a moment; zero means never. A schedule that is not
// valid is ignored.
func (r rule) after(last time.Time) time.Time {
	if r.cron != "" {
		if schedule, err := validation.Schedule(r.cron); err == nil {
			return schedule.Next(last)
		}
	}
	if r.interval <= 0 {
		return time.Time{}
	}
	return last.Add(max(r.interval, time.Second))
}

// ruleOf returns how the job of an Installation is repeated that has ended; false
// if it is not.
func ruleOf(inst *v1alpha1.Installation) (rule, bool) {
	automatic, phase := inst.Spec.AutomaticReconcile, inst.Status.InstallationPhase
	if automatic == nil || !predicates.IsRoot(inst) {
		return rule{}, false
	}
	switch failed, succeeded := automatic.FailedReconcile, automatic.SucceededReconcile; {
	case phase.IsFailed() && failed != nil:
		off := failed.NumberOfReconciles != nil && *failed.NumberOfReconciles <= 0
		return rule{intervalOr(failed.Interval, defaultRetryInterval), failed.CronSpec, failed.NumberOfReconciles}, !off
	case phase == v1alpha1.InstallationPhases.Succeeded && succeeded != nil:
		return rule{interval: intervalOr(succeeded.Interval, defaultRepeatInterval), cron: succeeded.CronSpec}, true
	}
	return rule{}, false
}

// intervalOr returns an interval, or the default for one that is missing or not valid.
func intervalOr(interval *v1alpha1.Duration, byDefault time.Duration) time.Duration {
	if interval == nil {
		return byDefault
	}
	parsed, err := interval.Parsed()
	if err != nil {
		return byDefault
	}
	return parsed
}

// Due returns when the job of an Installation is to be repeated that has ended; zero means never.
// An Installation that has changed, or has a request, repeats nothing.
func Due(inst *v1alpha1.Installation) time.Time {
	rule, ok := ruleOf(inst)
	if !ok || predicates.AutomationDisabled(inst) || inst.Annotations[v1alpha1.OperationAnnotation] != "" || inst.Generation != inst.Status.ObservedGeneration {
		return time.Time{}
	}
	counter := Count(inst)
	if rule.limit != nil && counter.NumberOfReconciles >= *rule.limit {
		return time.Time{}
	}
	return rule.after(counter.LastReconcileTime.Time)
}

// Count returns the counter of automatic jobs that is in force. Without one, it counts from the end
// of the last job: the interval is kept before the first one, too.
func Count(inst *v1alpha1.Installation) v1alpha1.AutomaticReconcileStatus {
	status := &inst.Status
	counter := status.AutomaticReconcileStatus
	if counter != nil && counter.Generation == inst.Generation && counter.OnFailed == status.InstallationPhase.IsFailed() {
		return *counter
	}
	fresh := v1alpha1.AutomaticReconcileStatus{Generation: inst.Generation, OnFailed: status.InstallationPhase.IsFailed()}
	switch {
	case status.TransitionTimes != nil && status.TransitionTimes.FinishedTime != nil:
		fresh.LastReconcileTime = *status.TransitionTimes.FinishedTime
	case status.PhaseTransitionTime != nil:
		fresh.LastReconcileTime = *status.PhaseTransitionTime
	}
	return fresh
}

// NoteEnd notes at the end of a job from when on its repetition counts.
func NoteEnd(inst *v1alpha1.Installation) {
	if _, ok := ruleOf(inst); !ok || inst.Generation != inst.Status.ObservedGeneration {
		inst.Status.AutomaticReconcileStatus = nil
		return
	}
	counter := Count(inst)
	inst.Status.AutomaticReconcileStatus = &counter
}

// Forget ends the count of automatic jobs, unless upstream has requested a job that it has counted
// already.
func Forget(inst *v1alpha1.Installation) {
	if inst.Annotations[v1alpha1.ReconcileReasonAnnotation] != v1alpha1.ReconcileReasonRetry {
		inst.Status.AutomaticReconcileStatus = nil
	}
}
