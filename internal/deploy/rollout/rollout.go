package rollout

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/loss"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Job is the job of an item, as far as a roll-out has to do with it.
type Job interface {
	// Checkpoint names the stage of the work; its error ends the attempt.
	Checkpoint(ctx context.Context, name string) error
	// Expired reports whether the time of the job is over.
	Expired() bool
	// Requeue triggers the next attempt. It may be called from any goroutine.
	Requeue()
	// Record stores what is about to be deployed.
	Record(ctx context.Context, inventory apply.Inventory) error
	// Cluster returns the cluster of another Target of the item's namespace.
	Cluster(ctx context.Context, targetName string) (target.Cluster, error)
	// Changing says who else is still to change an object in the same job.
	Changing(ctx context.Context, object corev1.ObjectReference, live *unstructured.Unstructured) (who string, err error)
	// Foreign warns of objects that belong to other items and stay as they are.
	Foreign(objects []Foreign)
	// Export stores values; nil removes those of earlier jobs.
	Export(ctx context.Context, values map[string]any) error
	// Family are the other items that may want what is not wanted here any more.
	deletion.Family
	// Neighbors are the other items that may be the owners of what is wanted here.
	apply.Neighbors
	// Keeps says what is not wanted any more and is kept until the end of the job.
	Keeps(objects ...string)
	// KeepsInUse says what is kept for longer because something is in it.
	KeepsInUse(reasons ...string)
}

// Foreign is an object that belongs to another item.
type Foreign struct{ Object, Owner string }

// DesiredState is the desired state of an item on its cluster.
type DesiredState struct {
	// Name is how checkpoints name the deployer.
	Name string
	// Owner says whose the objects are.
	Owner Owner
	// Objects are the objects in any order.
	Objects []apply.Entry
	// Strategy says how objects that exist are changed.
	Strategy deployer.UpdateStrategy
	// OrphanGroups are the steps in which objects are removed that are no longer wanted.
	OrphanGroups []deletion.Group
	// Readiness chooses the rules of the default readiness check.
	Readiness deployer.ReadinessMode
	// SkipReadiness leaves the default readiness check out.
	SkipReadiness bool
	// Checks are checks of chosen objects, one after the other.
	Checks []readiness.Custom
	// Exports are the values to export; nil without exports, which is not the same as no value.
	Exports []export.Value
	// Given are values that are exported as they are; of two with one key, the one that was read
	// counts.
	Given map[string]any
	// Expected are objects that the item wants to exist, although they do not belong to it and are not
	// among its objects.
	Expected []corev1.ObjectReference
	// LookOnly is set if another client writes the objects: they are only waited for.
	LookOnly bool
	// Marked, with LookOnly, is what is created in the place of an object that another client has
	// deleted while it was awaited. Unchecked are those that are read only for that, JustWritten says
	// that all were written in this job.
	Marked      func(object *unstructured.Unstructured) *unstructured.Unstructured
	Unchecked   []apply.Entry
	JustWritten bool
}

// Owner is how objects are marked and how fields are owned.
type Owner struct {
	// Label is the label with the name of the item.
	Label string
	// Item is the name of the item.
	Item string
	// Labels are further labels of each object.
	Labels map[string]string
	// FieldManager is the name under which fields are owned.
	FieldManager string
	// Release is the release that the item had before it deployed without one.
	Release ownership.HelmRelease
	// LastRound says that everything that others want is deployed already.
	LastRound bool
}

// deletion is how a deletion recognises the objects.
func (o Owner) deletion() deletion.Owner {
	return deletion.Owner{Label: o.Label, Name: o.Item, FieldManager: o.FieldManager, Release: o.Release, SparesOthers: o.LastRound}
}

// labels are all labels of an object.
func (o Owner) labels() map[string]string {
	labels := map[string]string{}
	if o.Label != "" {
		labels[o.Label] = o.Item
	}
	for key, value := range o.Labels {
		labels[key] = value
	}
	return labels
}

