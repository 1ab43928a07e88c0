package apply

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// otherManagers names who else owns fields of an object, as far as it can be read.
func (a *Applier) otherManagers(ctx context.Context, object Object) string {
	live, err := a.Target.Get(ctx, object.Mapping, object.Object.GetNamespace(), object.Object.GetName())
	if err != nil {
		return ""
	}
	const most = 5
	var others []string
	for _, entry := range live.GetManagedFields() {
		if name := strconv.Quote(entry.Manager); !ours(entry.Manager, a.FieldManager) && !slices.Contains(others, name) && len(others) < most {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return " (the object has fields of " + strings.Join(others, ", ") + ")"
}

// explain says which object an error is about.
func (a *Applier) explain(ctx context.Context, object Object, err error) error {
	if err == nil {
		return nil
	}
	doing := "apply " + Describe(object.Object.GetKind(), object.Object.GetNamespace(), object.Object.GetName())
	if owners := fieldOwners(err); len(owners) > 0 {
		// Another attempt would only repeat the conflict: a user has to decide who owns the fields.
		return job.AsTerminal(job.NewError(applyObjects, reasons.ApplyNewObject, doing+": "+strings.Join(owners, ", ")+a.otherManagers(ctx, object)+": take the fields out of the manifest, or take them over with conflicts: force"))
	}
	if namespace := object.Object.GetNamespace(); namespace != "" && clustererror.IsNamespaceMissing(err) {
		doing += ": namespace " + namespace + " does not exist on the cluster, create it or put it among the manifests"
	}
	return job.Wrap(err, applyObjects, reasons.ApplyNewObject, doing)
}

// fieldOwners says which fields others own, if that is what an error is about.
func fieldOwners(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var owners []string
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			owners = append(owners, strings.TrimSpace("field "+cause.Field)+" is owned by another field manager")
		}
	}
	return owners
}
