package rollout

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// PreviewItem returns what a deployment of an item would make of each object, and what it
// would export.
func PreviewItem(ctx context.Context, item *deployer.Item, source Source, cluster target.Cluster, outlook Outlook) (Forecast, error) {
	desiredState, recorded, err := wanted(ctx, item, source)
	if err != nil {
		return Forecast{}, err
	}
	return ForecastOf(ctx, cluster, desiredState, recorded, outlook)
}

// ForecastOf returns what a roll-out would make of each object, and what it would export.
func ForecastOf(ctx context.Context, cluster target.Cluster, desiredState DesiredState, recorded apply.Inventory, outlook Outlook) (Forecast, error) {
	objects, err := preview(ctx, cluster, desiredState, recorded, outlook)
	if err != nil {
		return Forecast{}, err
	}
	return ForecastWith(ctx, cluster, objects, desiredState, outlook), nil
}

// ForecastWith returns what an item would export whose objects another client applies.
func ForecastWith(ctx context.Context, cluster target.Cluster, objects []diff.Object, desiredState DesiredState, outlook Outlook) Forecast {
	forecast := Forecast{Objects: slices.Clone(objects), Expected: desiredState.Expected}
	if err := forecast.addLost(ctx, cluster, desiredState); err != nil {
		forecast.Unknown = err
		return forecast
	}
	forecast.read(ctx, cluster, desiredState, outlook)
	return forecast
}

// addLost adds that an object is created again which another client has deleted and from which a
// value is read: it is read for nothing else.
func (f *Forecast) addLost(ctx context.Context, cluster target.Cluster, desiredState DesiredState) error {
	for _, entry := range desiredState.Unchecked {
		ref := named(entry.Object)
		read := slices.ContainsFunc(desiredState.Exports, func(value export.Value) bool {
			return value.TargetName == "" && apply.Same(value.Source(), ref)
		})
		at := slices.IndexFunc(f.Objects, func(object diff.Object) bool { return same(object, ref) && object.Before == nil && object.After == nil })
		if !read || at < 0 || readiness.EndsByItself(entry.Object) {
			continue
		}
		found, err := apply.Prepare(ctx, cluster, []apply.Entry{entry}, nil)
		if err != nil {
			return err
		}
		_, err = cluster.Get(ctx, found[0].Mapping, ref.Namespace, ref.Name)
		if apierrors.IsNotFound(err) {
			created := desiredState.Marked(entry.Object).Object
			f.Objects[at].After, f.Objects[at].Applied = created, created
			continue
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", apply.Describe(ref.Kind, ref.Namespace, ref.Name), err)
		}
	}
	return nil
}

// PreviewRemoval returns what a removal of an item would make of each recorded object.
func PreviewRemoval(ctx context.Context, item *deployer.Item, source Source, cluster target.Cluster, outlook Outlook) ([]diff.Object, error) {
	recorded, err := source.Recorded(item)
	if err != nil {
		return nil, err
	}
	groups, err := source.Groups(item)
	if err != nil {
		return nil, err
	}
	return deletion.Preview(ctx, deletion.Plan{
		Cluster: cluster, Inventory: recorded, Owner: source.Owner(item).deletion(), Groups: groups, ClusterOf: outlook.ClusterOf,
	})
}

// preview returns what a roll-out would make of each object of a desired state, in its order, and
// then of those that are no longer wanted. It changes nothing: the API server shows in a dry run
// what would be stored. Where that is not possible, the object says why.
func preview(ctx context.Context, cluster target.Cluster, desiredState DesiredState, recorded apply.Inventory, outlook Outlook) ([]diff.Object, error) {
	r, err := seen(ctx, cluster, desiredState, recorded)
	if err != nil {
		return nil, err
	}
	r.applier.Neighbors = foreseen{outlook}
	previews, errs := make([]diff.Object, len(r.objects)), make([]error, len(r.objects))
	parallelize.Do(len(previews), func(i int) { previews[i], errs[i] = r.preview(ctx, r.objects[i]) })
	refused := false
	for i, err := range errs {
		if err == nil {
			continue
		}
		if !job.IsRefusal(err) {
			return nil, err
		}
		// The job would fail, but not without the objects beside it.
		refused, previews[i].Unknown = true, err.Error()
	}
	orphans, err := r.previewOrphans(ctx, recorded, outlook)
	if err != nil {
		return nil, err
	}
	for i := range orphans {
		orphans[i].Unwanted = true
		if refused && orphans[i].Before != nil {
			orphans[i].Unknown = "it is deleted when all objects are on the cluster, which the API server refuses"
		}
	}
	return append(previews, orphans...), nil
}

func (r *Rollout) preview(ctx context.Context, object apply.Object) (diff.Object, error) {
	found := previewOf(object.Reference())
	if after, applied, isNew := r.previewNew(ctx, object); isNew {
		found.After, found.Applied = after, applied
		return found, nil
	}
	predicted, err := r.applier.Predict(ctx, object)
	if err != nil {
		return found, err
	}
	if predicted.Applied != nil {
		found.Applied = predicted.Applied.Object
	}
	if predicted.Live == nil && predicted.After != nil {
		if predicted.After, err = r.created(ctx, object, predicted.After); err != nil {
			return found, err
		}
	}
	if predicted.Live != nil && predicted.After != nil {
		found.Before, found.Replaced = predicted.Live.Object, predicted.Replaced
	}
	if predicted.After != nil {
		found.After = predicted.After.Object
	}
	return found, nil
}

// previewNew asks about an object that is probably new as if it were: the API server then answers with
// what it would store, in one request instead of two. Any other answer says nothing yet: of an object that
// exists, rules for new ones do not count.
func (r *Rollout) previewNew(ctx context.Context, object apply.Object) (after, applied map[string]any, isNew bool) {
	if object.Known || object.Live != nil || object.Policy == api.IgnorePolicy {
		return nil, nil, false
	}
	predicted := r.applier.PredictNew(object)
	stored, err := r.created(ctx, object, predicted.After)
	if err != nil {
		return nil, nil, false
	}
	return stored.Object, predicted.Applied.Object, true
}

// created asks the API server what it would store of a new object. That is not possible if the
// namespace or the kind does not exist yet.
func (r *Rollout) created(ctx context.Context, object apply.Object, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored, err := r.cluster.PreviewNew(ctx, object.Mapping, manifest, r.desired.Owner.FieldManager)
	if apierrors.IsNotFound(err) {
		return manifest, nil
	}
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", apply.Describe(manifest.GetKind(), manifest.GetNamespace(), manifest.GetName()), err)
	}
	return stored, nil
}

// previewOrphans returns what becomes of objects that are no longer wanted. What is to be
// ignored from now on is no orphan: a roll-out takes it out of the record before.
func (r *Rollout) previewOrphans(ctx context.Context, recorded apply.Inventory, outlook Outlook) ([]diff.Object, error) {
	orphans := recorded.With(r.objects).Orphans(r.objects)
	if len(orphans) == 0 {
		return nil, nil
	}
	return deletion.Preview(ctx, deletion.Plan{
		Cluster: r.cluster, Inventory: orphans, Owner: r.desired.Owner.deletion(), Groups: r.desired.OrphanGroups, ClusterOf: outlook.ClusterOf,
	})
}

func previewOf(reference corev1.ObjectReference) diff.Object {
	return diff.Object{APIVersion: reference.APIVersion, Kind: reference.Kind, Namespace: reference.Namespace, Name: reference.Name}
}
