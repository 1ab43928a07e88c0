package job

import (
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// AbortGracePeriod is how long an abort waits for items that are at work.
const AbortGracePeriod = 5 * time.Minute

// AbortedAt returns when the job of an Execution was asked to abort; false if it was
// not. Without a time in the request, the beginning of the job counts.
func AbortedAt(exec *v1alpha1.Execution) (time.Time, bool) {
	if exec.Annotations[v1alpha1.OperationAnnotation] != string(v1alpha1.AbortOperation) {
		return time.Time{}, false
	}
	if at, err := time.Parse(time.RFC3339, exec.Annotations[v1alpha1.AbortTimeAnnotation]); err == nil {
		return at, true
	}
	if times := exec.Status.TransitionTimes; times != nil && times.TriggerTime != nil {
		return times.TriggerTime.Time, true
	}
	return time.Time{}, true
}
