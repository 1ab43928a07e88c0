package requests

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// Failed reports whether the last job of a root has failed, and no other one runs or was asked for: it
// can be run again.
func Failed(root *inspect.Node) bool {
	return root.Installation != nil && !root.Orphaned && root.Failed() && root.JobID == root.JobIDFinished
}

// Delete deletes an Installation, and no other one of its name. With keep, what it has deployed stays
// on its clusters. A root whose deletion has failed gets another job: the API server has its deletion
// already, and nothing would follow from another request for it.
func Delete(ctx context.Context, c client.Client, installation *v1alpha1.Installation, keep bool) error {
	if keep {
		if err := Annotate(ctx, c, installation, v1alpha1.DeleteWithoutUninstallAnnotation, "true"); err != nil {
			return fmt.Errorf("ask for a deletion without uninstalling: %w", err)
		}
	}
	if installation.DeletionTimestamp != nil && installation.Status.InstallationPhase == v1alpha1.InstallationPhases.DeleteFailed && CheckRoot(installation) == nil {
		if err := Annotate(ctx, c, installation, v1alpha1.OperationAnnotation, string(v1alpha1.ReconcileOperation)); err != nil {
			return fmt.Errorf("ask for the deletion again: %w", err)
		}
		return nil
	}
	uid := installation.UID
	if err := c.Delete(ctx, installation, client.Preconditions{UID: &uid}); err != nil {
		return fmt.Errorf("delete the Installation: %w", err)
	}
	return nil
}

// skipAnnotations switch off the jobs that no operation asks for.
var skipAnnotations = []string{v1alpha1.SkipAnnotation, v1alpha1.IgnoreAnnotation}

// Skips reports whether an Installation has no jobs but those that an operation asks for.
func Skips(installation *v1alpha1.Installation) bool {
	return slices.ContainsFunc(skipAnnotations, func(name string) bool { return installation.Annotations[name] == "true" })
}

// Skip switches the jobs that no operation asks for off, or on again.
func Skip(ctx context.Context, c client.Client, installation *v1alpha1.Installation, skip bool) error {
	if skip {
		return Annotate(ctx, c, installation, v1alpha1.SkipAnnotation, "true")
	}
	removed := map[string]any{}
	for _, name := range skipAnnotations {
		removed[name] = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": installation.UID, "annotations": removed}})
	if err != nil {
		return err
	}
	return c.Patch(ctx, installation.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
}
