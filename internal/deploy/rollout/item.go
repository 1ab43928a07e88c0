// Package rollout deploys prepared objects to a cluster and removes them again: definitions of
// kinds first, then what has no namespace, then the rest; orphans are deleted when everything
// wanted exists; then it waits until all is ready. Where the objects come from is for the deployers
// that use it.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Source is what a deployer brings: from the configuration of an item to objects,
// and the form of its provider status.
type Source interface {
	// Name is how checkpoints name the deployer.
	Name() string
	// Owner says whose the objects of an item are.
	Owner(item *deployer.Item) Owner
	// DesiredState works out the desired state of an item. It is called once in a job, unless the process
	// restarts.
	DesiredState(ctx context.Context, item *deployer.Item) (DesiredState, error)
	// Groups are the steps in which an item is removed.
	Groups(item *deployer.Item) ([]deletion.Group, error)
	// Recorded reads what is recorded in the status of an item.
	Recorded(item *deployer.Item) (apply.Inventory, error)
	// Status is the provider status that records an inventory.
	Status(item *deployer.Item, inventory apply.Inventory) any
}

// Reconcile deploys the objects of an item to its cluster, or continues to.
//
// Work is remembered with the item between attempts, in this process. It is started again when the
// connection to the cluster changes: objects of one cluster must not be looked for on another.
func Reconcile(ctx context.Context, item *deployer.Item, source Source) (deployer.Result, error) {
	connection, err := Connect(ctx, item)
	if err != nil {
		return deployer.Result{}, err
	}
	if err := item.Place(ctx, connection, nil); err != nil {
		return deployer.Result{}, err
	}
	work, ok := item.Remembered().(*remembered[*Rollout])
	if !ok || work.connection != connection {
		begun, err := begin(ctx, item, connection, source)
		if err != nil {
			// Another item, or another client, may still create the definition.
			awaitKinds(ctx, item, connection, err)
			return deployer.Result{}, err
		}
		work = &remembered[*Rollout]{work: begun, connection: connection}
		item.Remember(work)
	}
	return work.advance(ctx, item, source)
}

func begin(ctx context.Context, item *deployer.Item, connection *cluster.Connection, source Source) (*Rollout, error) {
	if err := item.Checkpoint(ctx, source.Name()+": start reconcile"); err != nil {
		return nil, err
	}
	desiredState, recorded, err := wanted(ctx, item, source)
	if err != nil {
		return nil, err
	}
	return Begin(ctx, itemJob{item, source}, On(item, connection), desiredState, recorded)
}

// On returns the cluster behind a connection, on which the changes of an item are counted if anything
// counts them: that takes the versions of all that is read.
func On(item *deployer.Item, connection *cluster.Connection) target.Cluster {
	on := target.On(connection)
	if note := item.Noter(); note != nil {
		return target.Counted(on, note)
	}
	return on
}

// wanted returns what an item wants, and what is recorded of it.
func wanted(ctx context.Context, item *deployer.Item, source Source) (DesiredState, apply.Inventory, error) {
	desiredState, err := source.DesiredState(ctx, item)
	if err != nil {
		return desiredState, nil, err
	}
	desiredState.Name, desiredState.Owner = source.Name(), ownerOf(source, item)
	recorded, err := source.Recorded(item)
	return desiredState, recorded, err
}

// ownerOf says whose the objects of an item are in its present job.
func ownerOf(source Source, item *deployer.Item) Owner {
	owner := source.Owner(item)
	owner.LastRound = job.IsRemoval(item.Status.JobID)
	return owner
}

// Drift returns what another deployment of an item would change on its cluster.
func Drift(ctx context.Context, item *deployer.Item, source Source) ([]string, error) {
	connection, err := Connect(ctx, item)
	if err != nil {
		return nil, err
	}
	elsewhere, err := item.LeadsElsewhere(ctx, connection)
	if err != nil {
		return nil, err
	}
	if elsewhere {
		// All objects would be missing, which is not what has happened.
		return []string{"the cluster to which Target " + item.Spec.Target.Name + " leads"}, nil
	}
	desiredState, recorded, err := wanted(ctx, item, source)
	if err != nil {
		return nil, err
	}
	return Compare(ctx, target.On(connection), desiredState, recorded)
}

// Delete removes the objects that an item has deployed, or continues to.
func Delete(ctx context.Context, item *deployer.Item, source Source) (deployer.Result, error) {
	recorded, err := source.Recorded(item)
	if err != nil {
		return deployer.Done(), err
	}
	if len(recorded) > 0 {
		// The Target may have changed since the last job.
		connection, err := Connect(ctx, item)
		if err != nil {
			return deployer.Result{}, err
		}
		if err := item.Place(ctx, connection, nil); err != nil {
			return deployer.Result{}, err
		}
		if recorded, err = source.Recorded(item); err != nil {
			return deployer.Done(), err
		}
	}
	groups, err := source.Groups(item)
	if len(recorded) == 0 && (err != nil || !slices.ContainsFunc(groups, func(group deletion.Group) bool { return group.All })) {
		// Nothing was deployed. A configuration that is wrong must not keep the item.
		return removeEarlierOnly(ctx, item, source)
	}
	if err != nil {
		return deployer.Result{}, err
	}
	connection, err := Connect(ctx, item)
	if err != nil {
		return deployer.Result{}, err
	}
	work, ok := item.Remembered().(*remembered[*Removal])
	if !ok || work.connection != connection {
		begun, err := BeginRemoval(ctx, itemJob{item, source}, On(item, connection), Teardown{Name: source.Name(), Owner: ownerOf(source, item), Groups: groups}, recorded)
		if err != nil {
			return deployer.Result{}, err
		}
		work = &remembered[*Removal]{work: begun, connection: connection}
		item.Remember(work)
	}
	return work.advance(ctx, item, source)
}

