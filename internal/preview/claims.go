package preview

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/ownership"
	"go.landscaper.dev/internal/parallel"
)

// claim says that an item wants an object that belongs to another one.
type claim struct {
	holder string
	object corev1.ObjectReference
}

func (c claim) same(other claim) bool {
	return c.holder == other.holder && apply.Same(c.object, other.object)
}

// Yields implements rollout.Outlook. Whether the other item still wants the object may not be
// worked out yet: it is assumed that it does not, and looked at when everything is.
func (o *outlook) Yields(holder string, object corev1.ObjectReference) bool {
	asked := claim{holder, object}
	if slices.ContainsFunc(o.task.refused, asked.same) || o.live.deployItem(holder) == nil {
		// Whoever does not exist lets nothing go: the object may be one of somebody else.
		return false
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	o.task.taken = append(o.task.taken, asked)
	return true
}

// Leaves implements rollout.Outlook.
func (o *outlook) Leaves(item string) bool {
	if t := o.taskOf(item); t != nil {
		return t.removal
	}
	stored := o.live.deployItem(item)
	return stored != nil && stored.DeletionTimestamp != nil
}

// settleClaims compares those items again that take over what another item still wants.
func (c *comparison) settleClaims(ctx context.Context) {
	var again []*task
	for _, t := range c.tasks {
		for _, asked := range t.taken {
			if !c.yields(t, asked) {
				t.refused = append(t.refused, asked)
			}
		}
		if len(t.refused) > 0 {
			again = append(again, t)
		}
	}
	parallel.Do(len(again), func(i int) {
		again[i].compared, again[i].err = false, nil
		c.compare(ctx, again[i])
	})
}

// yields reports whether the holder of an object lets it go.
func (c *comparison) yields(t *task, asked claim) bool {
	holder := c.taskOf(asked.holder)
	if holder != nil {
		return holder.sharesCluster(t) && !holder.wants(asked.object)
	}
	neighbor := c.live.deployItem(asked.holder)
	return neighbor.DeletionTimestamp != nil || ownership.KnownWants(neighbor) && !ownership.Lists(neighbor, asked.object)
}
