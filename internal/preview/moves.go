package preview

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/model/placement"
)

// moves finds the objects that one item does not want any more and another one does: such an
// object stays, and becomes one of the other item. It is one change of the item that takes it
// over.
//
// The jobs work the same out between themselves, in whichever order they come: nothing is
// removed before everything that is wanted was applied.
func (c *comparison) moves(ctx context.Context) {
	for _, from := range c.tasks {
		kept := from.found.Objects[:0:0]
		for _, object := range from.found.Objects {
			if !c.moved(ctx, from, &object) {
				kept = append(kept, object)
			}
		}
		from.found.Objects = kept
	}
	for _, to := range c.tasks {
		for i := range to.found.Objects {
			c.takenOver(to, &to.found.Objects[i])
		}
	}
	c.countOnce()
}

// moved lets an object that an item gives up become one of another item. It reports whether
// that is a change of the other item; an item that has no part in the preview inherits the
// object as it is, which is a change of the item that gives it up.
func (c *comparison) moved(ctx context.Context, from *task, object *diff.Object) bool {
	ref := object.Reference()
	switch {
	case object.Left != nil:
		return c.taken(ctx, from, ref, object.Left)
	case !from.givesUp(*object):
		return false
	case c.emptied(ctx, from, *object), c.taken(ctx, from, ref, object.Before):
		return true
	}
	if heir, path := c.heir(ctx, from, *object); heir != nil {
		object.MovesFrom, object.MovesTo = from.item.Path, path
	} else if other := c.expecting(ctx, from, ref); other != "" {
		object.Stays = "because deploy item " + other + " expects it"
	} else {
		object.Stays = c.inUse(ctx, from, &unstructured.Unstructured{Object: object.Before})
	}
	return false
}

// taken reports whether another item of the preview takes an object over, and makes that its change.
func (c *comparison) taken(ctx context.Context, from *task, ref corev1.ObjectReference, live map[string]any) bool {
	for _, writes := range []bool{true, false} {
		for _, to := range c.tasks {
			if to != from && to.takes(ref, writes) && c.relation(ctx, to, from) == placement.SameCluster {
				to.inherit(ref, live, from)
				return true
			}
		}
	}
	return false
}

// expecting returns the path of an item that expects an object to exist, and leaves the object to the
// item that does not want it any more; empty if none does.
func (c *comparison) expecting(ctx context.Context, from *task, ref corev1.ObjectReference) string {
	for _, to := range c.tasks {
		if to == from || !to.expects(ref) || c.relation(ctx, to, from) != placement.SameCluster {
			continue
		}
		if at := to.find(ref); at >= 0 && to.found.Objects[at].After == nil && to.found.Objects[at].Unknown == "" {
			// It counts once.
			to.found.Objects = slices.Delete(to.found.Objects, at, at+1)
		}
		return to.item.Path
	}
	// What cannot be listed decides nothing.
	others, _ := (&neighbors{comparison: c, of: from}).Others(ctx)
	for _, other := range others {
		if ownership.Expects(other, ref) {
			return c.live.pathOf(other.Name)
		}
	}
	return ""
}

// expects reports whether the item expects an object to exist after the job.
func (t *task) expects(ref corev1.ObjectReference) bool {
	if t.removal || t.object == nil {
		return false
	}
	item := *t.object
	if t.compared && t.err == nil && !t.settled {
		// The status has what the chart of the last job had.
		item.Status.ProviderStatus = nil
	}
	return ownership.Expects(&item, ref) || slices.ContainsFunc(t.found.Expected, func(expected corev1.ObjectReference) bool { return apply.Same(expected, ref) })
}

// givesUp reports whether the item would remove an object from the cluster of its Target.
func (t *task) givesUp(object diff.Object) bool {
	return (t.removal || object.Unwanted) && object.Before != nil && object.After == nil && object.Cluster == "" && object.Unknown == ""
}

// takes reports whether the item wants an object: what it deploys says that or, of an item
// that the job leaves alone or that leaves the object as it is, its configuration.
func (t *task) takes(ref corev1.ObjectReference, writes bool) bool {
	if t.removal || t.object == nil {
		return false
	}
	if !writes {
		return ownership.Lists(t.object, ref)
	}
	at := t.find(ref)
	return at >= 0 && !t.expects(ref) && (t.found.Objects[at].After != nil || t.found.Objects[at].Unknown != "" || !ownership.KnownWants(t.object) && !t.settled)
}

// find returns where an object is that the item wants, or -1.
func (t *task) find(ref corev1.ObjectReference) int {
	return slices.IndexFunc(t.found.Objects, func(object diff.Object) bool {
		return !object.Unwanted && object.Cluster == "" && apply.Same(object.Reference(), ref)
	})
}

