package rollout

import (
	"context"
	"slices"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/model/placement"
)

// EarlierRemovalJob is the job of an item, as far as its earlier clusters have to do with it.
type EarlierRemovalJob interface {
	// Checkpoint names the stage of the work; its error ends the attempt.
	Checkpoint(ctx context.Context, name string) error
	// Requeue triggers the next attempt. It may be called from any goroutine.
	Requeue()
	// EarlierClusters are the clusters with what is left there.
	EarlierClusters() []apideployer.EarlierCluster
	// SetEarlierCluster records what is left on one of them; nothing removes the cluster.
	SetEarlierCluster(left apideployer.EarlierCluster) error
	// Retains reports whether what is on an earlier cluster is to stay there.
	Retains(earlier apideployer.EarlierCluster) bool
	// Recorded is what is recorded on the cluster of the Target.
	Recorded() (apideployer.ClusterIdentity, apideployer.ManagedResourceStatusList)
	// Reach returns an earlier cluster.
	Reach(ctx context.Context, earlier apideployer.EarlierCluster) (target.Cluster, error)
	// ExplainEarlier says of an error which earlier cluster it is about.
	ExplainEarlier(earlier apideployer.EarlierCluster, err error) error
	// OthersOn are the items that deploy to an earlier cluster.
	OthersOn(ctx context.Context, cluster apideployer.ClusterIdentity) ([]*v1alpha1.DeployItem, error)
	// Stays reports whether another item is not terminating.
	Stays(ctx context.Context, other *v1alpha1.DeployItem) (bool, error)
	// Moved receives which item has become the owner of an object.
	Moved(ctx context.Context, object string, to *v1alpha1.DeployItem)
	// Bequeath lets another item record an object.
	Bequeath(ctx context.Context, heir *v1alpha1.DeployItem, entry apideployer.ManagedResourceStatus) error
	// Uninstall begins to remove the item's Helm release on an earlier cluster; nil without such a
	// release.
	Uninstall(ctx context.Context, on target.Cluster, earlier apideployer.EarlierCluster) (Uninstallation, error)
}

// Uninstallation removes a release of Helm.
type Uninstallation interface {
	// SetJob says under which job the work continues.
	SetJob(item *deployer.Item)
	// Continue proceeds as far as possible and returns what it waits for.
	Continue(ctx context.Context) ([]string, error)
	// Close ends all watches.
	Close() error
}

// ReleaseUninstaller is implemented by sources whose items may have releases of Helm.
type ReleaseUninstaller interface {
	// Uninstall begins to remove a release on a cluster; nil if the item does not have one.
	Uninstall(ctx context.Context, item *deployer.Item, on target.Cluster, earlier apideployer.EarlierCluster) (Uninstallation, error)
}

// EarlierRemovals remove what an item has deployed on clusters to which its Target does not
// lead any more. They are kept between attempts, as a roll-out is, and come last: only
// when everything is on the new cluster and ready, the old one is left.
type EarlierRemovals struct{ byKey map[string]*earlierRemoval }

// earlierRemoval is the removal from one cluster.
type earlierRemoval struct {
	cluster target.Cluster
	// work is the job of the present attempt.
	work           EarlierRemovalJob
	uninstallation Uninstallation
	deletion       *deletion.Deletion
}

// Close ends all watches.
func (d *EarlierRemovals) Close() error {
	for key := range d.byKey {
		d.end(key)
	}
	return nil
}

func (d *EarlierRemovals) end(key string) {
	if found := d.byKey[key]; found != nil {
		found.close()
		delete(d.byKey, key)
	}
}

func (d *earlierRemoval) close() {
	if d.uninstallation != nil {
		_ = d.uninstallation.Close()
	}
	if d.deletion != nil {
		d.deletion.Close()
	}
}

