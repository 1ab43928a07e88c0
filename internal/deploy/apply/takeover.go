package apply

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/ownership"
)

// owns reports whether an object belongs to the item, or may do so from now on: another item has
// released it, or yields it. That is asked only where the policy leaves objects of other owners
// alone.
func (a *Applier) owns(ctx context.Context, object Object, live *unstructured.Unstructured) (bool, error) {
	self := a.Labels[a.OwnerLabel]
	others := ownership.Others(live, self)
	if len(others) == 0 && live.GetLabels()[a.OwnerLabel] == self {
		return true, nil
	}
	if object.Policy != deployer.FallbackPolicy {
		return false, nil
	}
	if released, err := a.released(ctx, live); released || err != nil || a.Neighbors == nil || len(others) == 0 {
		return released, err
	}
	for _, holder := range others {
		yields, err := a.Neighbors.Yields(ctx, holder, object.Reference())
		if err != nil {
			return false, fmt.Errorf("find out whether DeployItem %s still wants it: %w", holder, err)
		}
		if !yields {
			return false, nil
		}
	}
	return true, nil
}

// released reports whether another item has released an object for this one, too: an item of the
// same namespace and cluster. Items of other namespaces or of another Landscaper on the same
// cluster do not count.
func (a *Applier) released(ctx context.Context, live *unstructured.Unstructured) (bool, error) {
	by := live.GetAnnotations()[v1alpha1.ReleasedByAnnotation]
	if by == "" || a.Neighbors == nil || by == a.Labels[a.OwnerLabel] {
		return by != "", nil
	}
	is, err := a.Neighbors.IsNeighbor(ctx, by)
	if err != nil {
		return false, fmt.Errorf("find out whether DeployItem %s, which has released it, is one of the same tree: %w", by, err)
	}
	return is, nil
}

// shares reports whether the owner of an object is another item that may leave it to this one. The
// record of a Helm release says whose it is; so each may be one of another item.
func (a *Applier) shares(ctx context.Context, live *unstructured.Unstructured) (bool, error) {
	if a.Neighbors == nil {
		return false, nil
	}
	if ownership.ReleaseOf(live) != (ownership.HelmRelease{}) {
		return true, nil
	}
	for _, holder := range ownership.Others(live, a.Labels[a.OwnerLabel]) {
		if is, err := a.Neighbors.IsNeighbor(ctx, holder); err != nil || is {
			return is, err // says what was read
		}
	}
	return false, nil
}

// unmark removes the marks of other owners from an object, if it has any: remaining marks would
// make the object look like one of theirs. It returns what is stored.
func (a *Applier) unmark(ctx context.Context, object Object, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	patch, err := ownership.Unmark(live, a.ours, false)
	if err != nil || patch == nil {
		return live, err
	}
	stored, err := a.Target.MergePatch(ctx, object.Mapping, live.GetNamespace(), live.GetName(), patch, a.FieldManager)
	if err != nil {
		return nil, fmt.Errorf("remove the marks of its former owner: %w", err)
	}
	return stored, nil
}

// manifest is the desired object: with the labels of the item, and without those of another item. A
// manifest may be a copy of an object of another owner.
func (a *Applier) manifest(object Object) *unstructured.Unstructured {
	labelled := withLabels(object.Object, a.Labels)
	ownership.Strip(labelled, a.ours, true)
	return labelled
}

// ours reports whether the item has a label of its own of this name.
func (a *Applier) ours(label string) bool {
	_, found := a.Labels[label]
	return found
}
