package installation

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/job"
)

// explain writes into the status what a deleted subinstallation waits for.
func (r *Reconciler) explain(ctx context.Context, s *snapshot) error {
	job.SetCondition(&s.Inst.Status.Conditions, kin.Explanation(s.Family), metav1.NewTime(r.Now()))
	return r.reporter().Save(ctx, s.subject) // says what was written
}