// applier applies the objects.
func (w DesiredState) applier(cluster target.Cluster) *apply.Applier {
	return &apply.Applier{
		Target: cluster, Strategy: w.Strategy,
		Labels: w.Owner.labels(), OwnerLabel: w.Owner.Label, FieldManager: w.Owner.FieldManager, LookOnly: w.LookOnly, Marked: w.Marked,
	}
}

// Rollout is the work on one item. It is kept between attempts, so that each continues where the
// last one stopped.
//
// It is in memory only. After a restart it starts again with what is recorded: objects that are as
// they should be are read and not changed, and checks start again.
type Rollout struct {
	job     Job
	desired DesiredState
	cluster target.Cluster
	applier *apply.Applier

	objects []apply.Object
	// applied says which of the objects are on the cluster as they should be.
	applied   []bool
	inventory apply.Inventory
	// stored are the objects to check, as the cluster returned them.
	stored []result
	// foreign are the objects that belong to other items.
	foreign []Foreign

	// ending are objects that are being deleted although they are wanted.
	ending      *deletion.Deletion
	definitions wait
	orphans     *deletion.Deletion
	cleaned     bool
	answers     wait
	readiness   wait
	causes      *readiness.Causes
	// losses are objects that another client has deleted while they were awaited.
	losses  *loss.Losses
	custom  customChecks
	exports exports
	patched bool
}

// result is an object together with what became of it.
type result struct {
	apply.Object
	// stored is what is kept of the answer, see target.State.
	stored *unstructured.Unstructured
	// ready and established are what the rules have said of the whole answer.
	ready, established readiness.Finding
}

// resultOf judges what a cluster has answered, and keeps what is needed of it.
func (r *Rollout) resultOf(object apply.Object, stored *unstructured.Unstructured) result {
	object.Live = nil
	return result{
		Object: object, stored: target.State(stored),
		ready: readiness.RuleOf(r.desired.Readiness)(stored), established: readiness.Established(stored),
	}
}

// Begin finds out what is to be done and records it before anything is written to
// the target.
//
// The record may name objects that are never made, if the process ends in between; it never
// misses one that is.
func Begin(ctx context.Context, job Job, cluster target.Cluster, desiredState DesiredState, recorded apply.Inventory) (*Rollout, error) {
	for _, name := range []string{"deployer: process managed resource manifests", "deployer: process manifests"} {
		if err := job.Checkpoint(ctx, name); err != nil {
			return nil, err
		}
	}
	objects, err := apply.Prepare(ctx, cluster, desiredState.Objects, recorded)
	if err != nil {
		return nil, err
	}
	r := &Rollout{
		job: job, desired: desiredState, cluster: cluster,
		applier:   desiredState.applier(cluster),
		objects:   objects,
		applied:   make([]bool, len(objects)),
		inventory: recorded.With(objects),
		ending:    deletion.Awaiting(cluster, job.Requeue),
		causes:    readiness.NewCauses(job.Requeue),
		losses:    loss.New(job.Requeue),
	}
	r.applier.Neighbors = family{&r.job}
	if len(r.inventory) == 0 {
		return r, nil
	}
	return r, job.Record(ctx, r.inventory)
}

// Inventory is what is deployed or may be.
func (r *Rollout) Inventory() apply.Inventory { return r.inventory }

// SetJob says under which job the work continues: each attempt has its own view of the item.
func (r *Rollout) SetJob(job Job) { r.job = job }

// Continue proceeds as far as possible and returns what it waits for.
//
// The next step follows from what is done and not from what was done last, so that an attempt
// continues where the one before ended, also with an error.
func (r *Rollout) Continue(ctx context.Context) ([]string, error) {
	for {
		step := next(r.progress())
		if step == finished {
			return nil, nil
		}
		if waiting, err := r.take(ctx, step); err != nil || len(waiting) > 0 {
			return waiting, err
		}
	}
}

