package installation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/job"
)

// dataLabels is what the labels begin with that say where a value comes from.
const dataLabels = "data." + v1alpha1.GroupName + "/"

// copiesByScope is the index of the copies of imports by the scope that they live in.
const copiesByScope = "scope"

func scopeOf(object client.Object) []string {
	return []string{object.GetLabels()[v1alpha1.DataObjectContextLabel]}
}

// storeCopies writes the copies of imports for the children.
func (r *Reconciler) storeCopies(ctx context.Context, inst *v1alpha1.Installation, copies dataflow.Exports) error {
	for _, object := range copies.DataObjects {
		if err := r.ensureData(ctx, inst, object); err != nil {
			return r.notStored(inst, object, "CreateDataObjects", err)
		}
	}
	for _, target := range copies.Targets {
		if err := r.ensureTarget(ctx, inst, target); err != nil {
			return r.notStored(inst, target, "CreateTargets", err)
		}
	}
	return nil
}

func (r *Reconciler) notStored(inst *v1alpha1.Installation, object client.Object, reason string, err error) error {
	message := "CreateOrUpdateImports: store import " + object.GetLabels()[v1alpha1.DataObjectKeyLabel]
	r.falseCondition(inst, v1alpha1.CreateImportsCondition, reason, message)
	return job.Wrap(err, "handlePhaseInit", "CreateImportsAndSubobjects", message)
}

// ensureData writes the copy of an imported value, if it is not there yet.
func (r *Reconciler) ensureData(ctx context.Context, inst *v1alpha1.Installation, object *v1alpha1.DataObject) error {
	live := &v1alpha1.DataObject{}
	exists, err := r.findCopy(ctx, inst, "DataObject", object, live)
	if err != nil || !exists {
		return err
	}
	changed := live.DeepCopy()
	takeMetadata(changed, object, inst)
	changed.Data = object.Data
	if equality.Semantic.DeepEqual(live, changed) {
		return nil
	}
	return r.Client.Update(ctx, changed)
}

// ensureTarget writes the copy of an imported Target, if it is not there yet.
func (r *Reconciler) ensureTarget(ctx context.Context, inst *v1alpha1.Installation, target *v1alpha1.Target) error {
	live := &v1alpha1.Target{}
	exists, err := r.findCopy(ctx, inst, "Target", target, live)
	if err != nil || !exists {
		return err
	}
	changed := live.DeepCopy()
	takeMetadata(changed, target, inst)
	changed.Spec = target.Spec
	if equality.Semantic.DeepEqual(live, changed) {
		return nil
	}
	return r.Client.Update(ctx, changed)
}

// findCopy reads the copy that an earlier job has written. If there is none, the
// wanted one is created. One that belongs to somebody else is left alone.
func (r *Reconciler) findCopy(ctx context.Context, inst *v1alpha1.Installation, kind string, wanted, live client.Object) (bool, error) {
	key := client.ObjectKeyFromObject(wanted)
	err := r.Client.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		if err = r.Client.Create(ctx, wanted); !apierrors.IsAlreadyExists(err) {
			return false, err //nolint:wrapcheck // the caller tells what is stored
		}
		// The cache is behind.
		err = r.Reader.Get(ctx, key, live)
	}
	switch {
	case err != nil:
		return false, err //nolint:wrapcheck // the caller tells what is stored
	case !mayReplace(inst, live):
		return false, foreign(kind, live)
	case live.GetDeletionTimestamp() != nil:
		return false, fmt.Errorf("%s %s is being deleted", kind, live.GetName())
	}
	return true, nil
}

// foreign is the error about an object that has the name of ours.
func foreign(kind string, object client.Object) error {
	return job.Terminally(fmt.Errorf("%s %s does not belong to this Installation and is not overwritten: delete it, or choose another name for the Installation", kind, object.GetName()))
}

// mayReplace tells whether an object belongs to an Installation, or to an earlier
// one of the same name that was deleted.
func mayReplace(inst *v1alpha1.Installation, object client.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return isOf(inst, owner) })
}

// isOf tells whether an owner is an Installation or an earlier one of the same name.
func isOf(inst *v1alpha1.Installation, owner metav1.OwnerReference) bool {
	return owner.UID == inst.UID || owner.Kind == "Installation" && isOurGroup(owner.APIVersion) && owner.Name == inst.Name
}

// takeMetadata gives a copy the metadata of a wanted one. What others have added
// stays, except for labels about where the value comes from.
func takeMetadata(into, wanted client.Object, inst *v1alpha1.Installation) {
	labels := maps.Clone(into.GetLabels())
	maps.DeleteFunc(labels, func(name, _ string) bool { return strings.HasPrefix(name, dataLabels) })
	into.SetLabels(merged(labels, wanted.GetLabels()))
	into.SetAnnotations(merged(into.GetAnnotations(), wanted.GetAnnotations()))
	others := slices.DeleteFunc(into.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return isOf(inst, owner) })
	into.SetOwnerReferences(append(others, wanted.GetOwnerReferences()...))
}

// merged returns a map with the entries of both; those of the second win.
func merged(base, over map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, base)
	maps.Copy(all, over)
	return all
}

// dropCopies deletes the copies of imports that this job has not written, because
// the Installation or the blueprint no longer has the import.
func (r *Reconciler) dropCopies(ctx context.Context, inst *v1alpha1.Installation) error {
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{data, targets} {
		err := r.Client.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingFields{copiesByScope: v1alpha1.InstallationScope(inst.Name)})
		if err != nil {
			return job.Wrap(err, "handlePhaseCompleting", "CleanupContext", "list the copies of imports")
		}
	}
	var errs []error
	for i := range data.Items {
		errs = append(errs, r.dropCopy(ctx, inst, "DataObject", &data.Items[i]))
	}
	for i := range targets.Items {
		errs = append(errs, r.dropCopy(ctx, inst, "Target", &targets.Items[i]))
	}
	return errors.Join(errs...)
}

func (r *Reconciler) dropCopy(ctx context.Context, inst *v1alpha1.Installation, kind string, object client.Object) error {
	if object.GetLabels()[v1alpha1.DataObjectJobIDLabel] == inst.Status.JobID ||
		!slices.ContainsFunc(object.GetOwnerReferences(), ownedBy(inst)) {
		return nil
	}
	// The cache may show the object as it was before this job has written it.
	uid, version := object.GetUID(), object.GetResourceVersion()
	err := r.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return job.Wrap(err, "handlePhaseCompleting", "CleanupContext", "delete "+kind+" "+object.GetName()+", which is no longer imported")
	}
	return nil
}
