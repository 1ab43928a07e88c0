package exportwriter

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/readthrough"
)

// DeleteStaleCopies deletes the copies of imports that this job has not written, because
// the Installation or the blueprint no longer has the import.
func (h Writer) DeleteStaleCopies(ctx context.Context, inst *v1alpha1.Installation) error {
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{data, targets} {
		err := h.Client.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingFields{index.CopiesByScope: v1alpha1.InstallationScope(inst.Name)}, readthrough.AsCached)
		if err != nil {
			return job.Wrap(err, published.HandlePhaseCompleting, reasons.CleanupContext, "list the copies of imports")
		}
	}
	inOrder(data, targets)
	var errs []error
	for i := range data.Items {
		if object := &data.Items[i]; desired.Stale(inst, object) {
			errs = append(errs, h.dropData(ctx, inst, object))
		}
	}
	for i := range targets.Items {
		if object := &targets.Items[i]; desired.Stale(inst, object) {
			errs = append(errs, h.drop(ctx, object, reasons.CleanupContext, "Target "+object.Name+", which is no longer imported"))
		}
	}
	return errors.Join(errs...)
}

// inOrder sorts lists of a cache by name: a cache has no order, and an error names all objects that
// could not be deleted.
func inOrder(data *v1alpha1.DataObjectList, targets *v1alpha1.TargetList) {
	slices.SortFunc(data.Items, func(a, b v1alpha1.DataObject) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(targets.Items, func(a, b v1alpha1.Target) int { return strings.Compare(a.Name, b.Name) })
}

// DeleteStaleExports deletes the exports of earlier jobs that this one does not have. It gets the objects
// that were just written, which the cache may still show in an old version.
func (h Writer) DeleteStaleExports(ctx context.Context, inst *v1alpha1.Installation, written dataflow.Exports) error {
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{data, targets} {
		err := h.Client.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingFields{index.ExportsBySource: v1alpha1.InstallationScope(inst.Name)}, readthrough.AsCached)
		if err != nil {
			return job.Wrap(err, published.HandlePhaseCompleting, reasons.CleanupExports, "list the exports of earlier jobs")
		}
	}
	inOrder(data, targets)
	var errs []error
	for i := range data.Items {
		object := &data.Items[i]
		if desired.StaleExport(inst, object) && !slices.ContainsFunc(written.DataObjects, func(o *v1alpha1.DataObject) bool { return o.Name == object.Name }) {
			errs = append(errs, h.drop(ctx, object, reasons.CleanupExports, "DataObject "+object.Name+", which is no longer exported"))
		}
	}
	for i := range targets.Items {
		object := &targets.Items[i]
		if desired.StaleExport(inst, object) && !slices.ContainsFunc(written.Targets, func(o *v1alpha1.Target) bool { return o.Name == object.Name }) {
			errs = append(errs, h.drop(ctx, object, reasons.CleanupExports, "Target "+object.Name+", which is no longer exported"))
		}
	}
	return errors.Join(errs...)
}

// dropData deletes the copy of an import, and the Secret with its value before it.
func (h Writer) dropData(ctx context.Context, inst *v1alpha1.Installation, object *v1alpha1.DataObject) error {
	if err := h.dropValue(ctx, inst, valueobject.SecretOf(object)); err != nil {
		return job.Wrap(err, published.HandlePhaseCompleting, reasons.CleanupContext, "delete the Secret with the value of DataObject "+object.Name+", which is no longer imported")
	}
	return h.drop(ctx, object, reasons.CleanupContext, "DataObject "+object.Name+", which is no longer imported")
}

// dropValue deletes the Secret with the value of a DataObject. A Secret of another owner, or one
// that no longer exists, is ignored.
func (h Writer) dropValue(ctx context.Context, inst *v1alpha1.Installation, name string) error {
	if name == "" {
		return nil
	}
	secret := &corev1.Secret{}
	err := h.Reader.Get(ctx, client.ObjectKey{Namespace: inst.Namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err // the caller says what is deleted
	}
	if secret.Type != valueobject.ValueSecretType || !predicates.AsOwner(inst).Owns(secret) {
		return nil
	}
	return client.IgnoreNotFound(h.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID})) // the caller says what is deleted
}

// drop deletes the version of an object that was read.
func (h Writer) drop(ctx context.Context, object client.Object, reason reasons.Reason, what string) error {
	// The cache may show the object as it was before this job has written it.
	uid, version := object.GetUID(), object.GetResourceVersion()
	err := h.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return job.Wrap(err, published.HandlePhaseCompleting, reason, "delete "+what)
	}
	return nil
}

// DeleteExports deletes the exports of a subinstallation that is not wanted any more. A cache may not
// show all of them yet.
func (h Writer) DeleteExports(ctx context.Context, inst *v1alpha1.Installation) error {
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	exports := client.MatchingLabels{
		v1alpha1.DataObjectSourceLabel: v1alpha1.InstallationScope(inst.Name), v1alpha1.DataObjectSourceTypeLabel: string(v1alpha1.ExportDataObjectSourceType),
	}
	for _, list := range []client.ObjectList{data, targets} {
		if err := h.Reader.List(ctx, list, client.InNamespace(inst.Namespace), exports); err != nil {
			return job.Wrap(err, published.HandlePhaseInit, reasons.CleanupExports, "list the exports of Installation "+inst.Name+", which is not wanted any more")
		}
	}
	var errs []error
	withdraw := func(kind string, object client.Object) {
		if predicates.AsOwner(inst).Owns(object) {
			errs = append(errs, h.drop(ctx, object, reasons.CleanupExports, kind+" "+object.GetName()+", which is no longer exported"))
		}
	}
	for i := range data.Items {
		withdraw("DataObject", &data.Items[i])
	}
	for i := range targets.Items {
		withdraw("Target", &targets.Items[i])
	}
	return errors.Join(errs...)
}
