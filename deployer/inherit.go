package deployer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Bequeath lets another item of the namespace record an object: an annotation says so until the next
// job of that item. It does nothing if the other item has recorded the object.
//
// Only the deployer of an item writes its status, and it may be at work.
func (i *Item) Bequeath(ctx context.Context, heir *v1alpha1.DeployItem, entry apideployer.ManagedResourceStatus) error {
	current := &v1alpha1.DeployItem{}
	if err := i.reconciler.live.Get(ctx, types.NamespacedName{Namespace: heir.Namespace, Name: heir.Name}, current); err != nil {
		return fmt.Errorf("read DeployItem %s, which inherits %s %s: %w", heir.Name, entry.Resource.Kind, entry.Resource.Name, err)
	}
	if current.DeletionTimestamp != nil {
		return job.NewError(i.operation(), reasons.Bequeath, fmt.Sprintf("DeployItem %s is being deleted, and cannot inherit %s %s", heir.Name, entry.Resource.Kind, entry.Resource.Name))
	}
	if ownership.Records(current, entry.Resource) {
		return nil
	}
	inherited := placement.Inherited(current)
	entry.Resource.UID = ""
	if slices.ContainsFunc(inherited, func(known apideployer.ManagedResourceStatus) bool { return known.Resource == entry.Resource }) {
		return nil
	}
	text, err := json.Marshal(append(inherited, entry))
	if err != nil {
		return fmt.Errorf("encode what DeployItem %s inherits: %w", heir.Name, err)
	}
	changed := current.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[v1alpha1.InheritedAnnotation] = string(text)
	if err := i.reconciler.client.Patch(ctx, changed, client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("let DeployItem %s inherit %s %s: %w", heir.Name, entry.Resource.Kind, entry.Resource.Name, err)
	}
	return nil
}

// inherit records what other items have left to the item, before its job begins: a job that continues
// has its own view of the record. Without a record, the annotation stays.
func (i *Item) inherit(ctx context.Context) error {
	if i.Annotations[v1alpha1.InheritedAnnotation] == "" || i.Remembered() != nil || i.Status.ProviderStatus == nil {
		return nil
	}
	recorded, err := placement.WithInherited(i.DeployItem)
	if err != nil {
		return fmt.Errorf("record what the item has inherited: %w", err)
	}
	i.Status.ProviderStatus = recorded
	if err := i.record(ctx); err != nil {
		return err
	}
	return i.writeMetadata(ctx, func(stored *v1alpha1.DeployItem) { delete(stored.Annotations, v1alpha1.InheritedAnnotation) })
}
