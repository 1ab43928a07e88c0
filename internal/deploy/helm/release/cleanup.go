package release

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/limit"
	"go.landscaper.dev/internal/model/ownership"
)

// cleanup is what is being done with objects that were kept.
const cleanup = "clean up"

// PlanCleanup returns the operation that removes objects that earlier operations have kept and no
// item has taken over. It makes no revision and runs no hooks. Nothing is changed yet.
func PlanCleanup(ctx context.Context, store *storage.Store, work Job, desiredState DesiredState, history []*storage.Record) (*Operation, error) {
	o, err := begin(ctx, store, work, desiredState, history, cleanup)
	if err != nil {
		return nil, err
	}
	// Of one object, the newest revision has the content.
	o.objects, o.previous = unique(o.previous), nil
	if err := o.deployedBefore(ctx); err != nil {
		return nil, err
	}
	o.steps = []step{o.reclaim, o.prune}
	if desiredState.ReleasedOnly {
		o.steps = []step{o.prune}
	}
	o.limit = limit.New(desiredState.Limit, work.Requeue)
	return o, nil
}

// reclaim makes those objects of the release its own again that it has released, and those that
// others have taken over and do not want any more: the change that was to move them was given
// up. What others still want stays theirs.
func (o *Operation) reclaim(ctx context.Context) ([]string, error) {
	recorded := maps.Clone(o.recorded)
	for _, contested := range o.desiredState.Contested {
		recorded[key{contested.GroupVersionKind().GroupKind(), contested.Namespace, contested.Name}] = true
	}
	for _, object := range o.objects {
		if !recorded[keyOf(object.Object)] {
			continue
		}
		if err := o.reclaimOne(ctx, object); err != nil {
			return nil, fmt.Errorf("keep %s: %w", describe(object.Object), err)
		}
	}
	return nil, nil
}

func (o *Operation) reclaimOne(ctx context.Context, object apply.Object) error {
	for attempt := 1; ; attempt++ {
		live, err := o.get(ctx, object)
		if err != nil || live == nil || live.GetDeletionTimestamp() != nil {
			return err
		}
		mine, err := o.isMineAgain(ctx, live)
		if err != nil || !mine {
			return err
		}
		patch, err := o.takenBack(live)
		if err == nil {
			_, err = o.patch(ctx, object, patch)
		}
		if !apierrors.IsConflict(err) || attempt == attempts {
			return err
		}
	}
}

// isMineAgain reports whether an object of the release is to get its marks again.
func (o *Operation) isMineAgain(ctx context.Context, live *unstructured.Unstructured) (bool, error) {
	if o.mayRemove(live) {
		return ownership.IsReleased(live), nil
	}
	yields, _, err := o.others.Yields(ctx, live)
	return yields, err
}

// takenBack is the merge patch that makes an object one of the release again.
func (o *Operation) takenBack(live *unstructured.Unstructured) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": live.GetResourceVersion(), "uid": live.GetUID(),
		"labels":      map[string]any{ownership.ManifestLabel: nil, ownership.HelmLabel: nil, ownership.KustomizeLabel: nil, managedByLabel: managedByHelm},
		"annotations": map[string]any{v1alpha1.ReleasedByAnnotation: nil, releaseAnnotation: o.desiredState.Name, namespaceAnnotation: o.desiredState.Namespace},
	}})
}
