package installation

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
)

// propagateInterruption passes an interruption or an abort to a child. All children abort from the same moment
// on.
func (r *Reconciler) propagateInterruption(ctx context.Context, inst *v1alpha1.Installation, child client.Object) error {
	if !predicates.IsAborting(inst) {
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
