package preview

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// claim says that an item wants an object that belongs to another one or, without an object,
// what that one has altogether.
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
	return o.claim(claim{holder, object})
}

// IsTerminating implements rollout.Outlook.
func (o *outlook) IsTerminating(item string) bool { return o.claim(claim{holder: item}) }

// IsNeighbor implements rollout.Outlook.
func (o *outlook) IsNeighbor(item string) bool { return o.live.deployItem(item) != nil }

func (o *outlook) claim(asked claim) bool {
	if slices.ContainsFunc(o.task.refused, asked.same) || o.live.deployItem(asked.holder) == nil {
		// An item that does not exist releases nothing: the object may belong to another item.
		return false
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	o.task.taken = append(o.task.taken, asked)
	return true
}

// settleClaims compares those items again that take over what another item still wants, until
// all that was assumed holds.
func (c *comparison) settleClaims(ctx context.Context) {
	for again := c.disappointed(ctx); len(again) > 0; again = c.disappointed(ctx) {
		parallelize.Do(len(again), func(i int) {
			again[i].compared, again[i].err = false, nil
			c.compare(ctx, again[i])
		})
	}
}

// disappointed are the items that have assumed of another one what does not hold.
func (c *comparison) disappointed(ctx context.Context) (found []*task) {
	for _, t := range c.tasks {
		before := len(t.refused)
		for _, asked := range t.taken {
			if !c.yields(ctx, t, asked) {
				t.refused = append(t.refused, asked)
			}
		}
		if t.taken = nil; len(t.refused) > before {
			found = append(found, t)
		}
	}
	return found
}

// yields reports whether the holder of an object lets it go.
func (c *comparison) yields(ctx context.Context, t *task, asked claim) bool {
	holder, all := c.taskOf(asked.holder), asked.object.Name == ""
	switch {
	case holder != nil && all:
		return holder.removal
	case holder != nil:
		return c.relation(ctx, holder, t) != placement.OtherCluster && !holder.wants(asked.object)
	}
	neighbor := c.live.deployItem(asked.holder)
	return neighbor.DeletionTimestamp != nil || !all && ownership.KnownWants(neighbor) && !ownership.Lists(neighbor, asked.object)
}
