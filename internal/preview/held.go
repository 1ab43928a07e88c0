package preview

import (
	"context"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/runtime/memguard"
)

// A blueprint of a few lines may describe a tree of a gigabyte, and a plan holds all of its tree until it
// has a name: what is rendered, and each object as it is and as it would be.

// hold notes that the plan holds so much more. An error is why it must not: all further work for the plan
// ends with it.
func (c *comparison) hold(ctx context.Context, bytes int64) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.held += bytes; c.stop == nil && c.Most > 0 && c.held > c.Most {
		c.stop = c.TooLarge
	}
	if c.stop == nil {
		c.stop = memguard.Of(ctx).Book(bytes)
	}
	return c.stop
}

// stopped is why the plan must not hold more; nil if it may.
func (c *comparison) stopped() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.stop
}

// maker makes the plans of a tree, and notes what they hold.
type maker struct {
	plan.Maker
	c *comparison
}

// Make implements plan.Maker.
func (m maker) Make(ctx context.Context, in plan.Input, want plan.Want) (*plan.Made, error) {
	if err := m.c.stopped(); err != nil {
		return nil, err
	}
	made, err := m.Maker.Make(ctx, in, want)
	if err != nil || made.Children == nil {
		return made, err // a *plan.StepError
	}
	size := int64(plan.Taken(0, made.Copies).Bytes)
	for i := range made.Children.DeployItems {
		if config := made.Children.DeployItems[i].Configuration; config != nil {
			size += int64(len(config.Raw))
		}
	}
	for _, sub := range made.Children.Subinstallations {
		if inline := sub.Installation.Spec.Blueprint.Inline; inline != nil {
			size += int64(len(inline.Filesystem.RawMessage))
		}
	}
	return made, m.c.hold(ctx, size)
}

// sizeOf is about how much the objects of an item hold.
func sizeOf(found rollout.Forecast) (size int64) {
	for _, object := range found.Objects {
		for _, state := range []map[string]any{object.Before, object.After, object.Applied, object.Left} {
			size += answerlimit.SizeOfValue(state)
		}
	}
	return size
}
