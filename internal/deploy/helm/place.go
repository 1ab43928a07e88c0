package helm

import (
	"context"
	"fmt"
	"slices"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// place finds out on which cluster the item is deployed. If its Target leads to another
// one than before, the release is left on the earlier one until all is on the new one.
func (d Deployer) place(ctx context.Context, item *deployer.Item, config *config) error {
	connection, err := item.Cluster(ctx)
	if err != nil {
		return err
	}
	there, err := releaseOf(item, config)
	if err != nil {
		return err
	}
	return item.Place(ctx, connection, there)
}

// releaseOf is the release that an item may have deployed, nil if it cannot have any.
func releaseOf(item *deployer.Item, config *config) (*apideployer.ReleaseReference, error) {
	_, possible, err := mayHaveRelease(item)
	if err != nil || !possible {
		return nil, err
	}
	deployed, err := config.asDeployed(item)
	if err != nil {
		return nil, err
	}
	reference := deployed.reference()
	return &reference, nil
}

// placeBeforeRemoval is place for an item that is being deleted: what is left on earlier clusters
// alone needs no Target.
func (d Deployer) placeBeforeRemoval(ctx context.Context, item *deployer.Item, config *config) error {
	if !config.release() && !hasDeployed(item) {
		return nil
	}
	return d.place(ctx, item, config)
}

// hasDeployed reports whether an item is known to have deployed anything on the cluster of
// its Target. A status that lists nothing may be about a release without workloads, unless
// it is about earlier clusters.
func hasDeployed(item *deployer.Item) bool {
	if item.Status.ProviderStatus == nil {
		return false
	}
	_, resources := item.Recorded()
	return len(resources) > 0 || len(item.EarlierClusters()) == 0
}

// Uninstall implements rollout.ReleaseUninstaller.
func (t templates) Uninstall(ctx context.Context, item *deployer.Item, on target.Cluster, earlier apideployer.EarlierCluster) (rollout.Uninstallation, error) {
	store := &storage.Store{Cluster: on, Namespace: earlier.Release.Namespace, Now: t.Now}
	history, err := store.History(ctx, earlier.Release.Name)
	if err != nil {
		return nil, t.onEarlier(earlier, err)
	}
	if !t.ours(item, history, earlier) {
		return nil, nil
	}
	within, err := t.config.uninstall.limit(item.Remaining())
	if err != nil {
		return nil, configError(reasons.ValidateProviderConfiguration, err)
	}
	operation, err := release.PlanRemoval(ctx, store, earlierClusterJob{item: item, cluster: earlier.ClusterIdentity}, release.DesiredState{
		Options: release.Options{Wait: t.config.uninstall.Wait, Limit: within}, Name: earlier.Release.Name, Namespace: earlier.Release.Namespace, Item: item.Name,
	}, history)
	if err != nil {
		return nil, t.onEarlier(earlier, err)
	}
	return uninstallation{operation, t, earlier}, nil
}

// ours reports whether a release on an earlier cluster is that of the item.
func (t templates) ours(item *deployer.Item, history []*storage.Record, earlier apideployer.EarlierCluster) bool {
	inStatus := slices.ContainsFunc(earlier.ManagedResources, func(entry apideployer.ManagedResourceStatus) bool { return entry.Policy == "" })
	return len(history) > 0 && belongs(history[len(history)-1], item, inStatus || t.config.release())
}

// onEarlier says of an error which release it is about, and where.
func (templates) onEarlier(earlier apideployer.EarlierCluster, err error) error {
	if err == nil {
		return nil
	}
	return job.Wrap(err, published.DeleteItem, reasons.DeleteWithUninstall, fmt.Sprintf("remove release %s/%s from the earlier cluster %s",
		earlier.Release.Namespace, earlier.Release.Name, placement.Describe(earlier.ClusterIdentity)))
}

// uninstallation removes a release from an earlier cluster.
type uninstallation struct {
	*release.Operation
	of      templates
	earlier apideployer.EarlierCluster
}

// SetJob implements rollout.Uninstallation.
func (u uninstallation) SetJob(item *deployer.Item) {
	u.Operation.SetJob(earlierClusterJob{item: item, cluster: u.earlier.ClusterIdentity})
}

// Continue implements rollout.Uninstallation.
func (u uninstallation) Continue(ctx context.Context) ([]string, error) {
	waiting, err := u.Operation.Continue(ctx)
	return waiting, u.of.onEarlier(u.earlier, err)
}
