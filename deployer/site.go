package deployer

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
)

// relation says whether another item deploys to the cluster of the item.
func (i *Item) relation(ctx context.Context, other *v1alpha1.DeployItem) placement.Relation {
	if !hasTarget(i.DeployItem) || !hasTarget(other) {
		return placement.OtherCluster
	}
	if i.Spec.Target.Name == other.Spec.Target.Name {
		return placement.SameCluster
	}
	return i.site(ctx).Compare(i.siteOf(ctx, other))
}

// mayShareCluster reports whether another item may deploy to the cluster of the item.
func (i *Item) mayShareCluster(ctx context.Context, other *v1alpha1.DeployItem) bool {
	return i.relation(ctx, other) != placement.OtherCluster
}

// mayHold reports whether another item may own objects on the cluster of the item: it deploys
// there, or has done so before.
func (i *Item) mayHold(ctx context.Context, other *v1alpha1.DeployItem) bool {
	if i.mayShareCluster(ctx, other) {
		return true
	}
	here, its := i.site(ctx).Record, recordOf(other)
	return here.Cluster != nil && its.HadCluster(*here.Cluster)
}

// site is where the item deploys.
func (i *Item) site(ctx context.Context) placement.Site {
	site := placement.Site{Target: i.Spec.Target.Name, Record: recordOf(i.DeployItem)}
	if i.clusters != nil {
		site.Record.ClusterRecord = *i.clusters
	}
	if i.Target != nil {
		site.Spec, site.Address = &i.Target.Spec, i.addressOf(ctx, i.Target)
	}
	return site
}

// siteOf is where another item of the namespace deploys, by the cache.
func (i *Item) siteOf(ctx context.Context, other *v1alpha1.DeployItem) placement.Site {
	site, target := placement.Site{Target: other.Spec.Target.Name, Record: recordOf(other)}, &v1alpha1.Target{}
	err := i.reconciler.client.Get(ctx, types.NamespacedName{Namespace: i.Namespace, Name: site.Target}, target, client.UnsafeDisableDeepCopy)
	if err == nil {
		site.Spec, site.Address = &target.Spec, i.addressOf(ctx, target)
	}
	return site
}

// addressOf returns the address to which a Target leads, empty if that cannot be found out.
func (i *Item) addressOf(ctx context.Context, target *v1alpha1.Target) string {
	if i.reconciler.options.Clusters == nil || target.Spec.Type != v1alpha1.KubernetesClusterTargetType {
		return ""
	}
	// An incomplete Target is reported by the items that deploy with it.
	address, err := i.reconciler.options.Clusters.AddressOf(ctx, target)
	if err != nil {
		return ""
	}
	return address
}

// recordOf is what an item has recorded. The deployer of the item reports a record that cannot be
// read.
func recordOf(item *v1alpha1.DeployItem) placement.Record {
	record, err := placement.Read(item.Status.ProviderStatus)
	if err != nil {
		return placement.Record{}
	}
	// A record that is older than records of clusters lists objects, too.
	record.Resources = placement.Recorded(item.Status.ProviderStatus)
	return record
}

// heirs are those of some items that may take over what the item does not want any more. One whose
// cluster is not known may do so until the removal round: by then, it has recorded its cluster.
// What it has recorded so far may be on another cluster, and does not count.
func (i *Item) heirs(ctx context.Context, others []*v1alpha1.DeployItem) (heirs []*v1alpha1.DeployItem, err error) {
	for _, other := range others {
		relation := i.relation(ctx, other)
		if relation == placement.UnknownCluster {
			keeps, err := i.MayKeep(ctx)
			if err != nil {
				return nil, err
			}
			if !keeps {
				continue
			}
			other = copyOf(other)
			other.Status.ProviderStatus = nil
		}
		if relation != placement.OtherCluster {
			heirs = append(heirs, other)
		}
	}
	return slices.Clip(heirs), nil
}
