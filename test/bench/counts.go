package main

import (
	"context"
	"slices"

	"go.landscaper.dev/test/landscape"
)

// sampled is how many Installations of each case are counted.
const sampled = 5

// furtherItems is how many items an Installation has beyond the first.
const furtherItems = 9

// tallied is what some Installations of a namespace cost: from the audit logs of both
// clusters, and from a watch of all our kinds.
type tallied struct {
	requests []landscape.Request
	sent     landscape.Weight
	rest     landscape.Weight
}

// counts are what the smallest case costs, another job of it, its deletion, and a further
// item. The budgets are those of the tests.
func counts(ctx context.Context, b *bench, r *Report) error {
	if err := b.startServer(ctx); err != nil {
		return err
	}
	// The first of all pays for what is done once for a cluster.
	if _, err := b.tally(ctx, 1, nil); err != nil {
		return err
	}
	smallest, err := b.tally(ctx, 1, nil)
	if err != nil {
		return err
	}
	again, err := b.tally(ctx, 1, func(c *crowd) error { _, err := c.again(ctx, c.succeeded()); return err })
	if err != nil {
		return err
	}
	deleted, err := b.tally(ctx, 1, func(c *crowd) error { _, err := c.leave(ctx); return err })
	if err != nil {
		return err
	}
	items, err := b.tally(ctx, 1+furtherItems, nil)
	if err != nil {
		return err
	}
	r.spent("smallest", landscape.Spent(smallest.requests), landscape.Budget{}, sampled, landscape.Smallest)
	r.spent("again", landscape.Spent(again.requests), landscape.Spent(smallest.requests), sampled, landscape.Again)
	r.spent("deletion", landscape.Spent(deleted.requests), landscape.Spent(smallest.requests), sampled, landscape.Deletion)
	r.spent("further item", landscape.Spent(items.requests), landscape.Spent(smallest.requests), sampled*furtherItems, landscape.Item)
	r.weighed("smallest", smallest, 1)
	r.counted("again: bytes of a watch", float64(again.sent.Bytes-smallest.sent.Bytes)/sampled, "B")
	r.counted("deletion: bytes of a watch", float64(deleted.sent.Bytes-smallest.sent.Bytes)/sampled, "B")
	r.counted("further item: bytes of a watch", float64(items.sent.Bytes-smallest.sent.Bytes)/(sampled*furtherItems), "B")
	return nil
}

// tally counts some Installations in a namespace of their own, with what is done to them
// then.
func (b *bench) tally(ctx context.Context, items int, then func(*crowd) error) (tallied, error) {
	crowd, err := b.newCrowd(ctx, sampled, withItems(items))
	if err != nil {
		return tallied{}, err
	}
	counted, err := b.count(ctx)
	if err != nil {
		return tallied{}, err
	}
	traffic, err := landscape.StartTraffic(ctx, b.resource().Kubeconfig, crowd.space)
	if err != nil {
		return tallied{}, err
	}
	defer traffic.Stop()
	if _, err := crowd.come(ctx, crowd.succeeded()); err != nil {
		return tallied{}, err
	}
	if then != nil {
		if err := then(crowd); err != nil {
			return tallied{}, err
		}
	}
	rest, err := landscape.AtRest(ctx, b.resource().Kubeconfig, crowd.space)
	if err != nil {
		return tallied{}, err
	}
	// A server that ends says what it still has to say, so that no event is missed.
	if err := b.startServer(ctx); err != nil {
		return tallied{}, err
	}
	requests, err := counted.Requests(ctx)
	if err != nil {
		return tallied{}, err
	}
	return tallied{requests: slices.DeleteFunc(requests, crowd.foreign), sent: traffic.Stop(), rest: rest}, nil
}

// spent adds what each of some things cost beyond something else.
func (r *Report) spent(name string, all, beyond landscape.Budget, things float64, limit landscape.Budget) {
	each := func(all, beyond int) float64 { return float64(all-beyond) / things }
	r.counted(name+": writes", each(all.Writes, beyond.Writes), "", atMost(float64(limit.Writes)))
	r.counted(name+": events", each(all.Events, beyond.Events), "", atMost(float64(limit.Events)))
	r.counted(name+": reads", each(all.Reads, beyond.Reads), "", atMost(float64(limit.Reads)))
}

// weighed adds what the writes of a case weigh, and its objects at rest.
func (r *Report) weighed(name string, found tallied, things float64) {
	each := func(all int) float64 { return float64(all) / sampled / things }
	r.counted(name+": bytes of a watch", each(found.sent.Bytes), "B", atMost(landscape.SmallestBytes))
	r.counted(name+": of these managed fields, which we do not send", each(found.sent.Managed), "B")
	r.counted(name+": of these status", each(found.sent.Status), "B")
	r.counted(name+": bytes at rest", each(found.rest.Bytes), "B")
	r.counted(name+": of these status", each(found.rest.Status), "B", atMost(landscape.SmallestStatus))
	r.counted(name+": of these managed fields", each(found.rest.Managed), "B", atMost(landscape.SmallestManaged))
}
