package job

import (
	"cmp"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Interrupted is the error of a job that a user has ended. It keeps what the job was
// waiting for, or its last failure: that is why the user had to end it.
func Interrupted(conditions []v1alpha1.Condition, last *v1alpha1.Error) error {
	const said = "operation was interrupted"
	until := ""
	if last != nil && !reasons.WasInterrupted(last) {
		until = last.Message
	}
	if waits := GetCondition(conditions, v1alpha1.ReconcilingCondition); reasons.IsWait(waits) {
		until = cmp.Or(waits.Message, until)
	}
	if until == "" {
		return NewError(published.InterruptOperation, reasons.InterruptOperation, said)
	}
	return NewError(published.InterruptOperation, reasons.InterruptOperation, said+"; until then: "+until+"; ask for another job when that is mended")
}
