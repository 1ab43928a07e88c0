package deployer

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
)

// executionKind is the kind of the object that an item shares with its siblings.
const executionKind = "Execution"

// Sibling returns another item of the same Execution that is chosen and whose part of the job is
// not over, or nil. The item is enqueued when the part of one of its siblings is over. Items that
// depend on this one are left out, as it cannot wait for them. The result, and what chosen gets,
// are copies.
func (i *Item) Sibling(ctx context.Context, chosen func(*v1alpha1.DeployItem) bool) (*v1alpha1.DeployItem, error) {
	execution := i.Labels[v1alpha1.ExecutionManagedByLabel]
	if execution == "" {
		return nil, nil
	}
	key := types.NamespacedName{Namespace: i.Namespace, Name: execution}
	i.reconciler.memory.uses(i.key, need{executionKind, key})
	// The siblings were written before the item got its job, and come by the same watch: all are in
	// the cache.
	list := &v1alpha1.DeployItemList{}
	err := i.reconciler.client.List(ctx, list, client.InNamespace(i.Namespace), client.MatchingLabels{v1alpha1.ExecutionManagedByLabel: execution}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list the items of Execution %s: %w", key, err)
	}
	inOrder(list)
	family := make([]*v1alpha1.DeployItem, len(list.Items))
	for at := range list.Items {
		family[at] = &list.Items[at]
	}
	working, waiting := itemorder.UnfinishedSiblings(i.DeployItem, family)
	if found := firstCopy(working, chosen); found != nil {
		return found, nil
	}
	found := firstCopy(waiting, chosen)
	if found == nil {
		return nil, nil
	}
	// The Execution assigns the job to others only if it has the job itself.
	owner := &v1alpha1.Execution{}
	err = i.reconciler.live.Get(ctx, key, owner)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Execution %s: %w", key, err)
	}
	if owner.Status.JobID == i.Status.JobID && job.Unfinished(owner.Status.JobID, owner.Status.JobIDFinished) {
		return found, nil
	}
	return nil, nil
}

// firstCopy returns a copy of the first item that is chosen, or nil.
func firstCopy(items []*v1alpha1.DeployItem, chosen func(*v1alpha1.DeployItem) bool) *v1alpha1.DeployItem {
	for _, item := range items {
		if found := copyOf(item); chosen(found) {
			return found
		}
	}
	return nil
}

// copyOf returns a copy of an item of the cache for the code of a deployer. An item may be copied a
// thousand times in one look, so the copy shares the texts of the configuration and of the provider
// status: they may be large, and are read or replaced, but not written into.
func copyOf(item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	bare := *item
	bare.Spec.Configuration, bare.Status.ProviderStatus = nil, nil
	copied := bare.DeepCopy()
	copied.Spec.Configuration, copied.Status.ProviderStatus = sharing(item.Spec.Configuration), sharing(item.Status.ProviderStatus)
	return copied
}

// sharing returns an extension with the same text. An append to the text copies it.
func sharing(extension *runtime.RawExtension) *runtime.RawExtension {
	if extension == nil {
		return nil
	}
	return &runtime.RawExtension{Raw: slices.Clip(extension.Raw)}
}

// partEnded passes the events which report that the part of an item is over.
var partEnded = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, isItem := e.ObjectOld.(*v1alpha1.DeployItem)
		after, isToo := e.ObjectNew.(*v1alpha1.DeployItem)
		return isItem && isToo && before.Status.JobIDFinished != after.Status.JobIDFinished
	},
}

// siblingsOf lets the items continue that wait for one of their siblings.
func (r *reconciler) siblingsOf(_ context.Context, item client.Object) []reconcile.Request {
	family := types.NamespacedName{Namespace: item.GetNamespace(), Name: item.GetLabels()[v1alpha1.ExecutionManagedByLabel]}
	return r.enqueueUsers(need{executionKind, family})
}
