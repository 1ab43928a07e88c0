package preview

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/placement"
)

// Leaver is implemented by comparers whose items may have a release of Helm on a cluster,
// besides the objects that are recorded.
type Leaver interface {
	// Release is the release that an item may have where its objects are, or nil.
	Release(item *v1alpha1.DeployItem) (*apideployer.ReleaseReference, error)
	// Released are the objects of the release of an item on an earlier cluster.
	Released(ctx context.Context, item *v1alpha1.DeployItem, on *cluster.Connection, earlier apideployer.EarlierCluster) (apideployer.ManagedResourceStatusList, error)
}

// place lets the item of a task be as its job would find it on the cluster of its Target:
// if that is another one than before, nothing of it is there. It returns the earlier
// clusters, which the job would empty.
func (c *comparison) place(ctx context.Context, item *v1alpha1.DeployItem, on *cluster.Connection) (placed *v1alpha1.DeployItem, earlier []apideployer.EarlierCluster, err error) {
	record, err := placement.Read(item.Status.ProviderStatus)
	if err != nil || record.Cluster == nil {
		return item, nil, err
	}
	if leaver, ok := c.Comparers[item.Spec.Type].(Leaver); ok {
		if record.Release, err = leaver.Release(item); err != nil {
			return item, nil, err
		}
	}
	record, moved, err := placement.Settle(ctx, record, on, item.Spec.Target.Name)
	if err != nil {
		return item, nil, fmt.Errorf("find out whether the cluster is another one than before: %w", err)
	}
	if moved {
		written, err := placement.WriteResources(item.Status.ProviderStatus.Raw, record)
		if err != nil {
			return item, nil, err
		}
		item = item.DeepCopy()
		item.Status.ProviderStatus = &runtime.RawExtension{Raw: written}
	}
	return item, record.EarlierClusters, nil
}

// leave returns what becomes of what is left on earlier clusters.
func (c *comparison) leave(ctx context.Context, item *v1alpha1.DeployItem, earlier []apideployer.EarlierCluster) (found []diff.Object) {
	for _, one := range earlier {
		if placement.Leaves(item.Annotations[v1alpha1.LeaveEarlierClusterAnnotation], one.ClusterIdentity) {
			continue
		}
		found = append(found, c.leaveOne(ctx, item, one)...)
	}
	return found
}

func (c *comparison) leaveOne(ctx context.Context, item *v1alpha1.DeployItem, earlier apideployer.EarlierCluster) (found []diff.Object) {
	on, reached := c.recordedBy(ctx, item.Namespace, earlier.ClusterIdentity)
	if reached == nil && on == nil {
		reached = fmt.Errorf("no Target of namespace %s leads to the earlier cluster %s: the job will wait for one", item.Namespace, placement.Describe(earlier.ClusterIdentity))
	}
	entries := earlier.ManagedResources
	if leaver, ok := c.Comparers[item.Spec.Type].(Leaver); ok && earlier.Release != nil && reached == nil {
		// What belongs to the release is recorded in part, and without a policy.
		entries = slices.DeleteFunc(slices.Clone(entries), func(entry apideployer.ManagedResourceStatus) bool { return entry.Policy == "" })
		var released apideployer.ManagedResourceStatusList
		released, reached = leaver.Released(ctx, item, on, earlier)
		entries = append(entries, released...)
	}
	for _, entry := range entries {
		if placement.Removed(entry) {
			found = append(found, left(ctx, on, reached, entry, earlier))
		}
	}
	return found
}

// left is what becomes of an object on an earlier cluster.
func left(ctx context.Context, on *cluster.Connection, reached error, entry apideployer.ManagedResourceStatus, earlier apideployer.EarlierCluster) diff.Object {
	object := diff.Object{
		APIVersion: entry.Resource.APIVersion, Kind: entry.Resource.Kind, Namespace: entry.Resource.Namespace, Name: entry.Resource.Name,
		Cluster: placement.Describe(earlier.ClusterIdentity),
	}
	if reached == nil {
		object.Before, reached = look(ctx, on, entry)
	}
	if reached != nil {
		object.Unknown = reached.Error()
	}
	return object
}

// look reads an object that would be removed, nil if it does not exist.
func look(ctx context.Context, on *cluster.Connection, entry apideployer.ManagedResourceStatus) (map[string]any, error) {
	mapping, err := on.Mapping(ctx, schema.FromAPIVersionAndKind(entry.Resource.APIVersion, entry.Resource.Kind))
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	live, err := on.Get(ctx, mapping, entry.Resource.Namespace, entry.Resource.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return live.Object, nil
}
