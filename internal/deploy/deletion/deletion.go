// Package deletion removes deployed objects in the order that keeps them working until the end, and
// waits for their end without polling.
package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Plan is what is to be removed.
type Plan struct {
	// Cluster is where the objects are.
	Cluster target.Cluster
	// Inventory are the recorded objects.
	Inventory apply.Inventory
	// Owner says whose objects are removed.
	Owner Owner
	// Groups are the steps; without any, the default ones apply.
	Groups []Group
	// ClusterOf returns the cluster of another Target.
	ClusterOf func(ctx context.Context, targetName string) (target.Cluster, error)
	// Family are the items that may want the objects; nil if none is consulted.
	Family Family
	// Wanted are the objects of the item itself that stay; nil without any.
	Wanted func() []ownership.Content
	// Terminating says that the item itself is being deleted, so that it cannot keep anything.
	Terminating bool
	// Wake is called when something has changed.
	Wake func()
}

// Owner says whose objects are removed.
type Owner struct {
	// Label is the label that says whose an object is.
	Label string
	// Name is its value.
	Name string
	// FieldManager is the name under which fields are owned.
	FieldManager string
	// Release is the release whose objects are those of the item as well.
	Release ownership.HelmRelease
	// SparesOthers says that a group which deletes all leaves objects with the labels of another item
	// or release: in a removal round, everything that is wanted is deployed already, and would not be
	// deployed again.
	SparesOthers bool
}

// spares reports whether an object that a group which deletes all has found is left alone.
func (o Owner) spares(live *unstructured.Unstructured) bool {
	of := ownership.ReleaseOf(live)
	return o.SparesOthers && (len(ownership.Others(live, o.Name)) > 0 || of != (ownership.HelmRelease{}) && of != o.Release)
}

// Deletion removes objects.
type Deletion struct {
	plan Plan
	// steps are made one after the other.
	steps []*step
	begun bool
	gone  []corev1.ObjectReference
	// claims are what others want, as it was when the deletion continued last.
	claims *ownership.Claims
}

// step is a group with its objects.
type step struct {
	Group
	cluster target.Cluster
	kinds   []schema.GroupVersionKind
	objects []*deletionObject
	// listed says that the objects of a group that deletes all are known.
	listed bool
}

// New returns the deletion of what a plan says.
func New(plan Plan) *Deletion {
	if len(plan.Groups) == 0 {
		plan.Groups = DefaultGroups()
	}
	return &Deletion{plan: plan}
}

// Awaiting returns a deletion that deletes nothing itself: it waits for the end of
// what others delete.
func Awaiting(cluster target.Cluster, wake func()) *Deletion {
	return &Deletion{plan: Plan{Cluster: cluster, Wake: wake}, begun: true, steps: []*step{{cluster: cluster}}}
}

// Await adds an object that another client is deleting.
func (d *Deletion) Await(mapping *meta.RESTMapping, left *unstructured.Unstructured) {
	ref := corev1.ObjectReference{APIVersion: left.GetAPIVersion(), Kind: left.GetKind(), Namespace: left.GetNamespace(), Name: left.GetName()}
	d.steps[0].objects = append(d.steps[0].objects, &deletionObject{entry: deployer.ManagedResourceStatus{Resource: ref}, cluster: d.plan.Cluster, mapping: mapping, left: left, prepared: true})
}

// Gone returns the objects that need not be recorded any more.
func (d *Deletion) Gone() []corev1.ObjectReference { return d.gone }

// Removes reports whether any recorded object has to be deleted.
func (d *Deletion) Removes() bool { return len(d.plan.Inventory) > 0 }

// Left returns how many objects are not known to be deleted.
func (d *Deletion) Left() int {
	left := 0
	for _, step := range d.steps {
		for _, object := range step.objects {
			if !object.gone {
				left++
			}
		}
	}
	return left
}

// Continue proceeds as far as possible and returns what it waits for.
//
// It is decided of all objects what becomes of them, and they are prepared, before the first step
// deletes anything, so that a failure deletes nothing.
func (d *Deletion) Continue(ctx context.Context) ([]string, error) {
	if err := d.begin(ctx); err != nil {
		return nil, err
	}
	if err := d.judge(ctx); err != nil {
		return nil, err
	}
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	for _, step := range d.steps {
		if err := d.list(ctx, step); err != nil {
			return nil, err
		}
		waiting, err := d.remove(ctx, step)
		if err != nil || len(waiting) > 0 {
			return waiting, err
		}
	}
	return nil, nil
}

