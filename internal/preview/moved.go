package preview

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/diff"
	"go.landscaper.dev/internal/placement"
)

// place lets the item of a task be as its job would find it on the cluster of its Target:
// if that is another one than before, nothing of it is there. It returns the earlier
// clusters, which the job would empty.
func place(ctx context.Context, item *v1alpha1.DeployItem, on *cluster.Connection) (placed *v1alpha1.DeployItem, earlier []apideployer.EarlierCluster, err error) {
	record, err := placement.Read(item.Status.ProviderStatus)
	if err != nil || record.Cluster == nil {
		return item, nil, err
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
func (c *comparison) leave(ctx context.Context, item *v1alpha1.DeployItem, earlier []apideployer.EarlierCluster) (found []diff.Object, err error) {
	for _, one := range earlier {
		if item.Annotations[v1alpha1.LeaveEarlierClusterAnnotation] == one.Key() {
			continue
		}
		objects, err := c.leaveOne(ctx, item.Namespace, one)
		if err != nil {
			return nil, err
		}
		found = append(found, objects...)
	}
	return found, nil
}

func (c *comparison) leaveOne(ctx context.Context, namespace string, earlier apideployer.EarlierCluster) ([]diff.Object, error) {
	targets := &v1alpha1.TargetList{}
	if err := c.Reader.List(ctx, targets, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("look for a Target that leads to the earlier cluster %s: %w", placement.Describe(earlier.ClusterIdentity), err)
	}
	on, err := deployer.FindCluster(ctx, c.Clusters, targets.Items, earlier.ClusterIdentity, func() {})
	if err == nil && on == nil {
		err = fmt.Errorf("no Target of namespace %s leads to the earlier cluster %s: the job will wait for one", namespace, placement.Describe(earlier.ClusterIdentity))
	}
	var found []diff.Object
	for _, entry := range earlier.ManagedResources {
		if !placement.Removed(entry) {
			continue
		}
		object := diff.Object{
			APIVersion: entry.Resource.APIVersion, Kind: entry.Resource.Kind, Namespace: entry.Resource.Namespace, Name: entry.Resource.Name,
			Cluster: placement.Describe(earlier.ClusterIdentity),
		}
		if err != nil {
			object.Unknown = err.Error()
		} else if object, err = look(ctx, on, object); err != nil {
			object.Unknown, err = err.Error(), nil
		}
		found = append(found, object)
	}
	return found, nil
}

// look reads an object that would be removed.
func look(ctx context.Context, on *cluster.Connection, object diff.Object) (diff.Object, error) {
	mapping, err := on.Mapping(ctx, schema.FromAPIVersionAndKind(object.APIVersion, object.Kind))
	if meta.IsNoMatchError(err) {
		return object, nil
	}
	if err != nil {
		return object, err
	}
	live, err := on.Get(ctx, mapping, object.Namespace, object.Name)
	if apierrors.IsNotFound(err) {
		return object, nil
	}
	if err != nil {
		return object, err
	}
	object.Before = live.Object
	return object, nil
}
