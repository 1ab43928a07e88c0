package deletion

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/base/resourceversion"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/watch"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/model/ownership"
)

// deletionObject is an object to remove.
type deletionObject struct {
	entry   deployer.ManagedResourceStatus
	cluster target.Cluster
	mapping *meta.RESTMapping
	// force removes finalizers.
	force bool
	// foreign says that the object is removed regardless of its owner; listed is its metadata then.
	foreign bool
	listed  *unstructured.Unstructured
	// prepared says that everything is done that comes before the deletion.
	prepared bool
	// judged says that it is decided that the object is removed, and kept that it is not for
	// the moment; the reason is why it stays beyond the end of the job.
	judged, kept bool
	reason       string
	// by is what it was judged by.
	by *ownership.Claims
	// seen is the object as it was read or written last before its deletion, or nil.
	seen *unstructured.Unstructured
	// left is what the API server said is left of the object.
	left  *unstructured.Unstructured
	watch target.Watch
	lag   target.Lag
	// gone says that it does not exist any more, or is not ours; done that this was recorded.
	gone, done bool
}

func (o *deletionObject) close() {
	if o.watch != nil {
		_ = o.watch.Close()
	}
}

// find finds the kind of the object, in the recorded version or, where that is not served any more,
// in another one. With the kind, its objects are deleted, too.
func (o *deletionObject) find(ctx context.Context) error {
	if o.mapping != nil {
		return nil
	}
	kind := schema.FromAPIVersionAndKind(o.entry.Resource.APIVersion, o.entry.Resource.Kind)
	mapping, err := o.cluster.Mapping(ctx, kind)
	if meta.IsNoMatchError(err) {
		mapping, err = o.cluster.Mapping(ctx, kind.GroupKind().WithVersion(""))
	}
	if meta.IsNoMatchError(err) {
		o.gone = true
		return nil
	}
	o.mapping = mapping
	return err
}

// prepare sets the annotations and merges the patch that come before the deletion.
func (o *deletionObject) prepare(ctx context.Context, d *Deletion) error {
	if len(o.entry.AnnotateBeforeDelete) == 0 && o.entry.PatchBeforeDelete == nil {
		o.prepared = true
		return nil
	}
	if err := o.find(ctx); err != nil || o.gone {
		return err
	}
	if o.seen == nil {
		// It could not be read before, or another client has changed it since.
		if err := o.read(ctx); err != nil {
			return o.anew(err)
		}
		if err := o.settle(ctx, d, d.claims); err != nil || o.gone || o.kept {
			return err
		}
	}
	changed, err := beforeDelete(o.seen, o.entry)
	if err != nil {
		return err
	}
	if changed != nil {
		stored, err := o.cluster.Update(ctx, o.mapping, changed, d.plan.Owner.FieldManager)
		o.seen = stored
		if err != nil && !apierrors.IsNotFound(err) {
			o.seen = nil
			return err
		}
	}
	o.prepared = true
	return nil
}

// beforeDelete returns what an object becomes before its deletion, or nil if it is
// that already.
func beforeDelete(live *unstructured.Unstructured, entry deployer.ManagedResourceStatus) (*unstructured.Unstructured, error) {
	changed := live.DeepCopy()
	if entry.PatchBeforeDelete != nil {
		var patch map[string]any
		// Whole numbers stay whole: as floats, they would differ from what is there.
		if err := kjson.UnmarshalCaseSensitivePreserveInts(entry.PatchBeforeDelete.Raw, &patch); err != nil {
			// The reason may quote a value.
			return nil, errors.New("patchBeforeDelete must be an object")
		}
		changed = apply.Merge(changed, patch)
	}
	if len(entry.AnnotateBeforeDelete) > 0 {
		annotations := changed.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		for key, value := range entry.AnnotateBeforeDelete {
			annotations[key] = value
		}
		changed.SetAnnotations(annotations)
	}
	if apply.Equal(changed, live) {
		return nil, nil
	}
	return changed, nil
}

