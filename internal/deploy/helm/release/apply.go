package release

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// attempts is how often an object is read again because another client changed it at the same time.
const attempts = 4

// applied is an object together with what the cluster stores.
type applied struct {
	apply.Object
	// stored is what is kept of it, see target.State.
	stored *unstructured.Unstructured
	// ready is what the rule has said of all of it.
	ready readiness.Finding
}

func describe(object *unstructured.Unstructured) string {
	return apply.Describe(object.GetKind(), object.GetNamespace(), object.GetName())
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
	if !o.desiredState.CreateNamespace {
		return nil, nil
	}
	mapping, err := o.store.Cluster.Mapping(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	if err != nil {
		return nil, fmt.Errorf("find kind Namespace: %w", err)
	}
	_, err = o.store.Cluster.Create(ctx, mapping, namespaceOf(o.desiredState), storage.FieldManager)
	if apierrors.IsForbidden(err) {
		// It may exist; then the right to create it is not needed.
		if _, getErr := o.store.Cluster.Get(ctx, mapping, "", o.desiredState.Namespace); getErr == nil {
			return nil, nil
		}
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("create namespace %s: %w", o.desiredState.Namespace, err)
	}
	return nil, nil
}

// namespaceOf is the namespace of a release as it is created.
func namespaceOf(desiredState DesiredState) *unstructured.Unstructured {
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	namespace.SetName(desiredState.Namespace)
	namespace.SetLabels(map[string]string{"name": desiredState.Namespace})
	return namespace
}

// makeDefinitions creates what the folders crds define, if it is missing, and waits until it is
// served. What exists is not changed.
func (o *Operation) makeDefinitions(ctx context.Context) ([]string, error) {
	if o.check == nil {
		check := readiness.NewCheck(o.store.Cluster, readiness.Established, o.job.Requeue)
		for _, definition := range o.definitions {
			stored, err := o.store.Cluster.Create(ctx, definition.Mapping, definition.Object, storage.FieldManager)
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
		results, errs := make([]applied, len(batch)), make([]error, len(batch))
		parallelize.Do(len(batch), func(i int) {
			stored, err := o.applyOne(ctx, batch[i])
			if errs[i] = err; err == nil {
				// The answers of all objects together may not fit into the memory.
				results[i] = applied{batch[i], target.State(stored), o.desiredState.Rule(stored)}
			}
		})
		var failures several.Errors
		for i, object := range batch {
			delete(o.live, keyOf(object.Object))
			var terminating *apply.Terminating
			switch {
			case errs[i] == nil:
				o.applied[keyOf(object.Object)] = true
				o.results = append(o.results, results[i])
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
	if clustererror.IsNamespaceMissing(err) {
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
		return o.store.Cluster.Create(ctx, object.Mapping, object.Object, storage.FieldManager)
	}
	if live.GetDeletionTimestamp() != nil {
		return nil, &apply.Terminating{Left: live}
	}
	if err := o.claim(ctx, live); err != nil {
		return nil, err
	}
	desired, err := o.desired(object, live)
	if err != nil {
		return nil, err
	}
	if apply.Equal(desired, live) {
		return live, nil
	}
	return o.store.Cluster.Update(ctx, object.Mapping, desired, storage.FieldManager)
}

// desired returns what is sent for an object that exists.
func (o *Operation) desired(object apply.Object, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if o.desiredState.Force {
		replacement := object.Object.DeepCopy()
		replacement.SetResourceVersion(live.GetResourceVersion())
		return replacement, nil
	}
	merged, err := changed(o.original[keyOf(object.Object)], object.Object, live)
	if err != nil {
		return nil, err
	}
	return strip(merged), nil
}