// Continue proceeds as far as possible on all earlier clusters, and returns what it waits for: a
// cluster that cannot be reached holds up no other one.
func (d *EarlierRemovals) Continue(ctx context.Context, work EarlierRemovalJob, teardown Teardown) (waiting []string, err error) {
	for _, earlier := range slices.Clone(work.EarlierClusters()) {
		if checkpoint := work.Checkpoint(ctx, "deployer: leave earlier cluster"); checkpoint != nil {
			return nil, checkpoint
		}
		waits, failed := d.leave(ctx, work, teardown, earlier)
		for _, wait := range waits {
			waiting = append(waiting, wait+" on the earlier cluster "+placement.Describe(earlier.ClusterIdentity))
		}
		if err == nil {
			err = work.ExplainEarlier(earlier, failed)
		}
	}
	return waiting, err
}

// leave removes what is left on one cluster.
func (d *EarlierRemovals) leave(ctx context.Context, work EarlierRemovalJob, teardown Teardown, earlier apideployer.EarlierCluster) ([]string, error) {
	key, nothing := earlier.Key(), apideployer.EarlierCluster{ClusterIdentity: earlier.ClusterIdentity}
	if work.Retains(earlier) || !leavesAnything(earlier) {
		d.end(key)
		return nil, work.SetEarlierCluster(nothing)
	}
	cluster, err := work.Reach(ctx, earlier)
	if err != nil {
		return nil, err
	}
	one := d.byKey[key]
	if one == nil || one.cluster != cluster {
		d.end(key)
		if d.byKey == nil {
			d.byKey = map[string]*earlierRemoval{}
		}
		one = &earlierRemoval{cluster: cluster}
		d.byKey[key] = one
	}
	one.work = work
	if earlier.Release != nil {
		waiting, err := one.uninstall(ctx, work, earlier)
		if err != nil || len(waiting) > 0 {
			return waiting, err
		}
		earlier = withoutRelease(earlier)
		if err := work.SetEarlierCluster(earlier); err != nil || len(earlier.ManagedResources) == 0 {
			return nil, err
		}
	}
	return one.remove(ctx, work, teardown, earlier)
}

// leavesAnything reports whether anything is to be removed from a cluster.
func leavesAnything(earlier apideployer.EarlierCluster) bool {
	return earlier.Release != nil || slices.ContainsFunc(earlier.ManagedResources, placement.Removed)
}

// withoutRelease is what is left when the release is deleted: its objects are recorded without a
// policy.
func withoutRelease(earlier apideployer.EarlierCluster) apideployer.EarlierCluster {
	earlier.Release = nil
	earlier.ManagedResources = slices.DeleteFunc(slices.Clone(earlier.ManagedResources), func(entry apideployer.ManagedResourceStatus) bool { return entry.Policy == "" })
	return earlier
}

// uninstall removes the release. What failed begins from the start, with another look at
// what there is.
func (d *earlierRemoval) uninstall(ctx context.Context, work EarlierRemovalJob, earlier apideployer.EarlierCluster) (waiting []string, err error) {
	if d.uninstallation == nil {
		if d.uninstallation, err = work.Uninstall(ctx, d.cluster, earlier); err != nil || d.uninstallation == nil {
			return nil, err
		}
	}
	if item, ok := work.(itemJob); ok {
		d.uninstallation.SetJob(item.Item)
	}
	waiting, err = d.uninstallation.Continue(ctx)
	if err != nil || len(waiting) == 0 {
		_ = d.uninstallation.Close()
		d.uninstallation = nil
	}
	return waiting, err
}

