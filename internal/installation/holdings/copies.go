package holdings

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/dataflow/holder"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/index"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/job/ancestor"
	"go.landscaper.dev/internal/job/published"
	"go.landscaper.dev/internal/parallel"
	"go.landscaper.dev/internal/wanted"
)

// WriteExports writes what the Installation exports.
func (h Writer) WriteExports(ctx context.Context, f kin.Family, exports dataflow.Exports, failed blame) error {
	take := func(kind string, live client.Object) error {
		if inherits, err := h.inherits(ctx, f, live); inherits || err != nil {
			return err
		}
		return takeForExport(f.Inst, kind, live)
	}
	return h.write(ctx, f.Inst, exports, take, failed)
}

// Writer are what an Installation holds besides its children: copies of what it
// imports, and what it exports.
type Writer struct {
	Client client.Client
	// Reader reads from the API server where a cache is behind.
	Reader client.Reader
	// Each makes the requests for several objects; nil makes some of them at the same time.
	Each parallel.Each
}

// Values that come from Secrets are copied into Secrets. The DataObject of such a copy
// refers to its Secret, see holder.SecretOf.

// ensureValue writes the Secret with the value of a DataObject, if it is not there yet.
func (h Writer) ensureValue(ctx context.Context, inst *v1alpha1.Installation, secret *corev1.Secret, take taking) error {
	live := &corev1.Secret{}
	exists, err := h.createOrTake(ctx, take, "Secret", secret, live)
	if err != nil || !exists {
		return err
	}
	if live.Type != secret.Type {
		return Foreign("Secret", live)
	}
	changed, change, err := wanted.ValueCopy(inst, secret, live)
	if err != nil || change == wanted.None {
		return err // the caller tells what is stored
	}
	return h.Client.Update(ctx, changed) // the caller tells what is stored
}

// one is an object that is to be written.
type one struct {
	object client.Object
	reason string
	write  func() error
}

// write writes objects.
func (h Writer) write(ctx context.Context, inst *v1alpha1.Installation, all dataflow.Exports, take taking, failed blame) error {
	secrets, others := make([]one, 0, len(all.Secrets)), make([]one, 0, len(all.DataObjects)+len(all.Targets))
	for _, secret := range all.Secrets {
		secrets = append(secrets, one{secret, "CreateDataObjects", func() error { return h.ensureValue(ctx, inst, secret, take) }})
	}
	for _, object := range all.DataObjects {
		others = append(others, one{object, "CreateDataObjects", func() error { return h.ensureData(ctx, inst, object, take) }})
	}
	for _, target := range all.Targets {
		others = append(others, one{target, "CreateTargets", func() error { return h.ensureTarget(ctx, inst, target, take) }})
	}
	// What refers to a Secret comes after it.
	if err := h.together(secrets, failed); err != nil {
		return err
	}
	return h.together(others, failed)
}

// together writes objects that do not need each other.
func (h Writer) together(all []one, failed blame) error {
	errs := make([]error, len(all))
	_ = parallel.Until(h.Each, len(all), func(i int) error {
		errs[i] = all[i].write()
		return errs[i]
	}) // each error is looked at
	for i, err := range errs {
		if err != nil {
			return failed(all[i].object, all[i].reason, err)
		}
	}
	return nil
}

// inherits reports whether a subinstallation may write over what a sibling or its parent
// has left: the name was theirs in an earlier job, and in this one it is the only one
// that exports it.
func (h Writer) inherits(ctx context.Context, f kin.Family, live client.Object) (bool, error) {
	reference, ok := job.OwnerOf(live, "Installation")
	if f.Parent == nil || !ok || live.GetLabels()[v1alpha1.DataObjectJobIDLabel] == f.Inst.Status.JobID {
		return false, nil
	}
	owner, err := ancestor.Parent(ctx, h.Client, f.Inst.Namespace, reference)
	if err != nil || owner == nil {
		return err == nil, err // names the object
	}
	return owner.UID == f.Parent.UID || facts.AsOwner(f.Parent).Owns(owner), nil
}

// dropData deletes the copy of an import, and the Secret with its value before it.
func (h Writer) dropData(ctx context.Context, inst *v1alpha1.Installation, object *v1alpha1.DataObject) error {
	if err := h.dropValue(ctx, inst, holder.SecretOf(object)); err != nil {
		return job.Wrap(err, published.HandlePhaseCompleting, "CleanupContext", "delete the Secret with the value of DataObject "+object.Name+", which is no longer imported")
	}
	return h.drop(ctx, object, "CleanupContext", "DataObject "+object.Name+", which is no longer imported")
}

// WriteCopies writes the copies of imports for the children.
func (h Writer) WriteCopies(ctx context.Context, f kin.Family, copies dataflow.Exports, failed blame) error {
	own := func(kind string, live client.Object) error {
		if !facts.AsOwner(f.Inst).MayReplace(live) && !OwnsWriter(f, live) {
			return Foreign(kind, live)
		}
		return nil
	}
	return h.write(ctx, f.Inst, copies, own, failed)
}

// dropValue deletes the Secret with the value of a DataObject. What is not ours, or
// already gone, is left alone.
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
		return err // the caller tells what is deleted
	}
	if secret.Type != holder.ValueSecretType || !facts.AsOwner(inst).Owns(secret) {
		return nil
	}
	return client.IgnoreNotFound(h.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID})) // the caller tells what is deleted
}

