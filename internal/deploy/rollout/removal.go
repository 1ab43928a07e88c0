package rollout

import (
	"context"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/target"
)

// Removal is the removal of all that an item has deployed. It is kept between
// attempts, as a roll-out is.
type Removal struct {
	job       Job
	deletion  *deletion.Deletion
	inventory apply.Inventory
}

// Teardown is how an item is deleted.
type Teardown struct {
	// Name is how checkpoints name the deployer.
	Name string
	// Owner says whose the objects are.
	Owner Owner
	// Groups are the steps; without any, the default ones apply.
	Groups []deletion.Group
}

// BeginRemoval begins a removal.
func BeginRemoval(ctx context.Context, job Job, cluster target.Cluster, desiredState Teardown, recorded apply.Inventory) (*Removal, error) {
	if err := job.Checkpoint(ctx, desiredState.Name+": start delete"); err != nil {
		return nil, err
	}
	r := &Removal{job: job, inventory: recorded}
	r.deletion = deletion.New(deletion.Plan{
		Cluster: cluster, Inventory: recorded, Owner: desiredState.Owner.deletion(), Groups: desiredState.Groups, ClusterOf: job.Cluster,
		Family: family{&r.job}, Terminating: true, Wake: job.Requeue,
	})
	return r, nil
}

// SetJob says under which job the work continues.
func (r *Removal) SetJob(job Job) { r.job = job }

// Continue proceeds as far as possible and returns what it waits for.
//
// Deleted objects are removed from the inventory also when an error follows, so that each retry
// deletes less.
func (r *Removal) Continue(ctx context.Context) ([]string, error) {
	if err := r.job.Checkpoint(ctx, "deployer: delete resources"); err != nil {
		return nil, err
	}
	waiting, err := r.deletion.Continue(ctx)
	r.inventory = r.inventory.Without(r.deletion.Gone()...)
	return waiting, err
}

// Inventory is what is not known to be deleted.
func (r *Removal) Inventory() apply.Inventory { return r.inventory }

// Close ends all watches.
func (r *Removal) Close() error {
	r.deletion.Close()
	return nil
}
