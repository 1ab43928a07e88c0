package preview

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/model/placement"
)

// relation says whether two items deploy to the same cluster.
func (c *comparison) relation(ctx context.Context, a, b *task) placement.Relation {
	if a.object == nil || b.object == nil || a.object.Spec.Target == nil || b.object.Spec.Target == nil {
		return placement.OtherCluster
	}
	if a.object.Spec.Target.Name == b.object.Spec.Target.Name {
		return placement.SameCluster
	}
	return c.site(ctx, a).Compare(c.site(ctx, b))
}

// site is where the item of a task deploys. A cluster to which the preview has a connection is
// asked for its ID if the item has not recorded it.
func (c *comparison) site(ctx context.Context, t *task) placement.Site {
	if t.site != nil {
		return *t.site
	}
	site := placement.Site{Target: t.object.Spec.Target.Name}
	if record, err := placement.Read(t.object.Status.ProviderStatus); err == nil {
		site.Record = record
	}
	if t.target != nil {
		site.Spec = &t.target.Spec
		site.Address = c.addressOf(ctx, t.target)
	}
	if recorded := site.Record.Cluster; t.connection != nil && (recorded == nil || recorded.ID == "" || recorded.Address != t.connection.Address()) {
		// Without the ID, the address is all that is known.
		id, err := t.connection.ID(ctx)
		if err == nil {
			site.Address = t.connection.Address()
			site.Record.Cluster = &apideployer.ClusterIdentity{Address: site.Address, ID: id, Target: site.Target}
		}
	}
	t.site = &site
	return site
}

// addressOf returns the address to which a Target leads, empty if that is not known.
func (c *comparison) addressOf(ctx context.Context, target *v1alpha1.Target) string {
	if c.Clusters == nil || target.Spec.Type != v1alpha1.KubernetesClusterTargetType {
		return ""
	}
	address, err := c.Clusters.AddressOf(ctx, target)
	if err != nil {
		return ""
	}
	return address
}

// recordedBy returns the connection to a recorded cluster by any Target of a namespace that leads
// there, nil if none does.
func (c *comparison) recordedBy(ctx context.Context, namespace string, recorded apideployer.ClusterIdentity) (*cluster.Connection, error) {
	targets := &v1alpha1.TargetList{}
	if err := c.Reader.List(ctx, targets, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("look for a Target that leads to the cluster %s: %w", placement.Describe(recorded), err)
	}
	return placement.Find(ctx, c.Clusters, targets.Items, recorded, func() {})
}

// substitute returns the connection for the removal of an item whose Target does not exist, by
// another Target that leads to the recorded cluster; nil if no Target does.
func (o *outlook) substitute(ctx context.Context, missing error) (*cluster.Connection, error) {
	record, err := placement.Read(o.task.object.Status.ProviderStatus)
	if !o.task.removal || !apierrors.IsNotFound(missing) || err != nil || record.Cluster == nil {
		return nil, nil //nolint:nilerr // the missing Target is reported
	}
	return o.recordedBy(ctx, o.task.object.Namespace, *record.Cluster)
}

// warnUnmoved warns of an item that is deployed only after a change, and therefore stays on a
// cluster to which its Target does not lead any more.
func (c *comparison) warnUnmoved(ctx context.Context, t *task) {
	record, err := placement.Read(t.object.Status.ProviderStatus)
	if err != nil || record.Cluster == nil || t.target == nil || t.object.Spec.Target == nil {
		return
	}
	if address := c.addressOf(ctx, t.target); address == "" || address == record.Cluster.Address {
		return
	}
	on, err := c.connector().Connect(ctx, t.target)
	if err != nil {
		return
	}
	_, moved, err := placement.Settle(ctx, record, on, t.object.Spec.Target.Name)
	if err != nil || !moved {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.warnings = append(c.warnings, fmt.Sprintf("%s: Target %s leads to another cluster: the item stays on %s until its specification changes, because of updateOnChangeOnly",
		t.item.Path, t.item.Target, placement.Describe(*record.Cluster)))
}
