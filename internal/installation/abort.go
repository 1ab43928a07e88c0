package installation

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/job"
)

// endedBy is why a job ends that has not reached its children.
func endedBy(inst *v1alpha1.Installation) error {
	if facts.Aborting(inst) {
		return job.NewError("AbortOperation", v1alpha1.AbortedReason, "operation was aborted")
	}
	return job.NewError("InterruptOperation", "InterruptOperation", "operation was interrupted")
}

// handDown hands an interruption or an abort down. All children abort from the same
// moment on.
func (r *Reconciler) handDown(ctx context.Context, inst *v1alpha1.Installation, child client.Object) error {
	if !facts.Aborting(inst) {
		return r.annotate(ctx, child, v1alpha1.OperationAnnotation, string(v1alpha1.InterruptOperation))
	}
	at := inst.Annotations[v1alpha1.AbortTimeAnnotation]
	if at == "" {
		at = r.Now().UTC().Format(time.RFC3339)
	}
	if err := r.annotate(ctx, child, v1alpha1.AbortTimeAnnotation, at); err != nil {
		return err
	}
	return r.annotate(ctx, child, v1alpha1.OperationAnnotation, string(v1alpha1.AbortOperation))
}

// failureOf is the reason of a failure that follows from those of children: an abort is
// told up to the root.
func failureOf(s situation) string {
	for _, sub := range s.Subs {
		if last := sub.Status.LastError; last != nil && last.Reason == v1alpha1.AbortedReason {
			return v1alpha1.AbortedReason
		}
	}
	if s.Exec != nil && s.Exec.Status.LastError != nil && s.Exec.Status.LastError.Reason == v1alpha1.AbortedReason {
		return v1alpha1.AbortedReason
	}
	return "children failed"
}