// remove removes the objects, in the order of a deletion of the item.
func (d *earlierRemoval) remove(ctx context.Context, work EarlierRemovalJob, teardown Teardown, earlier apideployer.EarlierCluster) ([]string, error) {
	left := apply.Inventory(earlier.ManagedResources)
	if d.deletion == nil {
		same, err := d.isCurrent(ctx, work, earlier)
		if err != nil {
			return nil, err
		}
		if same {
			_, current := work.Recorded()
			left = left.Without(apply.Inventory(current).References()...)
		}
		d.deletion = deletion.New(deletion.Plan{
			Cluster: d.cluster, Inventory: left, Owner: teardown.Owner.deletion(), Groups: hereOnly(teardown.Groups), Wake: work.Requeue,
			Family: earlierFamily{&d.work, earlier.ClusterIdentity}, Terminating: true,
		})
	}
	waiting, err := d.deletion.Continue(ctx)
	left = left.Without(d.deletion.Gone()...)
	if err == nil && len(waiting) == 0 {
		d.close()
		d.deletion, left = nil, nil
	}
	earlier.ManagedResources = apideployer.ManagedResourceStatusList(left)
	if recorded := work.SetEarlierCluster(earlier); err == nil {
		err = recorded
	}
	return waiting, err
}

// isCurrent reports whether an earlier cluster is that of the Target after all: where IDs cannot be
// read, only an object that was deployed meanwhile shows that.
func (d *earlierRemoval) isCurrent(ctx context.Context, work EarlierRemovalJob, earlier apideployer.EarlierCluster) (bool, error) {
	cluster, current := work.Recorded()
	if earlier.ID != "" && cluster.ID != "" {
		return false, nil
	}
	return placement.HasAny(ctx, d.cluster, current)
}

// hereOnly are the groups without those for the cluster of another Target, which has
// nothing to do with the cluster that is left.
func hereOnly(groups []deletion.Group) []deletion.Group {
	here := slices.DeleteFunc(slices.Clone(groups), func(group deletion.Group) bool { return group.TargetName != "" })
	if len(groups) > 0 && len(here) == 0 {
		// No group is not the same as the default ones.
		here = []deletion.Group{{Nature: apideployer.EmptyResources}}
	}
	return here
}

// RemoveEarlier removes what an item has deployed on earlier clusters, or continues to. It runs after all
// else; the memory is that of the work on the item. An item that gets a removal round leaves it until
// then: when the job of the tree fails, the Target may lead back.
func RemoveEarlier(ctx context.Context, item *deployer.Item, source Source, memory *EarlierRemovals) (deployer.Result, error) {
	if len(item.EarlierClusters()) == 0 {
		return deployer.Done(), nil
	}
	if keeps, err := item.MayKeep(ctx); err != nil {
		return deployer.Result{}, err
	} else if keeps {
		return deployer.Done(), keepEarlier(item)
	}
	groups, err := source.Groups(item)
	if err != nil {
		return deployer.Result{}, err
	}
	waiting, err := memory.Continue(ctx, itemJob{item, source}, Teardown{Owner: source.Owner(item), Groups: groups})
	return deployer.WaitFor(waiting...), err
}

// keepEarlier says what is left on earlier clusters until the removal round. A cluster on which
// nothing is to be removed is forgotten at once.
func keepEarlier(item *deployer.Item) error {
	var kept []apideployer.EarlierCluster
	for _, earlier := range slices.Clone(item.EarlierClusters()) {
		if !item.Retains(earlier) && leavesAnything(earlier) {
			kept = append(kept, earlier)
			continue
		}
		if err := item.SetEarlierCluster(apideployer.EarlierCluster{ClusterIdentity: earlier.ClusterIdentity}); err != nil {
			return err
		}
	}
	item.KeepsEarlier(kept...)
	return nil
}

// Reach implements EarlierRemovalJob.
func (j itemJob) Reach(ctx context.Context, earlier apideployer.EarlierCluster) (target.Cluster, error) {
	connection, err := whole(j.EarlierCluster(ctx, earlier))
	if err != nil {
		return nil, err
	}
	return On(j.Item, connection), nil
}

// Uninstall implements EarlierRemovalJob.
func (j itemJob) Uninstall(ctx context.Context, on target.Cluster, earlier apideployer.EarlierCluster) (Uninstallation, error) {
	if releasing, ok := j.source.(ReleaseUninstaller); ok {
		return releasing.Uninstall(ctx, j.Item, on, earlier)
	}
	return nil, nil
}
