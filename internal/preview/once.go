package preview

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/model/placement"
)

// countOnce drops what several items delete: a deletion group that deletes all also finds the objects
// of other items. An object goes with its own item or, without one that goes, with the first.
func (c *comparison) countOnce() {
	for at, t := range c.tasks {
		t.found.Objects = slices.DeleteFunc(t.found.Objects, func(object diff.Object) bool {
			return t.deletes(object) && slices.ContainsFunc(c.tasks, func(other *task) bool {
				return other != t && other.on == t.on && other.deletesToo(object) && (other.owns(object) || !t.owns(object) && slices.Index(c.tasks, other) < at)
			})
		})
	}
}

// emptied reports whether a deletion group of one item also deletes an object that belongs to another
// item, and that this one still wants: only the job shows whether it is deployed again then, as the
// removal round leaves such objects alone.
func (c *comparison) emptied(ctx context.Context, from *task, object diff.Object) bool {
	ref := object.Reference()
	for _, to := range c.tasks {
		if to == from || !to.owns(object) || !to.wants(ref) || c.relation(ctx, to, from) != placement.SameCluster {
			continue
		}
		at := to.find(ref)
		if at < 0 {
			at, to.found.Objects = len(to.found.Objects), append(to.found.Objects, unchanged(ref))
		}
		if found := &to.found.Objects[at]; found.Unknown == "" {
			found.Unknown = "a deletion group of deploy item " + from.item.Path + " deletes it, too, if that item goes before this one is deployed"
		}
		return true
	}
	return false
}

// deletes reports whether an object is deleted on the cluster of the item's Target.
func (t *task) deletes(object diff.Object) bool {
	return t.givesUp(object) && object.MovesTo == "" && object.Stays == ""
}

// deletesToo reports whether an object of another item is deleted with this one.
func (t *task) deletesToo(object diff.Object) bool {
	return slices.ContainsFunc(t.found.Objects, func(own diff.Object) bool {
		return t.deletes(own) && apply.Same(own.Reference(), object.Reference())
	})
}

// owns reports whether an object has the marks of the item alone.
func (t *task) owns(object diff.Object) bool {
	live := &unstructured.Unstructured{Object: object.Before}
	return t.object != nil && ownership.Marked(live) && len(ownership.Others(live, t.object.Name)) == 0
}
