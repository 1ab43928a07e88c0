package execution

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
)

// askLimit is how long a garden is asked about a shoot: a worker waits for it.
const askLimit = 10 * time.Second

// clusterOf returns the shoot behind the Target of an item that wants to go without
// uninstalling anything when that shoot is gone. It is empty if a TargetSync has not made
// the Target from a shoot, and nil without such a wish or if nobody knows.
func (r *Reconciler) clusterOf(ctx context.Context, namespace string, template *v1alpha1.DeployItemTemplate) (*string, error) {
	if template.OnDelete == nil || !template.OnDelete.SkipUninstallIfClusterRemoved || template.Target == nil {
		return nil, nil
	}
	target := &v1alpha1.Target{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: template.Target.Name}, target); err != nil {
		if client.IgnoreNotFound(err) == nil {
			// Whoever deploys the item tells that.
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

// clusterRemoved reports whether there is nothing left that an item could be uninstalled
// from.
func (r *Reconciler) clusterRemoved(ctx context.Context, item *v1alpha1.DeployItem) (bool, error) {
	shoot := item.Annotations[v1alpha1.ClusterNameAnnotation]
	if r.ClusterRemoved == nil || shoot == "" || item.Spec.Target == nil || item.Spec.OnDelete == nil || !item.Spec.OnDelete.SkipUninstallIfClusterRemoved {
		return false, nil
	}
	if leftElsewhere(item) {
		// What is on another cluster is there still, whatever became of this one.
		return false, nil
	}
	return r.askGarden(ctx, item, shoot)
}

// askGarden asks whether a shoot is gone.
func (r *Reconciler) askGarden(ctx context.Context, item *v1alpha1.DeployItem, shoot string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	removed, err := r.ClusterRemoved(ctx, item.Namespace, shoot)
	if err != nil {
		return false, fmt.Errorf("find out whether the cluster of DeployItem %s is gone (onDelete.skipUninstallIfClusterRemoved): %w", item.Name, err)
	}
	return removed, nil
}

// leaveRemoved lets an item that gets a Target of another shoot leave what it has deployed
// on the one before, if that is gone and the item would be deleted without uninstalling
// then. It is asked with the update that tells the other shoot: later nobody knows the one
// before.
func (r *Reconciler) leaveRemoved(ctx context.Context, live, item *v1alpha1.DeployItem) error {
	before := live.Annotations[v1alpha1.ClusterNameAnnotation]
	if r.ClusterRemoved == nil || before == "" || before == item.Annotations[v1alpha1.ClusterNameAnnotation] || item.Spec.OnDelete == nil || !item.Spec.OnDelete.SkipUninstallIfClusterRemoved {
		return nil
	}
	record, err := placement.Read(live.Status.ProviderStatus)
	if err != nil || record.Cluster == nil {
		return nil //nolint:nilerr // the deployer tells it
	}
	removed, err := r.askGarden(ctx, item, before)
	if removed {
		item.Annotations[v1alpha1.LeaveEarlierClusterAnnotation] = record.Cluster.Key()
	}
	return err
}

// leftElsewhere reports whether something of an item is left on a cluster to which its
// Target led before.
func leftElsewhere(item *v1alpha1.DeployItem) bool {
	record, err := placement.Read(item.Status.ProviderStatus)
	return err == nil && len(record.EarlierClusters) > 0
}
