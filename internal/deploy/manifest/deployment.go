package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/parallel"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/job"
)

// deployment is the work on one item. It is kept between attempts, so that each
// goes on where the last one stopped.
type deployment struct {
	target  *deployer.Connection
	applier *apply.Applier
	objects []apply.Object
	// applied says which of the objects are on the cluster as they should be.
	applied   []bool
	inventory apply.Inventory
	// stored are the objects to check, as the cluster returned them.
	stored []result
	checks bool

	stage apply.Stage
	// ending are objects that somebody is deleting although they are wanted.
	ending      *deletion.Deletion
	definitions *readiness.Check
	orphans     *deletion.Deletion
	readiness   *readiness.Check
}

// result is an object together with what became of it.
type result struct {
	apply.Object
	stored *unstructured.Unstructured
}

// advance goes as far as possible and returns what it waits for.
func (d *deployment) advance(ctx context.Context, item *deployer.Item) ([]string, error) {
	for ; d.stage <= apply.StageNamespaced; d.stage++ {
		if d.stage == apply.StageDefinitions+1 {
			if waiting, err := d.awaitDefinitions(ctx, item); err != nil || len(waiting) > 0 {
				return waiting, err
			}
		}
		if waiting, err := d.applyStage(ctx, item); err != nil || len(waiting) > 0 {
			return waiting, err
		}
	}
	if waiting, err := d.removeOrphans(ctx, item); err != nil || len(waiting) > 0 {
		return waiting, err
	}
	return d.awaitReadiness(ctx, item)
}

// applyStage applies the objects of a stage. The next one needs all of them.
func (d *deployment) applyStage(ctx context.Context, item *deployer.Item) ([]string, error) {
	if waiting, err := d.ending.Continue(ctx); err != nil || len(waiting) > 0 {
		return waiting, err
	}
	todo := d.todo()
	if len(todo) == 0 {
		return nil, nil
	}
	if err := item.Checkpoint(ctx, "deployer: apply manifests"); err != nil {
		return nil, err
	}
	outcomes, errs := make([]apply.Outcome, len(todo)), make([]error, len(todo))
	parallel.Do(len(todo), func(i int) { outcomes[i], errs[i] = d.applier.Apply(ctx, d.objects[todo[i]]) })
	var failures several
	for i, at := range todo {
		if errs[i] == nil {
			d.applied[at] = true
			d.take(d.objects[at], outcomes[i])
			continue
		}
		// It may exist nevertheless: the answer can have been lost.
		d.objects[at].Known = true
		var terminating *apply.Terminating
		if errors.As(errs[i], &terminating) {
			d.ending.Await(d.objects[at].Mapping, terminating.Left)
			continue
		}
		failures = append(failures, errs[i])
	}
	if len(failures) > 0 {
		return nil, job.Wrap(failures, "ApplyObjects", "ApplyNewObject", "")
	}
	waiting, err := d.ending.Continue(ctx)
	if err == nil && len(waiting) == 0 && len(d.todo()) > 0 {
		return d.applyStage(ctx, item)
	}
	return waiting, err
}

// todo returns the objects of the stage that are not applied yet.
func (d *deployment) todo() []int {
	var todo []int
	for i, object := range d.objects {
		if object.Stage() == d.stage && !d.applied[i] {
			todo = append(todo, i)
		}
	}
	return todo
}

// take notes what became of an object.
func (d *deployment) take(object apply.Object, outcome apply.Outcome) {
	switch {
	case outcome.Foreign:
		d.inventory = d.inventory.Without(object.Reference())
	case outcome.Stored != nil:
		d.inventory = d.inventory.WithUID(object.Reference(), outcome.Stored.GetUID())
		d.stored = append(d.stored, result{Object: object, stored: outcome.Stored})
	}
}

// awaitDefinitions waits until the kinds that the item defines and uses itself are
// served.
func (d *deployment) awaitDefinitions(ctx context.Context, item *deployer.Item) ([]string, error) {
	if d.definitions == nil {
		d.definitions = readiness.NewCheck(d.target, readiness.Established, item.Wake)
		for _, result := range d.stored {
			if d.uses(result.stored) {
				d.definitions.Add(result.Mapping, result.stored)
			}
		}
	}
	unready, err := d.definitions.Look(ctx)
	return names(unready), err
}

// uses reports whether one of the objects is of the kind that a definition defines.
func (d *deployment) uses(definition *unstructured.Unstructured) bool {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	return slices.ContainsFunc(d.objects, func(object apply.Object) bool {
		of := object.Mapping.GroupVersionKind
		return of.Group == group && of.Kind == kind
	})
}

// removeOrphans removes what was deployed before and is no longer listed.
func (d *deployment) removeOrphans(ctx context.Context, item *deployer.Item) ([]string, error) {
	if d.orphans == nil {
		orphans := d.inventory.Orphans(d.objects)
		if len(orphans) > 0 {
			if err := item.Checkpoint(ctx, "deployer: cleanup orphaned"); err != nil {
				return nil, err
			}
		}
		d.orphans = deletion.New(d.target, orphans, deletion.Owner{Label: ItemLabel, Name: item.Name}, item.Wake)
	}
	waiting, err := d.orphans.Continue(ctx)
	for _, gone := range d.orphans.Gone() {
		d.inventory = d.inventory.Without(gone)
	}
	if err != nil {
		return nil, job.Wrap(err, "ApplyObjects", "cleanupOrphanedResourcesInGroups", "remove what is no longer listed")
	}
	return waiting, nil
}

// awaitReadiness waits until all objects are ready.
func (d *deployment) awaitReadiness(ctx context.Context, item *deployer.Item) ([]string, error) {
	if d.readiness == nil {
		if err := item.Checkpoint(ctx, "manifest deployer: before readiness check"); err != nil {
			return nil, err
		}
		d.readiness = readiness.NewCheck(d.target, readiness.Unready, item.Wake)
		for _, result := range d.stored {
			if d.checks {
				d.readiness.Add(result.Mapping, result.stored)
			}
		}
	}
	unready, err := d.readiness.Look(ctx)
	if err == nil && len(unready) > 0 && item.Expired() {
		return nil, notReadyInTime(unready)
	}
	return names(unready), err
}

// notReadyInTime says which object was not ready when the time was over, and why.
func notReadyInTime(unready []readiness.Unfinished) error {
	first := unready[0]
	message := fmt.Sprintf("timeout at: %q: %s", fmt.Sprintf("deployer: during readiness check - resource %s/%s of type %s", first.Namespace, first.Name, first.Kind), first.Why)
	if more := len(unready) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more objects are not ready)", more)
	}
	return job.NewError("WaitForObjectsReady", "ProgressingTimeout", message, v1alpha1.ErrorTimeout, v1alpha1.ErrorForInfoOnly)
}

// names says what is waited for. The reasons are left out: they change all the
// time, and each change would be a write.
func names(unready []readiness.Unfinished) []string {
	var list []string
	for _, object := range unready {
		list = append(list, apply.Describe(object.Kind, object.Namespace, object.Name)+" to become ready")
	}
	return list
}

// Close ends all watches.
func (d *deployment) Close() error {
	for _, check := range []*readiness.Check{d.definitions, d.readiness} {
		if check != nil {
			check.Close()
		}
	}
	d.ending.Close()
	if d.orphans != nil {
		d.orphans.Close()
	}
	return nil
}
