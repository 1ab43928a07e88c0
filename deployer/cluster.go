package deployer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/responsibility"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Place finds out whether the Target of the item still leads to the cluster of the recorded
// objects, and records the cluster. A deployer that calls Place records objects under
// managedResources, and calls Place in each attempt before it reads them.
//
// If the Target leads to another cluster, the recorded objects become those of an earlier cluster,
// before anything is written to the new one: managedResources are empty then, and EarlierClusters
// lists what is still to be removed. The release is what Helm may have on the cluster besides.
func (i *Item) Place(ctx context.Context, connection Connection, release *apideployer.ReleaseReference) error {
	record, err := placement.Read(i.Status.ProviderStatus)
	if err != nil {
		return job.NewError(i.operation(), reasons.ParseProviderStatus, err.Error(), v1alpha1.ErrorConfigurationProblem)
	}
	var from apideployer.ClusterIdentity
	if record.Cluster != nil {
		from = *record.Cluster
	}
	record.Release = release
	record, moved, err := placement.Settle(ctx, record, connection, i.Spec.Target.Name)
	if err != nil {
		return fmt.Errorf("find out whether Target %s/%s leads to another cluster than before: %w", i.Namespace, i.Spec.Target.Name, err)
	}
	i.clusters = &record.ClusterRecord
	if !moved {
		return nil
	}
	written, err := placement.WriteResources(i.Status.ProviderStatus.Raw, record)
	if err != nil {
		return job.Wrap(err, i.operation(), reasons.ProviderStatus, "record that the cluster is another one", v1alpha1.ErrorInternalProblem)
	}
	i.Status.ProviderStatus = &runtime.RawExtension{Raw: written}
	// An event only: a condition would stay when all of it is removed.
	i.reconciler.events.Eventf(i.DeployItem, nil, corev1.EventTypeWarning, string(reasons.ClusterChanged), "ReconcileDeployItem", "%s", job.EventMessage(fmt.Sprintf(
		"%s, %s: what the item has deployed on %s is removed when everything is deployed there", i.leadsElsewhere(), record.Cluster.Server, placement.Describe(from))))
	return i.record(ctx)
}

// LeadsElsewhere reports whether the Target of the item leads to another cluster than that of the
// recorded objects. It records nothing: the next job does.
func (i *Item) LeadsElsewhere(ctx context.Context, connection Connection) (bool, error) {
	record, err := placement.Read(i.Status.ProviderStatus)
	if err != nil || record.Cluster == nil || i.Spec.Target == nil {
		return false, nil //nolint:nilerr // the next job reports the error
	}
	_, moved, err := placement.Settle(ctx, record, connection, i.Spec.Target.Name)
	return moved, err
}

// leadsElsewhere is how messages about a Target that leads to another cluster begin.
func (i *Item) leadsElsewhere() string {
	return fmt.Sprintf("Target %s/%s leads to another cluster", i.Namespace, i.Spec.Target.Name)
}

// warnUnmoved warns of an item that is deployed only after a change, and therefore stays on a
// cluster to which its Target does not lead any more. The cluster is asked only if the address of
// the Target has changed.
func (i *Item) warnUnmoved(ctx context.Context) {
	record, err := placement.Read(i.Status.ProviderStatus)
	if err != nil || record.Cluster == nil || i.Target == nil {
		return
	}
	job.DropWarning(&i.Status.Conditions, i.leadsElsewhere())
	if address := i.addressOf(ctx, i.Target); address == "" || address == record.Cluster.Address {
		return
	}
	connection, err := i.connect(ctx, i.Target)
	if err != nil {
		// Nothing is deployed, so the job does not depend on a cluster that does not answer.
		return
	}
	if moved, err := i.LeadsElsewhere(ctx, connection); err == nil && moved {
		i.Warn(string(reasons.ClusterChanged), fmt.Sprintf("%s: the item stays on %s until its specification changes, because of updateOnChangeOnly", i.leadsElsewhere(), placement.Describe(*record.Cluster)))
	}
}

// Recorded returns the recorded objects of the item on the cluster of its Target, and that cluster.
func (i *Item) Recorded() (cluster apideployer.ClusterIdentity, resources apideployer.ManagedResourceStatusList) {
	record, err := placement.Read(i.Status.ProviderStatus)
	if err != nil || record.Cluster == nil {
		return cluster, nil
	}
	return *record.Cluster, record.Resources
}

// EarlierClusters are the clusters to which the Target of the item led before, with what
// is still to be removed there.
func (i *Item) EarlierClusters() []apideployer.EarlierCluster {
	if i.clusters == nil {
		record, err := placement.Read(i.Status.ProviderStatus)
		if err != nil || record.Cluster == nil && len(record.EarlierClusters) == 0 {
			return nil
		}
		i.clusters = &record.ClusterRecord
	}
	return i.clusters.EarlierClusters
}

// SetEarlierCluster records for the next write what is left on an earlier cluster; without objects
// and without a release, the cluster is dropped.
func (i *Item) SetEarlierCluster(left apideployer.EarlierCluster) error {
	clusters := placement.Update(i.EarlierClusters(), left)
	if i.clusters == nil {
		return nil
	}
	i.clusters.EarlierClusters = clusters
	written, err := placement.Write(i.Status.ProviderStatus.Raw, *i.clusters)
	if err != nil {
		return job.Wrap(err, i.operation(), reasons.ProviderStatus, "record what is left on an earlier cluster", v1alpha1.ErrorInternalProblem)
	}
	i.Status.ProviderStatus = &runtime.RawExtension{Raw: written}
	return nil
}

