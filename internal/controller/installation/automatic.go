package installation

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/repeat"
)

// repeat starts an automatic job. It is counted with the write that starts it.
func (r *Reconciler) repeat(ctx context.Context, s *snapshot) error {
	counter := repeat.Count(s.Inst)
	counter.NumberOfReconciles++
	counter.LastReconcileTime = metav1.NewTime(s.Now)
	s.Inst.Status.AutomaticReconcileStatus = &counter
	return r.start(ctx, s, v1alpha1.TriggeredBySchedule)
}