// inherit notes that an object comes from another item.
func (t *task) inherit(ref corev1.ObjectReference, before map[string]any, from *task) {
	at := t.find(ref)
	if at < 0 {
		at, t.found.Objects = len(t.found.Objects), append(t.found.Objects, unchanged(ref))
	}
	object := &t.found.Objects[at]
	object.MovesFrom, object.MovesTo = from.item.Path, t.item.Path
	switch {
	case object.Unknown != "":
	case object.After == nil:
		object.Before = before
	default:
		// The API server was asked about the object as it is.
		object.Before, object.After = unmarked(object.Before), unmarked(object.After)
	}
}

// takenOver finds out whose an object is that the item is about to write, by the label that it
// bears: the other item does not remove it, but does not want it either.
func (c *comparison) takenOver(to *task, object *diff.Object) {
	if to.removal || object.Unwanted || object.MovesTo != "" || object.Before == nil || object.After == nil || object.Cluster != "" {
		return
	}
	for _, holder := range ownership.Others(&unstructured.Unstructured{Object: object.Before}, to.object.Name) {
		from := c.taskOf(holder)
		if from != nil && from != to && !from.wants(object.Reference()) {
			object.MovesFrom, object.MovesTo = from.item.Path, to.item.Path
			object.Before, object.After = unmarked(object.Before), unmarked(object.After)
			return
		}
	}
}

// wants reports whether the item wants an object after the job.
func (t *task) wants(ref corev1.ObjectReference) bool {
	switch {
	case t.removal || t.object == nil:
		return false
	case ownership.KnownWants(t.object):
		return ownership.Lists(t.object, ref)
	case t.settled:
		return true
	}
	return t.err != nil || t.find(ref) >= 0
}

// taskOf returns what is to be done for an item by the name of its object; nil if the preview
// has nothing to do with it.
func (c *comparison) taskOf(name string) *task {
	for _, t := range c.tasks {
		if t.object != nil && t.object.Name == name {
			return t
		}
	}
	return nil
}

// unmarked is an object without the marks of owners.
func unmarked(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	copied := (&unstructured.Unstructured{Object: object}).DeepCopy()
	ownership.Strip(copied, func(string) bool { return false }, false)
	return copied.Object
}

// heir returns the item that inherits an object although it has no part in the preview, and
// its path.
func (c *comparison) heir(ctx context.Context, from *task, object diff.Object) (*v1alpha1.DeployItem, string) {
	family := &neighbors{comparison: c, of: from}
	live := &unstructured.Unstructured{Object: object.Before}
	verdict, err := ownership.Judge(ctx, family, live, object.Reference(), true, from.removal)
	if err != nil || verdict.Fate != ownership.Inherit {
		return nil, ""
	}
	return verdict.Heir, c.live.pathOf(verdict.Heir.Name)
}

// neighbors are the items of the namespace with which a preview has nothing to do. It
// implements ownership.Family.
type neighbors struct {
	*comparison
	of *task
}

// Others implements ownership.Family.
func (n *neighbors) Others(ctx context.Context) ([]*v1alpha1.DeployItem, error) {
	var others []*v1alpha1.DeployItem
	for _, item := range n.live.items() {
		if item.DeletionTimestamp != nil || item.Namespace != n.of.object.Namespace || n.taskOf(item.Name) != nil {
			continue
		}
		neighbor := &task{object: item}
		if item.Spec.Target != nil {
			// Without its Target, only the name tells whether they share the cluster.
			neighbor.target, _ = (&outlook{comparison: n.comparison, task: n.of}).targetOf(ctx, item.Spec.Target.Name)
		}
		if n.relation(ctx, neighbor, n.of) == placement.SameCluster {
			others = append(others, item)
		}
	}
	return others, nil
}

// Stays implements ownership.Family.
func (n *neighbors) Stays(context.Context, *v1alpha1.DeployItem) (bool, error) { return true, nil }

// MayKeep implements ownership.Family: what is kept until the end of the job goes to the heir
// then.
func (n *neighbors) MayKeep(context.Context) (bool, error) { return false, nil }

// MayMove implements ownership.Family.
func (n *neighbors) MayMove(context.Context) (bool, error) { return false, nil }

// items are all items that exist.
func (l live) items() (items []*v1alpha1.DeployItem) {
	l.each(func(_ string, node *inspect.Node) { items = append(items, node.DeployItem) })
	return items
}

// pathOf is the path of an item by the name of its object.
func (l live) pathOf(name string) (path string) {
	l.each(func(at string, node *inspect.Node) {
		if node.Name == name {
			path = at
		}
	})
	return path
}
