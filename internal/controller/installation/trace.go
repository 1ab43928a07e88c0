package installation

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/runtime/job"
)

// trace reads what is below children that have failed or are blocked.
func (r *Reconciler) trace(ctx context.Context, s *snapshot) error {
	below, err := r.reader().Below(ctx, s.Family)
	if err != nil {
		return err // says what could not be read
	}
	s.Below = &below
	return nil
}

// show writes what the children wait for into the conditions. That is not a transition.
func (r *Reconciler) show(ctx context.Context, s *snapshot, message string) error {
	status := &s.Inst.Status
	job.ShowingOf(&status.Conditions, string(status.InstallationPhase), status.ObservedGeneration, status.PhaseTransitionTime).
		Write(message, metav1.NewTime(r.Now()))
	return r.reporter().Save(ctx, s.subject)
}