// KeepsEarlier says what is left on earlier clusters until the removal round, in which the deployer
// removes it: see [Item.MayKeep]. The last call of a job counts.
func (i *Item) KeepsEarlier(clusters ...apideployer.EarlierCluster) {
	i.run.keptEarlier = nil
	for _, earlier := range clusters {
		i.run.keptEarlier = append(i.run.keptEarlier, placement.Objects(earlier)+" on the earlier cluster "+placement.Describe(earlier.ClusterIdentity))
	}
}

// Retains reports whether a user has decided that what the item has deployed on an earlier cluster
// stays there.
func (i *Item) Retains(earlier apideployer.EarlierCluster) bool {
	return placement.Leaves(i.Annotations[v1alpha1.LeaveEarlierClusterAnnotation], earlier.ClusterIdentity)
}

// EarlierCluster returns the connection to an earlier cluster, by any Target of the namespace that
// leads there: the one that did so may lead elsewhere now, or be deleted. Without such a Target,
// the item waits for one until the time of the job is over.
func (i *Item) EarlierCluster(ctx context.Context, earlier apideployer.EarlierCluster) (Connection, error) {
	found, err := i.byAnyTarget(ctx, earlier.ClusterIdentity)
	switch {
	case err == nil && found != nil:
		return found, nil
	case err == nil, job.OutcomeOf(err) == job.Terminal, cluster.IsIncomplete(err):
		return nil, i.noEarlierTarget(earlier, err)
	}
	return nil, err
}

// byAnyTarget returns the connection to a recorded cluster by any Target of the namespace that
// leads there, nil if none does. A new Target triggers the item.
func (i *Item) byAnyTarget(ctx context.Context, wanted apideployer.ClusterIdentity) (Connection, error) {
	i.reconciler.memory.uses(i.key, need{targetKind, types.NamespacedName{Namespace: i.Namespace}})
	targets := &v1alpha1.TargetList{}
	if err := i.reconciler.client.List(ctx, targets, client.InNamespace(i.Namespace)); err != nil {
		return nil, fmt.Errorf("look for a Target that leads to the cluster %s: %w", placement.Describe(wanted), err)
	}
	chosen := slices.DeleteFunc(targets.Items, func(target v1alpha1.Target) bool {
		return !responsibility.Of(i.reconciler.selectors, &target)
	})
	return placement.Find(ctx, i.reconciler.options.Clusters, chosen, wanted, i.Requeue)
}

// bySubstitute returns the connection to the cluster of an item that is deleted and whose Target is
// missing or incomplete, by any other Target that leads there; nil if no Target does. The Target
// may only have got another name.
func (i *Item) bySubstitute(ctx context.Context) (Connection, error) {
	record, err := placement.Read(i.Status.ProviderStatus)
	if err != nil || record.Cluster == nil || i.DeletionTimestamp == nil {
		return nil, nil //nolint:nilerr // the deployer reports a record that cannot be read
	}
	found, err := i.byAnyTarget(ctx, *record.Cluster)
	if err != nil && (job.OutcomeOf(err) == job.Terminal || cluster.IsIncomplete(err)) {
		return nil, nil
	}
	return found, err
}

// noEarlierTarget returns the error that no Target leads to an earlier cluster.
func (i *Item) noEarlierTarget(earlier apideployer.EarlierCluster, cause error) error {
	missing := fmt.Sprintf("no Target of namespace %s leads to the earlier cluster %s, where %s is left of the item: create one that does, or leave it there with the annotation %s",
		i.Namespace, placement.Describe(earlier.ClusterIdentity), placement.Objects(earlier), i.leave(earlier))
	if cause != nil {
		missing += " (" + cause.Error() + ")"
	}
	if i.Expired() {
		return errNoEarlierTarget{job.AsTerminal(job.NewError(i.operation(), reasons.NoTargetFound, "the time is over and "+missing+", and start the job again", v1alpha1.ErrorTimeout))}
	}
	return errNoEarlierTarget{job.NewWaiting(i.operation(), reasons.NoTargetFound, missing)}
}

// errNoEarlierTarget marks the error that no Target leads to an earlier cluster. It says what was being
// done, and the annotation that skips it.
type errNoEarlierTarget struct{ error }

// Unwrap returns the error.
func (e errNoEarlierTarget) Unwrap() error { return e.error }

// ExplainEarlier adds to an error on an earlier cluster what was being done, and the annotation
// that skips it.
func (i *Item) ExplainEarlier(earlier apideployer.EarlierCluster, err error) error {
	if err == nil || errors.As(err, &errNoEarlierTarget{}) {
		return err
	}
	operation, reason := published.DeleteItem, reasons.DeleteWithUninstall
	var known *job.Error
	if errors.As(err, &known) {
		// The reason of a wait stays.
		operation, reason = known.Operation, known.Reason
	}
	return job.Wrap(err, operation, reason, fmt.Sprintf("remove %s from the earlier cluster %s (the annotation %s leaves it there)",
		placement.Objects(earlier), placement.Describe(earlier.ClusterIdentity), i.leave(earlier)))
}

// leave returns the annotation that leaves the objects on an earlier cluster, or on all clusters.
func (i *Item) leave(earlier apideployer.EarlierCluster) string {
	if i.DeletionTimestamp != nil {
		return v1alpha1.DeleteWithoutUninstallAnnotation + "=true on the DeployItem"
	}
	return v1alpha1.LeaveEarlierClusterAnnotation + "=" + earlier.Key() + " on the DeployItem, or on the root Installation before its next job"
}