// isOwn reports whether an object that exists belongs to the item. Its label decides: an object that
// names another item was taken over by that item, also if it is the very object that this item has
// made. So was an object without the label that has the marks of a release of Helm. Any other one
// without the label is recognised by its recorded identity, unless the policy asks for the label.
func (o *deletionObject) isOwn(live *unstructured.Unstructured, owner Owner) bool {
	if len(ownership.Others(live, owner.Name)) > 0 {
		// The label of another deployer is that of a newer owner: each removes only its own.
		return false
	}
	if item, marked := live.GetLabels()[owner.Label]; marked {
		return item == owner.Name
	}
	if of := ownership.ReleaseOf(live); of != (ownership.HelmRelease{}) && of != owner.Release {
		return false
	}
	uid := o.entry.Resource.UID
	return uid != "" && uid == live.GetUID() && o.entry.Policy != deployer.FallbackPolicy
}

// advance proceeds as far as possible. A version that is not served any more is looked for again
// with the next attempt.
func (o *deletionObject) advance(ctx context.Context, d *Deletion) error {
	return o.anew(o.proceed(ctx, d))
}

// anew forgets where the object was if it is not served there any more.
func (o *deletionObject) anew(err error) error {
	if cluster.IsUnserved(err) {
		o.close()
		o.mapping, o.watch, o.left, o.seen, o.judged = nil, nil, nil, nil, false
	}
	return err
}

func (o *deletionObject) proceed(ctx context.Context, d *Deletion) error {
	if o.gone {
		return nil
	}
	if o.left == nil {
		if err := o.request(ctx, d); err != nil || o.gone || o.kept {
			return err
		}
	}
	if o.force {
		if err := o.forceEnd(ctx, d.plan.Owner); err != nil || o.gone {
			return err
		}
	}
	return o.look(ctx, d.plan.Wake)
}

// deleteAttempts is how often an object is read again because another client changed it between the
// read and the deletion.
const deleteAttempts = 8

// request asks the API server to delete the object.
//
// Whose the object is follows from what it says at that moment. Identity and version of what
// was read are preconditions of the deletion, so that the API server itself refuses to delete
// an object that another item has taken over since; it says so with a conflict, and the
// object is read and judged again.
func (o *deletionObject) request(ctx context.Context, d *Deletion) error {
	if err := o.find(ctx); err != nil || o.gone {
		return err
	}
	if o.foreign {
		uid := o.entry.Resource.UID
		err := o.delete(ctx, metav1.Preconditions{UID: &uid})
		if apierrors.IsConflict(err) {
			// It was replaced since it was listed.
			o.gone = true
			return nil
		}
		return err
	}
	err := o.requestOwn(ctx, d)
	for range deleteAttempts - 1 {
		if apierrors.IsConflict(err) {
			err = o.requestOwn(ctx, d)
		}
	}
	return err
}

// requestOwn deletes the object in the version that was read, if it is to be removed. An object of
// another owner counts as deleted.
func (o *deletionObject) requestOwn(ctx context.Context, d *Deletion) error {
	known := o.seen != nil
	if !known {
		if err := o.read(ctx); err != nil {
			return err // the caller names the object
		}
	}
	if !known || o.by != d.claims {
		// Others may have begun to want it since it was judged.
		if err := o.settle(ctx, d, d.claims); err != nil || o.gone || o.kept {
			return err
		}
	}
	uid, version := o.seen.GetUID(), o.seen.GetResourceVersion()
	o.seen = nil
	return o.delete(ctx, metav1.Preconditions{UID: &uid, ResourceVersion: &version})
}

func (o *deletionObject) delete(ctx context.Context, preconditions metav1.Preconditions) error {
	ref := o.entry.Resource
	background := metav1.DeletePropagationBackground
	left, err := o.cluster.Delete(ctx, o.mapping, ref.Namespace, ref.Name, metav1.DeleteOptions{
		// The default of some kinds leaves their dependents behind.
		PropagationPolicy: &background,
		Preconditions:     &preconditions,
	})
	if err != nil {
		return err
	}
	o.left, o.gone = left, left == nil
	return nil
}

