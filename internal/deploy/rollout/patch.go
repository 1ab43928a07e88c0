package rollout

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// patchAttempts is how often an object is patched again because another client changed it at the
// same time.
const patchAttempts = 4

// patchAfterwards merges patches into objects that are ready. An object that has its
// patch already is not written.
func (r *Rollout) patchAfterwards(ctx context.Context) error {
	var todo []result
	for _, result := range r.stored {
		if len(result.PatchAfterDeployment) > 0 {
			todo = append(todo, result)
		}
	}
	errs := make([]error, len(todo))
	parallelize.Do(len(todo), func(i int) {
		if errs[i] = r.patch(ctx, todo[i]); errs[i] != nil {
			errs[i] = fmt.Errorf("patch %s after the deployment: %w", apply.Describe(todo[i].stored.GetKind(), todo[i].stored.GetNamespace(), todo[i].stored.GetName()), errs[i])
		}
	})
	if err := errors.Join(errs...); err != nil {
		return job.Wrap(err, published.ReconcileManifests, reasons.PatchAfterDeployment, "")
	}
	r.patched = true
	return nil
}

// patch merges the patch of one object into it. It is an update of the version that was
// read, and no patch on the server, because only so it is known whether there is anything
// to write.
func (r *Rollout) patch(ctx context.Context, result result) error {
	var err error
	for range patchAttempts {
		live, getErr := r.cluster.Get(ctx, result.Mapping, result.stored.GetNamespace(), result.stored.GetName())
		if getErr != nil {
			return getErr
		}
		patched := apply.Merge(live, result.PatchAfterDeployment)
		if apply.Equal(patched, live) {
			return nil
		}
		if _, err = r.cluster.Update(ctx, result.Mapping, patched, r.desired.Owner.FieldManager); !apierrors.IsConflict(err) {
			return err
		}
	}
	return err
}
