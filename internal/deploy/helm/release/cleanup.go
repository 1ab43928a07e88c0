package release

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/records"
	"go.landscaper.dev/internal/deploy/limit"
	"go.landscaper.dev/internal/deploy/ownership"
)

// cleanup is what is being done with objects that were kept.
const cleanup = "clean up"

// PlanCleanup returns the operation that removes what earlier operations have kept and
// nobody has taken over. It makes no revision and runs no hooks. Nothing is changed yet.
func PlanCleanup(ctx context.Context, store *records.Store, work Job, wish Wish, history []*records.Record) (*Operation, error) {
	o, err := begin(ctx, store, work, wish, history, cleanup)
	if err != nil {
		return nil, err
	}
	o.objects, o.previous = o.previous, nil
	if err := o.deployedBefore(ctx); err != nil {
		return nil, err
	}
	o.steps = []step{o.retain, o.prune}
	o.limit = limit.New(wish.Limit, work.Wake)
	return o, nil
}

// retain takes the mark away that invites others from objects that the release has again:
// an upgrade without them was given up.
func (o *Operation) retain(ctx context.Context) ([]string, error) {
	wanted := map[key]bool{}
	for _, object := range o.objects {
		wanted[keyOf(object.Object)] = true
	}
	for _, object := range o.previous {
		if !wanted[keyOf(object.Object)] {
			continue
		}
		if err := o.retainOne(ctx, object); err != nil {
			return nil, fmt.Errorf("keep %s: %w", describe(object.Object), err)
		}
	}
	return nil, nil
}

func (o *Operation) retainOne(ctx context.Context, object apply.Object) error {
	for attempt := 1; ; attempt++ {
		live, err := o.get(ctx, object)
		if err != nil || live == nil || !ownership.IsReleased(live) || !o.mayRemove(live) {
			return err
		}
		patch, err := retained(live)
		if err == nil {
			_, err = o.patch(ctx, object, patch)
		}
		if !apierrors.IsConflict(err) || attempt == attempts {
			return err
		}
	}
}

// retained is the merge patch that takes back ownership.Release.
func retained(live *unstructured.Unstructured) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": live.GetResourceVersion(), "uid": live.GetUID(), "annotations": map[string]any{v1alpha1.ReleasedByAnnotation: nil},
	}})
}
