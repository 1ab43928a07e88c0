package execution

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// A replica that is replaced may create items after the next one has released their Execution. The
// garbage collector deletes them, and no Execution is left that would assign them a job for that: they
// would be terminating for ever. What never had a job has deployed nothing, and is released.

// observeStrays reads what an Execution has left that does not exist.
func (r *Reconciler) observeStrays(ctx context.Context, key client.ObjectKey, s *snapshot) error {
	items, err := r.listItems(ctx, key)
	if err != nil {
		return err
	}
	for i := range items {
		item := &items[i]
		if err := r.memory.awaitItem(ctx, r.Reader, item); err != nil {
			return err // says what was read
		}
		if overlaid := r.Dispatcher.Overlay(item); isStray(overlaid, key.Name, "") {
			s.strays = append(s.strays, overlaid)
		}
	}
	return nil
}

// isStray reports whether a terminating item belonged to an earlier Execution of a name, and never had a
// job.
func isStray(item *v1alpha1.DeployItem, name string, current types.UID) bool {
	owner, owned := job.OwnerOf(item, "Execution")
	return owned && owner.Name == name && owner.UID != current &&
		item.DeletionTimestamp != nil && item.Status.JobID == "" && controllerutil.ContainsFinalizer(item, v1alpha1.Finalizer)
}

// releaseStrays removes the finalizers of strays. Each write is bound to the version that was read: if
// the Execution is only missing in the cache, it may have assigned a job meanwhile.
func (r *Reconciler) releaseStrays(ctx context.Context, s *snapshot) error {
	for _, item := range s.strays {
		if err := r.letGo(ctx, s, s.own(item)); err != nil {
			return err
		}
	}
	s.strays = nil
	return nil
}

// listItems lists the items that name an Execution, as the cache has them.
func (r *Reconciler) listItems(ctx context.Context, key client.ObjectKey) ([]v1alpha1.DeployItem, error) {
	list := &v1alpha1.DeployItemList{}
	if err := r.Client.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{itemsByExecution: key.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the DeployItems of Execution %s: %w", key, err)
	}
	return list.Items, nil
}