// removeEarlierOnly removes what is left of an item on earlier clusters, when there is nothing
// else.
func removeEarlierOnly(ctx context.Context, item *deployer.Item, source Source) (deployer.Result, error) {
	switch memory := item.Remembered().(type) {
	case *EarlierRemovals:
		return RemoveEarlier(ctx, item, source, memory)
	case *remembered[*Removal]:
		return RemoveEarlier(ctx, item, source, &memory.earlierRemovals)
	}
	memory := &EarlierRemovals{}
	item.Remember(memory)
	return RemoveEarlier(ctx, item, source, memory)
}

// work is a Rollout or a Removal.
type work interface {
	io.Closer
	SetJob(job Job)
	Continue(ctx context.Context) ([]string, error)
	Inventory() apply.Inventory
}

// remembered is work together with the connection that it uses. Another one, with
// other credentials, begins the work again.
type remembered[W work] struct {
	work       W
	connection *cluster.Connection
	// earlierRemovals are the removal from earlier clusters, which comes after the work.
	earlierRemovals EarlierRemovals
}

// Close implements io.Closer.
func (r *remembered[W]) Close() error { return errors.Join(r.work.Close(), r.earlierRemovals.Close()) }

// advance continues the work and keeps what it has found out, also after a failure: what is known
// now must not be found out again.
func (r *remembered[W]) advance(ctx context.Context, item *deployer.Item, source Source) (deployer.Result, error) {
	r.work.SetJob(itemJob{item, source})
	waiting, err := r.work.Continue(ctx)
	if statusErr := item.SetProviderStatus(source.Status(item, r.work.Inventory())); err == nil {
		err = statusErr
	}
	if err != nil || len(waiting) > 0 {
		return deployer.WaitFor(waiting...), err
	}
	return RemoveEarlier(ctx, item, source, &r.earlierRemovals)
}

// ForItem is the job of an item for a roll-out that a deployer keeps itself.
func ForItem(item *deployer.Item, source Source) Job { return itemJob{item, source} }

// AwaitKinds watches for new kinds if an error says that one is not known.
func AwaitKinds(ctx context.Context, item *deployer.Item, connection *cluster.Connection, err error) {
	awaitKinds(ctx, item, connection, err)
}

// itemJob is the job of an item whose deployer brings its own form of status.
type itemJob struct {
	*deployer.Item
	source Source
}

// Record implements Job.
func (j itemJob) Record(ctx context.Context, inventory apply.Inventory) error {
	return j.Item.Record(ctx, j.source.Status(j.Item, inventory))
}

// Cluster implements Job.
func (j itemJob) Cluster(ctx context.Context, targetName string) (target.Cluster, error) {
	connection, err := whole(j.ClusterOf(ctx, targetName))
	if err != nil {
		return nil, err
	}
	return target.Elsewhere(On(j.Item, connection), j.NameOfTarget(ctx, targetName)), nil
}

// Foreign implements Job.
func (j itemJob) Foreign(objects []Foreign) {
	messages := make([]string, len(objects))
	for i, found := range objects {
		messages[i] = fmt.Sprintf("%s on Target %s belongs to DeployItem %s and stays as it is, because of policy fallback: remove it from one of the two items, or use policy manage to take it over", found.Object, j.Spec.Target.Name, found.Owner)
	}
	j.Warn(string(reasons.ObjectOfAnotherItem), messages...)
}

// Export implements Job.
func (j itemJob) Export(ctx context.Context, values map[string]any) error {
	if values == nil {
		return j.RemoveExport(ctx)
	}
	return j.Item.Export(ctx, values)
}

// awaitKinds watches for new kinds if an error says that one is not known. The error is tried again
// later in any case: kinds also come in other ways.
func awaitKinds(ctx context.Context, item *deployer.Item, connection *cluster.Connection, err error) {
	if !apply.IsUnknownKind(err) {
		return
	}
	if _, ok := item.Remembered().(*kindsToCome); ok {
		return
	}
	cluster := target.On(connection)
	definitions, err := cluster.Mapping(ctx, schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: apply.CRDKind})
	if err == nil {
		item.Remember(&kindsToCome{cluster.WatchAll(definitions, item.Requeue)})
	}
}

// kindsToCome triggers an item when the cluster serves a new kind.
type kindsToCome struct{ watch io.Closer }

// Close implements io.Closer.
func (k *kindsToCome) Close() error { return k.watch.Close() }
