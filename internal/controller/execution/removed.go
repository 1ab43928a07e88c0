package execution

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
)

// askLimit is how long a request to a garden about a shoot may take: a worker waits for it.
const askLimit = 10 * time.Second

// clusterOf returns the shoot behind the Target of an item that asks to be deleted without
// uninstalling anything when that shoot no longer exists. It is empty if a TargetSync has not made
// the Target from a shoot, and nil without that setting or if the shoot is unknown.
func (r *Reconciler) clusterOf(ctx context.Context, namespace string, template *v1alpha1.DeployItemTemplate) (*string, error) {
	if template.OnDelete == nil || !template.OnDelete.SkipUninstallIfClusterRemoved || template.Target == nil {
		return nil, nil
	}
	target := &v1alpha1.Target{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: template.Target.Name}, target); err != nil {
		if client.IgnoreNotFound(err) == nil {
			// The deployer of the item reports that.
			return nil, nil
		}
		return nil, fmt.Errorf("read Target %s of DeployItem %s: %w", template.Target.Name, template.Name, err)
	}
	shoot := ""
	if target.Labels[v1alpha1.TargetSyncLabel] == v1alpha1.TargetSyncLabelValue {
		shoot = target.Annotations[v1alpha1.ShootNameAnnotation]
	}
	return &shoot, nil
}

// clusterRemoved reports whether no cluster is left that an item could be uninstalled from.
func (r *Reconciler) clusterRemoved(ctx context.Context, item *v1alpha1.DeployItem) (bool, error) {
	shoot := item.Annotations[v1alpha1.ClusterNameAnnotation]
	if r.ClusterRemoved == nil || shoot == "" || item.Spec.Target == nil || item.Spec.OnDelete == nil || !item.Spec.OnDelete.SkipUninstallIfClusterRemoved {
		return false, nil
	}
	if hasEarlierClusters(item) {
		// Objects on another cluster still exist, also if this cluster does not.
		return false, nil
	}
	return r.askGarden(ctx, item, shoot)
}

// askGarden asks whether a shoot no longer exists.
func (r *Reconciler) askGarden(ctx context.Context, item *v1alpha1.DeployItem, shoot string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	removed, err := r.ClusterRemoved(ctx, item.Namespace, shoot)
	if err != nil {
		return false, fmt.Errorf("check whether the cluster of DeployItem %s still exists (onDelete.skipUninstallIfClusterRemoved): %w", item.Name, err)
	}
	return removed, nil
}

// leaveRemoved lets an item that gets a Target of another shoot leave what it has deployed on the
// former one, if that no longer exists and the item would then be deleted without uninstalling. The
// check comes with the update that names the new shoot: later the former one is unknown.
func (r *Reconciler) leaveRemoved(ctx context.Context, live, item *v1alpha1.DeployItem) error {
	before := live.Annotations[v1alpha1.ClusterNameAnnotation]
	if r.ClusterRemoved == nil || before == "" || before == item.Annotations[v1alpha1.ClusterNameAnnotation] || item.Spec.OnDelete == nil || !item.Spec.OnDelete.SkipUninstallIfClusterRemoved {
		return nil
	}
	record, err := placement.Read(live.Status.ProviderStatus)
	if err != nil || record.Cluster == nil {
		return nil //nolint:nilerr // the deployer reports it
	}
	removed, err := r.askGarden(ctx, item, before)
	if removed {
		item.Annotations[v1alpha1.LeaveEarlierClusterAnnotation] = record.Cluster.Key()
	}
	return err
}

// hasEarlierClusters reports whether objects of an item are left on a cluster to which its Target led
// before.
func hasEarlierClusters(item *v1alpha1.DeployItem) bool {
	record, err := placement.Read(item.Status.ProviderStatus)
	return err == nil && len(record.EarlierClusters) > 0
}