// progress is how far the work has come.
func (r *Rollout) progress() progress {
	p := progress{
		pending: map[apply.Stage]int{}, ending: r.ending.Left(),
		served: r.definitions.over, cleaned: r.cleaned, ready: r.answers.over && r.readiness.over,
		checks: len(r.desired.Checks) - r.custom.over, exportsRead: r.exports.read, exportsStored: r.exports.stored, patched: r.patched,
	}
	for i, object := range r.objects {
		if !r.applied[i] {
			p.pending[object.Stage()]++
		}
	}
	return p
}

// take takes a step.
func (r *Rollout) take(ctx context.Context, step step) ([]string, error) {
	switch step {
	case awaitEnd:
		return r.ending.Continue(ctx)
	case awaitDefinitions:
		return r.awaitDefinitions(ctx)
	case removeOrphans:
		return r.removeOrphans(ctx)
	case awaitReadiness:
		return r.awaitReadiness(ctx)
	case awaitCustom:
		return r.awaitCustom(ctx)
	case readExports:
		return r.readExports(ctx)
	case storeExports:
		return nil, r.storeExports(ctx)
	case patchAfterwards:
		return nil, r.patchAfterwards(ctx)
	}
	return nil, r.applyStage(ctx, stages[step])
}

// removalOf returns the deletion of orphans. Without orphans no group has anything to
// do, not even one that deletes all: the item is not being deleted.
func (r *Rollout) removalOf(orphans apply.Inventory) *deletion.Deletion {
	if len(orphans) == 0 {
		return deletion.Awaiting(r.cluster, r.job.Requeue)
	}
	return deletion.New(deletion.Plan{
		Cluster: r.cluster, Inventory: orphans, Owner: r.desired.Owner.deletion(), Groups: r.desired.OrphanGroups,
		ClusterOf: r.job.Cluster, Family: family{&r.job}, Wanted: r.wanted, Wake: r.job.Requeue,
	})
}

// wanted are the objects that are not removed with the item's Namespaces and definitions.
func (r *Rollout) wanted() []ownership.Content {
	var wanted []ownership.Content
	for _, object := range r.objects {
		wanted = append(wanted, ownership.Content{Object: object.Reference()})
	}
	return wanted
}

// removeOrphans removes what was deployed before and is no longer listed. Objects that others take
// over are removed from the inventory; those that they may still want stay there and are judged
// again in the removal round, or in the next job.
func (r *Rollout) removeOrphans(ctx context.Context) ([]string, error) {
	if r.orphans == nil {
		orphans := r.inventory.Orphans(r.objects)
		if len(orphans) > 0 {
			if err := r.job.Checkpoint(ctx, "deployer: cleanup orphaned"); err != nil {
				return nil, err
			}
		}
		r.orphans = r.removalOf(orphans)
	}
	if r.orphans.Removes() {
		if err := r.job.Checkpoint(ctx, "deployer: delete resources"); err != nil {
			return nil, err
		}
	}
	waiting, err := r.orphans.Continue(ctx)
	r.inventory = r.inventory.Without(r.orphans.Gone()...)
	if err != nil {
		return nil, job.Wrap(err, published.ApplyObjects, reasons.CleanupOrphanedResourcesInGroups, "remove what is no longer listed")
	}
	if r.cleaned = len(waiting) == 0; r.cleaned {
		r.job.Keeps(names(r.orphans.Kept())...)
		r.job.KeepsInUse(r.orphans.InUse()...)
	}
	return waiting, nil
}

// Close ends all watches.
func (r *Rollout) Close() error {
	for _, wait := range []wait{r.definitions, r.answers, r.readiness} {
		if wait.check != nil {
			wait.check.Close()
		}
	}
	r.custom.close()
	r.losses.Close()
	r.causes.Close()
	r.exports.close()
	r.ending.Close()
	if r.orphans != nil {
		r.orphans.Close()
	}
	return nil
}