// DropExports deletes what earlier jobs have exported and this one has not. It knows
// what was just written, which the cache may still show as it was before.
func (h Writer) DropExports(ctx context.Context, inst *v1alpha1.Installation, written dataflow.Exports) error {
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{data, targets} {
		err := h.Client.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingFields{index.ExportsBySource: v1alpha1.InstallationScope(inst.Name)})
		if err != nil {
			return job.Wrap(err, published.HandlePhaseCompleting, "CleanupExports", "list the exports of earlier jobs")
		}
	}
	var errs []error
	for i := range data.Items {
		object := &data.Items[i]
		if wanted.StaleExport(inst, object) && !slices.ContainsFunc(written.DataObjects, func(o *v1alpha1.DataObject) bool { return o.Name == object.Name }) {
			errs = append(errs, h.drop(ctx, object, "CleanupExports", "DataObject "+object.Name+", which is no longer exported"))
		}
	}
	for i := range targets.Items {
		object := &targets.Items[i]
		if wanted.StaleExport(inst, object) && !slices.ContainsFunc(written.Targets, func(o *v1alpha1.Target) bool { return o.Name == object.Name }) {
			errs = append(errs, h.drop(ctx, object, "CleanupExports", "Target "+object.Name+", which is no longer exported"))
		}
	}
	return errors.Join(errs...)
}

// ensureData writes a value that was imported or is exported, if it is not there yet.
func (h Writer) ensureData(ctx context.Context, inst *v1alpha1.Installation, object *v1alpha1.DataObject, take taking) error {
	live := &v1alpha1.DataObject{}
	exists, err := h.createOrTake(ctx, take, "DataObject", object, live)
	if err != nil || !exists {
		return err
	}
	changed, change, err := wanted.DataCopy(inst, object, live)
	if err != nil || change == wanted.None {
		return err // the caller tells what is stored
	}
	if name := holder.SecretOf(live); name != holder.SecretOf(changed) {
		if err := h.dropValue(ctx, inst, name); err != nil {
			return err
		}
	}
	return h.Client.Update(ctx, changed) // the caller tells what is stored
}

// ensureTarget writes a Target that was imported or is exported, if it is not there
// yet.
func (h Writer) ensureTarget(ctx context.Context, inst *v1alpha1.Installation, target *v1alpha1.Target, take taking) error {
	live := &v1alpha1.Target{}
	exists, err := h.createOrTake(ctx, take, "Target", target, live)
	if err != nil || !exists {
		return err
	}
	changed, change, err := wanted.TargetCopy(inst, target, live)
	if err != nil || change == wanted.None {
		return err // the caller tells what is stored
	}
	return h.Client.Update(ctx, changed) // the caller tells what is stored
}

// createOrTake creates the wanted object, or reads the one that an earlier job has written;
// it returns whether there was one. One that must not be taken is left alone.
func (h Writer) createOrTake(ctx context.Context, take taking, kind string, object, live client.Object) (bool, error) {
	key := client.ObjectKeyFromObject(object)
	err := h.Client.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		if err = h.Client.Create(ctx, object); !apierrors.IsAlreadyExists(err) {
			return false, err // the caller tells what is stored
		}
		// The cache is behind.
		err = h.Reader.Get(ctx, key, live)
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

// DropCopies deletes the copies of imports that this job has not written, because
// the Installation or the blueprint no longer has the import.
func (h Writer) DropCopies(ctx context.Context, inst *v1alpha1.Installation) error {
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{data, targets} {
		err := h.Client.List(ctx, list, client.InNamespace(inst.Namespace), client.MatchingFields{index.CopiesByScope: v1alpha1.InstallationScope(inst.Name)})
		if err != nil {
			return job.Wrap(err, published.HandlePhaseCompleting, "CleanupContext", "list the copies of imports")
		}
	}
	var errs []error
	for i := range data.Items {
		if object := &data.Items[i]; wanted.Stale(inst, object) {
			errs = append(errs, h.dropData(ctx, inst, object))
		}
	}
	for i := range targets.Items {
		if object := &targets.Items[i]; wanted.Stale(inst, object) {
			errs = append(errs, h.drop(ctx, object, "CleanupContext", "Target "+object.Name+", which is no longer imported"))
		}
	}
	return errors.Join(errs...)
}

// drop deletes the version of an object that was read.
func (h Writer) drop(ctx context.Context, object client.Object, reason, what string) error {
	// The cache may show the object as it was before this job has written it.
	uid, version := object.GetUID(), object.GetResourceVersion()
	err := h.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return job.Wrap(err, published.HandlePhaseCompleting, reason, "delete "+what)
	}
	return nil
}

// blame says what follows if an object could not be written.
type blame func(object client.Object, reason string, err error) error

// taking refuses to write over an object that is there. The kind is for messages.
type taking func(kind string, live client.Object) error

// OwnsWriter reports whether an object was exported by a subinstallation, in an earlier
// job that did not import it.
func OwnsWriter(f kin.Family, live client.Object) bool {
	return slices.ContainsFunc(f.Subs, func(sub *v1alpha1.Installation) bool { return facts.AsOwner(sub).Owns(live) })
}

// Foreign is the error about an object that has the name of ours.
func Foreign(kind string, object client.Object) error {
	return job.Terminally(fmt.Errorf("%s %s does not belong to this Installation and is not overwritten: delete it, or choose another name for the Installation", kind, object.GetName()))
}

// takeForExport refuses to write an export over what belongs to somebody else: to
// another Installation, or to a controller that would write it back. What belongs to
// nobody is taken over.
func takeForExport(inst *v1alpha1.Installation, kind string, live client.Object) error {
	if facts.AsOwner(inst).MayReplace(live) {
		return nil
	}
	if err := dataflow.CheckOwner(inst, live.GetName(), live); err != nil {
		return job.Terminally(err)
	}
	if owner := metav1.GetControllerOf(live); owner != nil {
		return job.Terminally(fmt.Errorf("%s %s belongs to %s %s and is not overwritten: choose another name in spec.exports", kind, live.GetName(), owner.Kind, owner.Name))
	}
	return nil
}
