package release

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// prune removes what earlier revisions have deployed and the new one does not.
func (o *Operation) prune(ctx context.Context) ([]string, error) {
	if o.pruned {
		return nil, nil
	}
	if err := o.remove(ctx, o.orphans(), false); err != nil {
		return nil, err
	}
	o.pruned = true
	return nil, nil
}

// orphans are the objects of earlier revisions that the new one does not have.
func (o *Operation) orphans() []apply.Object {
	wanted := map[key]bool{}
	for _, object := range o.objects {
		wanted[keyOf(object.Object)] = true
	}
	var orphans []apply.Object
	for _, object := range o.previous {
		if id := keyOf(object.Object); !wanted[id] {
			wanted[id] = true
			orphans = append(orphans, object)
		}
	}
	return orphans
}

// remove removes objects of the release, or lets others have them, kind by kind in the order
// of Helm; with await, the end of them is waited for later.
func (o *Operation) remove(ctx context.Context, objects []apply.Object, await bool) error {
	o.claims = o.newClaims()
	if err := o.announce(ctx, objects); err != nil {
		return err
	}
	objects = forRemoval(objects)
	for from := 0; from < len(objects); {
		to := from
		for to < len(objects) && objects[to].Object.GetKind() == objects[from].Object.GetKind() {
			to++
		}
		batch, errs := objects[from:to], make([]error, to-from)
		var mutex sync.Mutex
		parallelize.Do(len(batch), func(i int) {
			removed, err := o.removeOne(ctx, batch[i])
			if err != nil {
				errs[i] = fmt.Errorf("delete %s: %w", describe(batch[i].Object), err)
			}
			mutex.Lock()
			defer mutex.Unlock()
			if removed.left != nil && await {
				o.going.Await(batch[i].Mapping, removed.left)
			}
			if removed.kept != nil {
				o.kept = append(o.kept.Without(removed.kept.Resource), *removed.kept)
				o.reasons[keyOf(batch[i].Object)] = removed.reason
			}
			if removed.without != nil {
				o.without = append(o.without.Without(removed.without.Resource), *removed.without)
			}
		})
		if err := several.Errors(compact(errs)).OrNil(); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (o *Operation) newClaims() *ownership.Claims {
	return ownership.NewClaims(o.others, o.desiredState.Leaving).Knowing(target.ContentOn(o.store.Cluster), o.wanted)
}

// wanted are the objects and the release that are not removed with a Namespace or a definition.
func (o *Operation) wanted() []ownership.Content {
	if o.desiredState.Leaving {
		return o.desiredState.Remaining.content()
	}
	found := []ownership.Content{{Release: ownership.HelmRelease{Name: o.desiredState.Name, Namespace: o.desiredState.Namespace}}}
	for _, object := range o.objects {
		found = append(found, ownership.Content{Object: object.Reference()})
	}
	return found
}

// announce records what may be kept, before any object says that it is: the record may name objects
// that are deleted all the same, but misses none that stays.
func (o *Operation) announce(ctx context.Context, objects []apply.Object) error {
	var kept apply.Inventory
	for _, object := range objects {
		may, err := o.mayKeep(ctx, object)
		if err != nil {
			return fmt.Errorf("look for others that may want %s: %w", describe(object.Object), err)
		}
		if may {
			kept = append(kept, entryOf(object, nil))
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return o.others.Keep(ctx, kept)
}

// mayKeep reports whether an object may stay for the moment, as far as that is known before
// the object is read.
func (o *Operation) mayKeep(ctx context.Context, object apply.Object) (bool, error) {
	id := keyOf(object.Object)
	if o.taken[id] {
		return true, nil
	}
	if o.absent[id] || Kept(object.Object) || o.defines(object) || o.desiredState.Leaving && o.desiredState.Remaining == nil {
		return false, nil
	}
	if ownership.HasContent(object.Object) {
		// Something may be in it.
		return true, nil
	}
	if o.desiredState.Leaving {
		return false, nil
	}
	heir, err := o.claims.Heir(ctx, object.Reference())
	switch {
	case err != nil:
		return false, err
	case heir == nil:
		return o.others.MayMove(ctx)
	case ownership.Records(heir, object.Reference()):
		return false, nil
	}
	return o.others.MayKeep(ctx)
}

// entryOf is how an object is recorded that is kept.
func entryOf(object apply.Object, live *unstructured.Unstructured) deployer.ManagedResourceStatus {
	entry := deployer.ManagedResourceStatus{Policy: deployer.ManagePolicy, Resource: object.Reference()}
	if live != nil {
		entry.Resource.UID = live.GetUID()
	}
	return entry
}

// removed is what has become of an object that the release does not want.
type removed struct {
	// left is what is left of an object that is being deleted.
	left *unstructured.Unstructured
	// kept is the record of an object that stays for the moment, without that of one that
	// the item has deployed without a release: its removal is not that of the release.
	kept, without *deployer.ManagedResourceStatus
	// reason says why an object stays beyond the end of the job.
	reason string
}

// removeOne removes, transfers or releases an object in its present state. After a change in
// between, the object is read again.
func (o *Operation) removeOne(ctx context.Context, object apply.Object) (removed, error) {
	for attempt := 1; ; attempt++ {
		live, err := o.get(ctx, object)
		if err != nil || live == nil {
			return removed{}, err
		}
		done, err := o.dispose(ctx, object, live, o.claims)
		if !apierrors.IsConflict(err) || attempt == deleteAttempts {
			return done, err
		}
	}
}

// deleteAttempts is how often an object is read again because another client has changed it between
// the read and the deletion.
const deleteAttempts = 8

// dispose removes an object, or lets others have it.
func (o *Operation) dispose(ctx context.Context, object apply.Object, live *unstructured.Unstructured, claims *ownership.Claims) (removed, error) {
	if ownership.ReleaseOf(live) == (ownership.HelmRelease{}) && o.desiredState.Leaving && o.recorded[keyOf(live)] {
		entry := entryOf(object, live)
		return removed{without: &entry}, nil
	}
	verdict, err := o.fateOf(ctx, object, live, claims)
	switch {
	case err != nil, verdict.Fate == ownership.Spare:
		return removed{}, err
	case live.GetDeletionTimestamp() != nil:
		return removed{left: live}, nil
	case verdict.Fate == ownership.Leave:
		return removed{}, o.leave(ctx, object, live)
	case verdict.Fate == ownership.Inherit:
		return o.transferTo(ctx, object, live, verdict.Heir)
	case verdict.Fate == ownership.Bequeath && o.desiredState.Remaining != nil:
		return o.retain(ctx, object, live, verdict.Reason)
	case verdict.Fate == ownership.Bequeath:
		return removed{}, o.bequeathTo(ctx, object, live, verdict.Heir)
	case verdict.Fate == ownership.Keep:
		return o.keep(ctx, object, live, verdict.Reason)
	}
	left, err := o.deleteLive(ctx, object, live)
	return removed{left: left}, err
}

// fateOf decides what becomes of an object that the release does not want any more. What the
// operation itself has made is deleted when that is undone; what it has taken from others stays
// then, as it was there before.
func (o *Operation) fateOf(ctx context.Context, object apply.Object, live *unstructured.Unstructured, claims *ownership.Claims) (ownership.Verdict, error) {
	id, mine := keyOf(object.Object), !o.stays(object, live) && !o.wants(live)
	switch {
	case o.absent[id] && mine:
		return ownership.Verdict{Fate: ownership.Remove}, nil
	case mine && o.defines(object):
		return ownership.Verdict{Fate: ownership.Leave}, nil
	}
	verdict, err := claims.Judge(ctx, live, object.Reference(), mine)
	switch {
	case err != nil:
		return verdict, fmt.Errorf("look for others that want it: %w", err)
	case verdict.Fate == ownership.Remove && o.taken[id]:
		return ownership.Verdict{Fate: ownership.Keep}, nil
	case verdict.Fate == ownership.Remove && o.early:
		return ownership.Verdict{Fate: ownership.Spare}, nil
	}
	return verdict, nil
}

// patch changes an object in the version that was read; it returns nil if the object does not
// exist.
func (o *Operation) patch(ctx context.Context, object apply.Object, patch []byte) (*unstructured.Unstructured, error) {
	stored, err := o.store.Cluster.MergePatch(ctx, object.Mapping, object.Object.GetNamespace(), object.Object.GetName(), patch, storage.FieldManager)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return stored, err
}

// wants reports whether an object is part of the new revision under another name of its
// kind: some kinds are served in two groups of the API.
func (o *Operation) wants(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.results, func(result applied) bool { return result.stored.GetUID() == live.GetUID() })
}

// defines reports whether an object of earlier revisions is in a folder crds of the chart now, or the
// namespace of createNamespace: these are never removed.
func (o *Operation) defines(object apply.Object) bool { return o.defined[keyOf(object.Object)] }

// stays reports whether an object is left alone when the release does not have it any
// more.
func (o *Operation) stays(object apply.Object, live *unstructured.Unstructured) bool {
	return Kept(live) || Kept(object.Object) || !o.mayRemove(live)
}

// mayRemove reports whether an object belongs to the release, or is what the item has deployed
// without one. What others have taken over since says so by its labels or by the marks of another
// release.
func (o *Operation) mayRemove(live *unstructured.Unstructured) bool {
	released := live.GetAnnotations()[v1alpha1.ReleasedByAnnotation] == o.desiredState.Item
	former := released && slices.Contains(o.desiredState.Former, ownership.ReleaseOf(live))
	if len(ownership.Others(live, o.desiredState.Item)) > 0 || o.otherRelease(live) && !former || o.desiredState.ReleasedOnly && !released {
		return false
	}
	if owned(live, o.desiredState.Name, o.desiredState.Namespace) || former && o.recorded[keyOf(live)] {
		return true
	}
	uid, before := o.before[keyOf(live)]
	return before && (uid == live.GetUID() || (uid == "" && o.desiredState.Ours(live)))
}

// deleteLive deletes an object in the version that was read: if another item takes it over at the
// same time, the API server refuses.
func (o *Operation) deleteLive(ctx context.Context, object apply.Object, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	uid, version, background := live.GetUID(), live.GetResourceVersion(), metav1.DeletePropagationBackground
	return o.store.Cluster.Delete(ctx, object.Mapping, live.GetNamespace(), live.GetName(), metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	})
}

// Without are the objects that the item has deployed without a release, of those that it has
// recorded: the removal of a release leaves them.
func (o *Operation) Without() apply.Inventory { return o.without }

// Kept are the objects that stay until it is known that no item takes them over, or that nothing is in
// them any more.
func (o *Operation) Kept() apply.Inventory { return o.kept }

// Reason says why a kept object stays beyond the end of the job; empty if it does not.
func (o *Operation) Reason(kept corev1.ObjectReference) string {
	return o.reasons[key{kept.GroupVersionKind().GroupKind(), kept.Namespace, kept.Name}]
}
