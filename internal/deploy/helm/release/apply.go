package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/failure"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/records"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/job/published"
	"go.landscaper.dev/internal/parallel"
)

// attempts is how often an object is looked at again because somebody else changed it
// in the same moment.
const attempts = 4

// foreignObject says that an object exists and does not belong to the release.
type foreignObject struct{ names []string }

// Error implements error.
func (f *foreignObject) Error() string {
	const most = 5
	names := f.names
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("%d more objects", len(f.names)-most))
	}
	return strings.Join(names, ", ") + " exists and does not belong to the release: remove or rename it, or set takeOwnership"
}

// unreadyObject says that objects will not become ready by themselves.
type unreadyObject struct{ error }

func describe(object *unstructured.Unstructured) string {
	return apply.Describe(object.GetKind(), object.GetNamespace(), object.GetName())
}

// checkOwners refuses to take objects of others, before anything is changed.
func (o *Operation) checkOwners(ctx context.Context) ([]string, error) {
	var fresh []apply.Object
	for _, object := range o.objects {
		if !o.complete[keyOf(object.Object)] {
			fresh = append(fresh, object)
		}
	}
	live, errs := make([]*unstructured.Unstructured, len(fresh)), make([]error, len(fresh))
	parallel.Do(len(fresh), func(i int) {
		live[i], errs[i] = o.get(ctx, fresh[i])
	})
	if err := several.Errors(compact(errs)).OrNil(); err != nil {
		return nil, fmt.Errorf("look at what exists: %w", err)
	}
	var foreign []string
	for _, object := range live {
		if object == nil {
			continue
		}
		if !o.mayTake(object) {
			foreign = append(foreign, describe(object))
			continue
		}
		o.live[keyOf(object)] = object
	}
	if len(foreign) > 0 {
		return nil, &foreignObject{names: foreign}
	}
	return nil, nil
}

func compact(errs []error) []error {
	var found []error
	for _, err := range errs {
		if err != nil {
			found = append(found, err)
		}
	}
	return found
}

// mayTake reports whether an object that exists may become part of the release.
func (o *Operation) mayTake(object *unstructured.Unstructured) bool {
	return o.complete[keyOf(object)] || o.wish.TakeOwnership || owned(object, o.wish.Name, o.wish.Namespace) || (o.wish.Ours != nil && o.wish.Ours(object))
}

// mayRemove reports whether an object belongs to the release, or is what the item has
// deployed without one.
func (o *Operation) mayRemove(live *unstructured.Unstructured) bool {
	if owned(live, o.wish.Name, o.wish.Namespace) {
		return true
	}
	uid, before := o.before[keyOf(live)]
	return before && (uid == live.GetUID() || (uid == "" && o.wish.Ours(live)))
}