// begin finds clusters and kinds and distributes the objects. Nothing is deleted
// before all of that is known.
func (d *Deletion) begin(ctx context.Context) error {
	if d.begun {
		return nil
	}
	steps, kinds := make([]*step, 0, len(d.plan.Groups)), make([][]schema.GroupKind, 0, len(d.plan.Groups))
	for _, group := range d.plan.Groups {
		step := &step{Group: group, cluster: d.plan.Cluster}
		var groupKinds []schema.GroupKind
		if group.TargetName != "" {
			other, err := d.plan.ClusterOf(ctx, group.TargetName)
			if err != nil {
				return err
			}
			step.cluster = other
		}
		for _, wanted := range group.Types {
			kind, err := kindOf(ctx, step.cluster, wanted)
			if err != nil {
				return fmt.Errorf("find kind %s%s: %w", wanted.Kind, target.Place(step.cluster), err)
			}
			step.kinds = append(step.kinds, kind)
			groupKinds = append(groupKinds, kind.GroupKind())
		}
		steps, kinds = append(steps, step), append(kinds, groupKinds)
	}
	taken, left := distribute(d.plan.Inventory, d.plan.Groups, kinds)
	for _, entry := range left {
		d.gone = append(d.gone, entry.Resource)
	}
	for i, step := range steps {
		for _, entry := range taken[i] {
			step.objects = append(step.objects, &deletionObject{entry: entry, cluster: d.plan.Cluster, force: step.Force})
		}
	}
	d.steps, d.begun = steps, true
	return nil
}

// kindOf finds the kind that a configuration means: it may be spelled as the kind or
// as a name of its resource. A kind that the cluster does not know has no objects.
func kindOf(ctx context.Context, cluster target.Cluster, wanted deployer.ResourceType) (schema.GroupVersionKind, error) {
	version, err := schema.ParseGroupVersion(wanted.APIVersion)
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("read apiVersion of a deletion group: %w", err)
	}
	kind := version.WithKind(wanted.Kind)
	if _, err := cluster.Mapping(ctx, kind); err == nil || !meta.IsNoMatchError(err) {
		return kind, err
	}
	return cluster.KindOf(ctx, version, wanted.Kind)
}

// prepare does to all objects what is to be done before their deletion.
func (d *Deletion) prepare(ctx context.Context) error {
	var todo []*deletionObject
	for _, step := range d.steps {
		for _, object := range step.objects {
			if !object.prepared && !object.gone && !object.kept {
				todo = append(todo, object)
			}
		}
	}
	errs := make([]error, len(todo))
	parallelize.Do(len(todo), func(i int) {
		if errs[i] = todo[i].prepare(ctx, d); errs[i] != nil {
			errs[i] = fmt.Errorf("prepare the deletion of %s: %w", todo[i].describe(), errs[i])
		}
	})
	return errors.Join(errs...)
}

// remove removes the objects of a step.
func (d *Deletion) remove(ctx context.Context, step *step) ([]string, error) {
	errs := make([]error, len(step.objects))
	parallelize.Do(len(step.objects), func(i int) {
		object := step.objects[i]
		if object.done || object.kept {
			return
		}
		if err := object.advance(ctx, d); err != nil {
			errs[i] = job.Wrap(err, published.DeleteItem, reasons.DeleteWithUninstall, "delete "+object.describe())
		}
	})
	for _, object := range step.objects {
		d.note(object)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var waiting []string
	for _, object := range step.objects {
		if !object.gone && !object.kept {
			waiting = append(waiting, "the end of "+object.describe()+keeper(object.left))
		}
	}
	return waiting, nil
}

// note records that an object no longer exists.
func (d *Deletion) note(object *deletionObject) {
	if !object.gone || object.done {
		return
	}
	object.done = true
	if !object.foreign {
		d.gone = append(d.gone, object.entry.Resource)
	}
}

// list finds all objects of a group that deletes all. It is done once, when the turn
// of the group has come.
func (d *Deletion) list(ctx context.Context, step *step) error {
	if !step.All || step.listed {
		return nil
	}
	var found []*deletionObject
	for i, wanted := range step.Types {
		objects, err := listOf(ctx, step, step.kinds[i], wanted)
		if err != nil {
			return fmt.Errorf("list %s%s to delete all: %w", wanted.Kind, target.Place(step.cluster), err)
		}
		objects = slices.DeleteFunc(objects, func(object *deletionObject) bool { return d.plan.Owner.spares(object.listed) })
		found = append(found, objects...)
	}
	step.objects, step.listed = append(step.objects, found...), true
	return nil
}

func listOf(ctx context.Context, step *step, kind schema.GroupVersionKind, wanted deployer.ResourceType) ([]*deletionObject, error) {
	mapping, err := step.cluster.Mapping(ctx, kind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	namespaces := wanted.Namespaces
	if len(namespaces) == 0 || mapping.Scope.Name() == meta.RESTScopeNameRoot {
		namespaces = []string{""}
		wanted.Namespaces = nil
	}
	var found []*deletionObject
	for _, namespace := range namespaces {
		objects, err := step.cluster.ListMetadata(ctx, mapping, namespace)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if !chosen(wanted, object.GetNamespace(), object.GetName()) || step.spares(kind, object.GetNamespace(), object.GetName()) {
				continue
			}
			ref := corev1.ObjectReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()}
			found = append(found, &deletionObject{entry: deployer.ManagedResourceStatus{Resource: ref}, cluster: step.cluster, force: step.Force, foreign: true, listed: object, prepared: true})
		}
	}
	return found, nil
}

// describe names the object, and its cluster where that is not the item's.
func (o *deletionObject) describe() string {
	ref := o.entry.Resource
	return apply.Describe(ref.Kind, ref.Namespace, ref.Name) + target.Place(o.cluster)
}

// Close ends all watches.
func (d *Deletion) Close() {
	for _, step := range d.steps {
		for _, object := range step.objects {
			object.close()
		}
	}
}