// forceAttempts is how often finalizers are removed again because another client changed the object
// at the same time.
const forceAttempts = 4

// forceEnd removes the finalizers of the object. A conflict is retried at once, and later if that
// does not help: a watch need not report a change that came before it.
func (o *deletionObject) forceEnd(ctx context.Context, owner Owner) error {
	if len(o.left.GetFinalizers()) == 0 {
		return nil
	}
	err := o.release(ctx, owner)
	for range forceAttempts - 1 {
		if apierrors.IsConflict(err) {
			err = o.release(ctx, owner)
		}
	}
	if err != nil {
		return fmt.Errorf("remove its finalizers: %w", err)
	}
	return nil
}

// release stores the object without finalizers.
func (o *deletionObject) release(ctx context.Context, owner Owner) error {
	ref := o.entry.Resource
	live, err := o.cluster.Get(ctx, o.mapping, ref.Namespace, ref.Name)
	if apierrors.IsNotFound(err) || (err == nil && live.GetUID() != o.left.GetUID()) {
		o.gone = true
		return nil
	}
	if err != nil {
		return err
	}
	live.SetFinalizers(nil)
	stored, err := o.cluster.Update(ctx, o.mapping, live, owner.FieldManager)
	if apierrors.IsNotFound(err) {
		// The watch shows what has become of it.
		return nil
	}
	if err == nil && stored != nil {
		o.left = stored
	}
	return err
}

// look finds out whether an object whose deletion was requested still exists.
func (o *deletionObject) look(ctx context.Context, wake func()) error {
	ref := o.entry.Resource
	if o.watch == nil {
		// What is still in a namespace stands in its status.
		metadataOnly := !isNamespace(o.mapping.GroupVersionKind)
		o.watch = o.cluster.Watch(o.mapping, ref.Namespace, ref.Name, metadataOnly, wake)
	}
	state, err := o.watch.State()
	if err != nil {
		return o.ask(ctx)
	}
	o.left, o.gone = remains(o.left, state)
	if o.lag.Due(state.Known && !o.gone && o.left != state.Object, wake) {
		if err := o.reread(ctx); err != nil {
			return err
		}
	}
	if o.gone {
		_ = o.watch.Close()
	}
	return nil
}

// remains returns what is left of an object after the deletion was requested, as far as a watch
// knows. A watch that is behind the deletion says nothing.
//
// The version of what is left is that of the answer to our deletion, or of our last write:
// a watch that shows less would show the object as it was before.
func remains(left *unstructured.Unstructured, state watch.State) (now *unstructured.Unstructured, gone bool) {
	switch {
	case !state.Known:
		return left, false
	case state.Object == nil:
		return left, resourceversion.AtLeast(state.Version, left.GetResourceVersion())
	case !resourceversion.AtLeast(state.Object.GetResourceVersion(), left.GetResourceVersion()):
		return left, false
	case state.Object.GetUID() != left.GetUID():
		// Another object has its name.
		return left, true
	}
	return state.Object, false
}

// ask reads an object that cannot be watched.
func (o *deletionObject) ask(ctx context.Context) error {
	if err := o.reread(ctx); err != nil {
		return err
	}
	if o.gone {
		_ = o.watch.Close()
		return nil
	}
	return errors.New("it still exists" + keeper(o.left) + " and cannot be watched")
}

// reread asks the cluster what is left of the object. An answer that is older than what was
// known counts: the store of the cluster was restored from a backup.
func (o *deletionObject) reread(ctx context.Context) error {
	ref := o.entry.Resource
	live, err := o.cluster.Get(ctx, o.mapping, ref.Namespace, ref.Name)
	switch {
	case apierrors.IsNotFound(err), err == nil && live.GetUID() != o.left.GetUID():
		o.gone = true
		return nil
	case err != nil:
		return err // the caller names the object
	}
	o.left = live
	return nil
}

// finalizers says who still has to do something.
func finalizers(left *unstructured.Unstructured) string {
	if left == nil || len(left.GetFinalizers()) == 0 {
		return ""
	}
	return " (finalizer " + left.GetFinalizers()[0] + ")"
}