// get reads an object, nil if it does not exist. The kind may be one that the release
// itself is about to define.
func (o *Operation) get(ctx context.Context, object apply.Object) (*unstructured.Unstructured, error) {
	live, err := o.store.Cluster.Get(ctx, object.Mapping, object.Object.GetNamespace(), object.Object.GetName())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// makeNamespace creates the namespace of the release if that is asked for.
func (o *Operation) makeNamespace(ctx context.Context) ([]string, error) {
	if !o.wish.CreateNamespace {
		return nil, nil
	}
	mapping, err := o.store.Cluster.Mapping(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	if err != nil {
		return nil, fmt.Errorf("find kind Namespace: %w", err)
	}
	_, err = o.store.Cluster.Create(ctx, mapping, namespaceOf(o.wish), records.FieldManager)
	if apierrors.IsForbidden(err) {
		// It may exist, and nobody needs the right to create it then.
		if _, getErr := o.store.Cluster.Get(ctx, mapping, "", o.wish.Namespace); getErr == nil {
			return nil, nil
		}
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("create namespace %s: %w", o.wish.Namespace, err)
	}
	return nil, nil
}

// namespaceOf is the namespace of a release as it is created.
func namespaceOf(wish Wish) *unstructured.Unstructured {
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	namespace.SetName(wish.Namespace)
	namespace.SetLabels(map[string]string{"name": wish.Namespace})
	return namespace
}

// makeDefinitions creates what the folders crds define, if it is missing, and waits
// until it is served. What exists stays as it is.
func (o *Operation) makeDefinitions(ctx context.Context) ([]string, error) {
	if o.check == nil {
		check := readiness.NewCheck(o.store.Cluster, readiness.Established, o.job.Wake)
		for _, definition := range o.definitions {
			stored, err := o.store.Cluster.Create(ctx, definition.Mapping, definition.Object, records.FieldManager)
			if apierrors.IsAlreadyExists(err) {
				continue
			}
			if err != nil {
				check.Close()
				return nil, fmt.Errorf("create %s: %w", describe(definition.Object), err)
			}
			if definition.Object.GetKind() == apply.CRDKind {
				check.Add(definition.Mapping, stored)
			}
		}
		o.check = check
	}
	unready, err := o.check.Look(ctx)
	if err != nil || len(unready) > 0 {
		return readiness.Names(unready), err
	}
	o.check.Close()
	o.check = nil
	return nil, nil
}

// apply makes all objects what they should be, kind by kind in the order of Helm.
func (o *Operation) apply(ctx context.Context) ([]string, error) {
	for {
		if waiting, err := o.going.Continue(ctx); err != nil || len(waiting) > 0 {
			return waiting, err
		}
		batch := o.nextBatch()
		if len(batch) == 0 {
			return nil, nil
		}
		stored, errs := make([]*unstructured.Unstructured, len(batch)), make([]error, len(batch))
		parallel.Do(len(batch), func(i int) { stored[i], errs[i] = o.applyOne(ctx, batch[i]) })
		var failures several.Errors
		for i, object := range batch {
			delete(o.live, keyOf(object.Object))
			var terminating *apply.Terminating
			switch {
			case errs[i] == nil:
				o.applied[keyOf(object.Object)] = true
				o.results = append(o.results, applied{object, stored[i]})
			case errors.As(errs[i], &terminating):
				o.going.Await(object.Mapping, terminating.Left)
			default:
				failures = append(failures, o.explain(object.Object, errs[i]))
			}
		}
		if len(failures) > 0 {
			return nil, failures
		}
	}
}

// explain says which object an error is about.
func (o *Operation) explain(object *unstructured.Unstructured, err error) error {
	doing := "apply " + describe(object)
	if failure.IsNamespaceMissing(err) {
		doing += ": namespace " + object.GetNamespace() + " does not exist on the cluster, create it or set createNamespace"
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// nextBatch are the objects of the next kind that are not applied yet.
func (o *Operation) nextBatch() []apply.Object {
	var batch []apply.Object
	for _, object := range o.objects {
		if o.applied[keyOf(object.Object)] {
			continue
		}
		if len(batch) > 0 && batch[0].Object.GetKind() != object.Object.GetKind() {
			break
		}
		batch = append(batch, object)
	}
	return batch
}

// applyOne creates or changes an object.
func (o *Operation) applyOne(ctx context.Context, object apply.Object) (*unstructured.Unstructured, error) {
	id := keyOf(object.Object)
	live := o.live[id]
	_, before := o.original[id]
	for attempt := 1; ; attempt++ {
		var err error
		if live == nil && (before || attempt > 1) {
			if live, err = o.get(ctx, object); err != nil {
				return nil, err
			}
		}
		stored, err := o.write(ctx, object, live)
		if (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)) && attempt < attempts {
			live = nil
			continue
		}
		return stored, err
	}
}

func (o *Operation) write(ctx context.Context, object apply.Object, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		return o.store.Cluster.Create(ctx, object.Mapping, object.Object, records.FieldManager)
	}
	switch {
	case live.GetDeletionTimestamp() != nil:
		return nil, &apply.Terminating{Left: live}
	case !o.mayTake(live):
		return nil, &foreignObject{names: []string{describe(live)}}
	}
	desired, err := o.desired(object, live)
	if err != nil {
		return nil, err
	}
	if apply.Equal(desired, live) {
		return live, nil
	}
	return o.store.Cluster.Update(ctx, object.Mapping, desired, records.FieldManager)
}

// desired returns what is sent for an object that exists.
func (o *Operation) desired(object apply.Object, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if o.wish.Force {
		replacement := object.Object.DeepCopy()
		replacement.SetResourceVersion(live.GetResourceVersion())
		return replacement, nil
	}
	return changed(o.original[keyOf(object.Object)], object.Object, live)
}

// prune removes what earlier revisions have deployed and the new one does not.
func (o *Operation) prune(ctx context.Context) ([]string, error) {
	if !o.pruned {
		if err := o.remove(ctx, o.orphans(), false); err != nil {
			return nil, err
		}
		o.pruned = true
	}
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

// remove deletes objects of the release, kind by kind in the order of Helm; with
// await, the end of them is waited for later.
func (o *Operation) remove(ctx context.Context, objects []apply.Object, await bool) error {
	objects = forRemoval(objects)
	for from := 0; from < len(objects); {
		to := from
		for to < len(objects) && objects[to].Object.GetKind() == objects[from].Object.GetKind() {
			to++
		}
		batch, errs := objects[from:to], make([]error, to-from)
		var mutex sync.Mutex
		parallel.Do(len(batch), func(i int) {
			left, err := o.removeOne(ctx, batch[i])
			if err != nil {
				errs[i] = fmt.Errorf("delete %s: %w", describe(batch[i].Object), err)
			}
			if left != nil && await {
				mutex.Lock()
				defer mutex.Unlock()
				o.going.Await(batch[i].Mapping, left)
			}
		})
		if err := several.Errors(compact(errs)).OrNil(); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// removeOne deletes an object unless it is to stay or belongs to somebody else, and
// returns what is left of it.
func (o *Operation) removeOne(ctx context.Context, object apply.Object) (*unstructured.Unstructured, error) {
	live, err := o.get(ctx, object)
	if err != nil || live == nil || o.stays(object, live) || o.wants(live) {
		return nil, err
	}
	if live.GetDeletionTimestamp() != nil {
		return live, nil
	}
	return o.deleteLive(ctx, object, live)
}

// wants reports whether an object is part of the new revision under another name of its
// kind: some kinds are served in two groups of the API.
func (o *Operation) wants(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.results, func(result applied) bool { return result.stored.GetUID() == live.GetUID() })
}

// stays reports whether an object is left alone when the release does not have it any
// more.
func (o *Operation) stays(object apply.Object, live *unstructured.Unstructured) bool {
	return Kept(live) || Kept(object.Object) || !o.mayRemove(live)
}

func (o *Operation) deleteLive(ctx context.Context, object apply.Object, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	uid, background := live.GetUID(), metav1.DeletePropagationBackground
	left, err := o.store.Cluster.Delete(ctx, object.Mapping, live.GetNamespace(), live.GetName(), metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if apierrors.IsConflict(err) {
		// Another object has its name by now.
		return nil, nil
	}
	return left, err
}

// awaitReady waits until all objects are ready.
func (o *Operation) awaitReady(ctx context.Context) ([]string, error) {
	if o.check == nil {
		o.check = readiness.NewCheck(o.store.Cluster, o.wish.Rule, o.job.Wake)
		for _, result := range o.results {
			o.check.Add(result.Mapping, result.stored)
		}
	}
	unready, err := o.check.Look(ctx)
	if err != nil {
		return nil, err
	}
	isHopeless := slices.ContainsFunc(unready, func(object readiness.Unfinished) bool { return object.Hopeless })
	unready = o.causes.Explain(ctx, o.store.Cluster, unready, isHopeless || o.late())
	for _, object := range unready {
		if object.Hopeless {
			return nil, &unreadyObject{job.NewError(published.WaitForObjectsReady, "ObjectFailed",
				fmt.Sprintf("%s will not become ready by itself: %s", apply.Describe(object.Kind, object.Namespace, object.Name), object.Why))}
		}
	}
	return readiness.Names(unready), nil
}
