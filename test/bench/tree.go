package main

import (
	"context"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// chainLength is how many subinstallations pass a value from one to the next.
const chainLength = 50

// trees measure what each node of a tree costs, and whether that grows with the tree.
func trees(ctx context.Context, b *bench, r *Report) error {
	if err := b.startServer(ctx); err != nil {
		return err
	}
	space, err := b.namespace(ctx)
	if err != nil {
		return err
	}
	trip, err := b.roundTrip(ctx, space, "tree", 100)
	if err != nil {
		return err
	}
	chain, err := b.tree(ctx, r, fmt.Sprintf("chain of %d", chainLength), chainLength, func(space, name string) *v1alpha1.Installation {
		return landscape.NewTree(space, name, landscape.Chain(chainLength))
	})
	if err != nil {
		return err
	}
	r.measured(fmt.Sprintf("chain of %d: round trips of each", chainLength), chain.took.Seconds()/chainLength/trip.Seconds(), "", atMost(8))
	if _, err := b.tree(ctx, r, "one with 100 items", 100, withItems(100)); err != nil {
		return err
	}
	totals, sizes := []float64{}, []int{}
	for _, widths := range [][]int{{5, 10}, {31, 31}} {
		nodes := landscape.Nodes(widths...)
		came, err := b.tree(ctx, r, fmt.Sprintf("3 levels with %d nodes", nodes), nodes, func(space, name string) *v1alpha1.Installation {
			return landscape.NewTree(space, name, landscape.Nested(widths...))
		})
		if err != nil {
			return err
		}
		totals, sizes = append(totals, float64(len(came.requests))), append(sizes, nodes)
	}
	r.counted("growth of requests of a tree (exponent)", exponent(totals[0], totals[1], sizes[0], sizes[1]), "", atMost(1.05))
	return nil
}

// tree brings up one Installation, and adds what each of its parts costs.
func (b *bench) tree(ctx context.Context, r *Report, name string, parts int, make func(space, name string) *v1alpha1.Installation) (phase, error) {
	crowd, err := b.newCrowd(ctx, 1, make)
	if err != nil {
		return phase{}, err
	}
	came, err := crowd.come(ctx, crowd.succeeded())
	if err != nil {
		return phase{}, fmt.Errorf("%s: %w", name, err)
	}
	each := func(all float64) float64 { return all / float64(parts) }
	r.counted(name+": requests of each", each(float64(len(came.requests))), "")
	r.counted(name+": bytes written of each", each(came.work.Written), "B")
	r.measured(name+": time of each", each(milliseconds(came.took)), "ms")
	r.measured(name+": server CPU of each", each(milliseconds(came.cpu)), "ms")
	return came, nil
}
