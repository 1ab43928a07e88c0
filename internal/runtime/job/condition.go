package job

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// SetCondition puts a condition into a list. Its times move only as far as it
// changes.
func SetCondition(conditions *[]v1alpha1.Condition, condition v1alpha1.Condition, now metav1.Time) {
	condition.LastTransitionTime, condition.LastUpdateTime = now, now
	at := slices.IndexFunc(*conditions, func(c v1alpha1.Condition) bool { return c.Type == condition.Type })
	if at < 0 {
		*conditions = append(*conditions, condition)
		return
	}
	last := (*conditions)[at]
	if last.Status == condition.Status {
		condition.LastTransitionTime = last.LastTransitionTime
	}
	if last.Status == condition.Status && last.Reason == condition.Reason && last.Message == condition.Message &&
		last.ObservedGeneration == condition.ObservedGeneration && slices.Equal(last.Codes, condition.Codes) {
		condition.LastUpdateTime = last.LastUpdateTime
	}
	(*conditions)[at] = condition
}

// DropCondition removes the condition of a type from a list.
func DropCondition(conditions *[]v1alpha1.Condition, conditionType v1alpha1.ConditionType) {
	*conditions = slices.DeleteFunc(*conditions, func(c v1alpha1.Condition) bool { return c.Type == conditionType })
}

// GetCondition returns the condition of a type, or nil.
func GetCondition(conditions []v1alpha1.Condition, conditionType v1alpha1.ConditionType) *v1alpha1.Condition {
	for i := range conditions {
		if conditions[i].Type == conditionType {
			return &conditions[i]
		}
	}
	return nil
}

// Summary is what the conditions Ready, Reconciling and Stalled say.
type Summary struct {
	// Phase is the phase of the object, in the words of all kinds.
	Phase string
	// Generation is the generation that the job works on.
	Generation int64
	// Err is the error of the last step, or what it waits for.
	Err error
}

// Summarize writes the conditions Ready, Reconciling and Stalled, which derive
// from the phase and the last error. The last two are there while they are true.
func Summarize(conditions *[]v1alpha1.Condition, summary Summary, now metav1.Time) {
	ready := v1alpha1.Condition{Type: v1alpha1.ReadyCondition, Status: v1alpha1.ConditionFalse, Reason: summary.Phase, Message: underWay}
	more := v1alpha1.Condition{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: summary.Phase, Message: underWay}
	switch summary.Phase {
	case v1alpha1.PhaseStringSucceeded:
		ready.Status, ready.Message = v1alpha1.ConditionTrue, "the job has succeeded"
		more = v1alpha1.Condition{}
	case v1alpha1.PhaseStringFailed, v1alpha1.PhaseStringDeleteFailed:
		ready.Message = message(summary.Err)
		more.Type, more.Message = v1alpha1.StalledCondition, "nothing more happens until a user changes something: "+message(summary.Err)
	default:
		if summary.Err != nil {
			ready.Message, more.Message, more.Reason = message(summary.Err), message(summary.Err), string(reasons.Retrying)
			if IsWaiting(summary.Err) {
				more.Reason = string(reasons.Waiting)
			}
		}
	}
	// One that is not true would be written and sent with each version of an object.
	*conditions = slices.DeleteFunc(*conditions, func(c v1alpha1.Condition) bool {
		return c.Type != more.Type && (c.Type == v1alpha1.ReconcilingCondition || c.Type == v1alpha1.StalledCondition)
	})
	for _, condition := range []v1alpha1.Condition{ready, more} {
		if condition.Type != "" {
			condition.ObservedGeneration = summary.Generation
			SetCondition(conditions, condition, now)
		}
	}
}

func message(err error) string {
	if err == nil {
		return "the job has failed"
	}
	return StatusMessage(err)
}
