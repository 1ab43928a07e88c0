package rollout

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/diff"
	"go.landscaper.dev/internal/parallel"
)

// PreviewItem returns what a deployment of an item would make of each object.
func PreviewItem(ctx context.Context, item *deployer.Item, source Source, cluster target.Cluster) ([]diff.Object, error) {
	wish, recorded, err := wanted(ctx, item, source)
	if err != nil {
		return nil, err
	}
	return Preview(ctx, cluster, wish, recorded)
}

// Preview returns what a roll-out would make of each object of a wish, in its order, and
// then of those that are no longer wanted. It changes nothing: what would be stored, the
// API server tells in a dry run.
func Preview(ctx context.Context, cluster target.Cluster, wish Wish, recorded apply.Inventory) ([]diff.Object, error) {
	r, err := seen(ctx, cluster, wish, recorded)
	if err != nil {
		return nil, err
	}
	orphans := recorded.Orphans(r.objects)
	count := len(r.objects)
	previews, errs := make([]diff.Object, count+len(orphans)), make([]error, count+len(orphans))
	parallel.Do(len(previews), func(i int) {
		if i < count {
			previews[i], errs[i] = r.preview(ctx, r.objects[i])
			return
		}
		previews[i], errs[i] = r.previewOrphan(ctx, orphans[i-count])
	})
	return previews, errors.Join(errs...)
}

func (r *Rollout) preview(ctx context.Context, object apply.Object) (diff.Object, error) {
	predicted, err := r.applier.Predict(ctx, object)
	if err != nil {
		return diff.Object{}, err
	}
	if predicted.Live == nil && predicted.After != nil {
		if predicted.After, err = r.created(ctx, object, predicted.After); err != nil {
			return diff.Object{}, err
		}
	}
	found := previewOf(object.Reference())
	if predicted.Live != nil && predicted.After != nil {
		found.Before = predicted.Live.Object
	}
	if predicted.After != nil {
		found.After = predicted.After.Object
	}
	return found, nil
}

// created asks the API server what it would store of a new object. It cannot tell if the
// namespace or the kind is still to come.
func (r *Rollout) created(ctx context.Context, object apply.Object, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored, err := r.cluster.PreviewNew(ctx, object.Mapping, manifest, r.wish.Owner.FieldManager)
	if apierrors.IsNotFound(err) {
		return manifest, nil
	}
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", apply.Describe(manifest.GetKind(), manifest.GetNamespace(), manifest.GetName()), err)
	}
	return stored, nil
}

// previewOrphan returns what becomes of an object that is no longer wanted.
func (r *Rollout) previewOrphan(ctx context.Context, entry apideployer.ManagedResourceStatus) (diff.Object, error) {
	found := previewOf(entry.Resource)
	if entry.Policy == apideployer.KeepPolicy || entry.Policy == apideployer.IgnorePolicy {
		return found, nil
	}
	mapping, err := r.cluster.Mapping(ctx, schema.FromAPIVersionAndKind(entry.Resource.APIVersion, entry.Resource.Kind))
	if apply.IsUnknownKind(err) {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	live, err := r.cluster.Get(ctx, mapping, entry.Resource.Namespace, entry.Resource.Name)
	switch {
	case apierrors.IsNotFound(err):
		return found, nil
	case err != nil:
		return found, fmt.Errorf("look at %s: %w", apply.Describe(entry.Resource.Kind, entry.Resource.Namespace, entry.Resource.Name), err)
	case live.GetLabels()[r.wish.Owner.Label] == r.wish.Owner.Item:
		found.Before = live.Object
	}
	return found, nil
}

func previewOf(reference corev1.ObjectReference) diff.Object {
	return diff.Object{APIVersion: reference.APIVersion, Kind: reference.Kind, Namespace: reference.Namespace, Name: reference.Name}
}
