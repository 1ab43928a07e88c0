package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/dataflow/holder"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/index"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/wanted"
)

// storeCopies writes the copies of imports for the children.
func (r *Reconciler) storeCopies(ctx context.Context, s *snapshot, copies dataflow.Exports) error {
	own := func(kind string, live client.Object) error {
		if !facts.AsOwner(s.Inst).MayReplace(live) && !s.ownsWriter(live) {
			return foreign(kind, live)
		}
		return nil
	}
	// What refers to a Secret comes after it.
	for _, secret := range copies.Secrets {
		if err := r.ensureValue(ctx, s.Inst, secret, own); err != nil {
			return r.notStored(s, secret, "CreateDataObjects", err)
		}
	}
	for _, object := range copies.DataObjects {
		if err := r.ensureData(ctx, s.Inst, object, own); err != nil {
			return r.notStored(s, object, "CreateDataObjects", err)
		}
	}
	for _, target := range copies.Targets {
		if err := r.ensureTarget(ctx, s.Inst, target, own); err != nil {
			return r.notStored(s, target, "CreateTargets", err)
		}
	}
	return nil
}

// ownsWriter reports whether an object was exported by a subinstallation, in an earlier
// job that did not import it.
func (s *snapshot) ownsWriter(live client.Object) bool {
	return slices.ContainsFunc(s.Subs, func(sub *v1alpha1.Installation) bool { return facts.AsOwner(sub).Owns(live) })
}

func (r *Reconciler) notStored(s *snapshot, object client.Object, reason string, err error) error {
	message := "CreateOrUpdateImports: store import " + object.GetLabels()[v1alpha1.DataObjectKeyLabel]
	r.falseCondition(s, v1alpha1.CreateImportsCondition, reason, message)
	return job.Wrap(err, "handlePhaseInit", "CreateImportsAndSubobjects", message)
}

// taking refuses to write over an object that is there. The kind is for messages.
type taking func(kind string, live client.Object) error

// ensureData writes a value that was imported or is exported, if it is not there yet.
func (r *Reconciler) ensureData(ctx context.Context, inst *v1alpha1.Installation, object *v1alpha1.DataObject, take taking) error {
	live := &v1alpha1.DataObject{}
	exists, err := r.find(ctx, take, "DataObject", object, live)
	if err != nil || !exists {
		return err
	}
	changed, change, err := wanted.DataCopy(inst, object, live)
	if err != nil || change == wanted.None {
		return err // the caller tells what is stored
	}
	if name := holder.SecretOf(live); name != holder.SecretOf(changed) {
		if err := r.dropValue(ctx, inst, name); err != nil {
			return err
		}
	}
	return r.Client.Update(ctx, changed) // the caller tells what is stored
}

// ensureTarget writes a Target that was imported or is exported, if it is not there
// yet.
func (r *Reconciler) ensureTarget(ctx context.Context, inst *v1alpha1.Installation, target *v1alpha1.Target, take taking) error {
	live := &v1alpha1.Target{}
	exists, err := r.find(ctx, take, "Target", target, live)
	if err != nil || !exists {
		return err
	}
	changed, change, err := wanted.TargetCopy(inst, target, live)
	if err != nil || change == wanted.None {
		return err // the caller tells what is stored
	}
	return r.Client.Update(ctx, changed) // the caller tells what is stored
}

// find reads the object that an earlier job has written. If there is none, the wanted
// one is created. One that must not be taken is left alone.
func (r *Reconciler) find(ctx context.Context, take taking, kind string, object, live client.Object) (bool, error) {
	key := client.ObjectKeyFromObject(object)
	err := r.Client.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		if err = r.Client.Create(ctx, object); !apierrors.IsAlreadyExists(err) {
			return false, err // the caller tells what is stored
		}
		// The cache is behind.
		err = r.Reader.Get(ctx, key, live)
	}
	if err == nil {
		err = take(kind, live)
	}
	switch {
	case err != nil:
		return false, err // the caller tells what is stored
	case live.GetDeletionTimestamp() != nil:
		return false, fmt.Errorf("%s %s is being deleted", kind, live.GetName())
	}
	return true, nil
}

// foreign is the error about an object that has the name of ours.
func foreign(kind string, object client.Object) error {
	return job.Terminally(fmt.Errorf("%s %s does not belong to this Installation and is not overwritten: delete it, or choose another name for the Installation", kind, object.GetName()))
}

// dropCopies deletes the copies of imports that this job has not written, because
// the Installation or the blueprint no longer has the import.
func (r *Reconciler) dropCopies(ctx context.Context, inst *v1alpha1.Installation) error {
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{data, targets} {
		err := r.Client.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingFields{index.CopiesByScope: v1alpha1.InstallationScope(inst.Name)})
		if err != nil {
			return job.Wrap(err, "handlePhaseCompleting", "CleanupContext", "list the copies of imports")
		}
	}
	var errs []error
	for i := range data.Items {
		if object := &data.Items[i]; wanted.Stale(inst, object) {
			errs = append(errs, r.dropData(ctx, inst, object))
		}
	}
	for i := range targets.Items {
		if object := &targets.Items[i]; wanted.Stale(inst, object) {
			errs = append(errs, r.drop(ctx, object, "CleanupContext", "Target "+object.Name+", which is no longer imported"))
		}
	}
	return errors.Join(errs...)
}

// drop deletes the version of an object that was read.
func (r *Reconciler) drop(ctx context.Context, object client.Object, reason, what string) error {
	// The cache may show the object as it was before this job has written it.
	uid, version := object.GetUID(), object.GetResourceVersion()
	err := r.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return job.Wrap(err, "handlePhaseCompleting", reason, "delete "+what)
	}
	return nil
}
