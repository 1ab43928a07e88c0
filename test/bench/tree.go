package main

import (
	"context"
	"encoding/json"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
)

// chainLength is how many subinstallations hand a value from one to the next.
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
		return newTree(space, name, chained(chainLength))
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
		nodes := 1 + widths[0] + widths[0]*widths[1]
		came, err := b.tree(ctx, r, fmt.Sprintf("3 levels with %d nodes", nodes), nodes, func(space, name string) *v1alpha1.Installation {
			return newTree(space, name, nested(widths...))
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

// template is a subinstallation in a blueprint.
type template map[string]any

// blueprintWith is a blueprint with subinstallations.
func blueprintWith(templates []template) string {
	text, err := json.Marshal(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Blueprint", "subinstallations": templates})
	if err != nil {
		panic(fmt.Sprintf("templates cannot be encoded: %v", err))
	}
	return string(text)
}

// newTree returns a root with subinstallations.
func newTree(namespace, name string, templates []template) *v1alpha1.Installation {
	root := described(namespace, name, blueprintWith(templates))
	root.Spec.Imports = v1alpha1.InstallationImports{}
	return root
}

// exporting is a subinstallation that exports a value, which may depend on one that it
// imports.
func exporting(name, out, in string) template {
	made := template{"name": name, "exports": map[string]any{"data": []any{map[string]any{"name": "out", "dataRef": out}}}}
	description := "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nexports: [{name: out, schema: {type: integer}}]\n"
	value := "0"
	if in != "" {
		description += "imports: [{name: in, schema: {type: integer}}]\n"
		made["imports"] = map[string]any{"data": []any{map[string]any{"name": "in", "dataRef": in}}}
		value = "{{ add1 .imports.in }}"
	}
	description += "exportExecutions: [{name: default, type: GoTemplate, template: 'exports: {out: " + value + "}'}]\n"
	made["blueprint"] = map[string]any{"filesystem": map[string]any{"blueprint.yaml": description}}
	return made
}

// chained are subinstallations of which each imports what the one before exports. Their
// order in the blueprint says nothing.
func chained(count int) []template {
	templates, in := make([]template, count), ""
	for i := range count {
		out := fmt.Sprintf("value-%d", i)
		templates[count-1-i] = exporting(fmt.Sprintf("part-%d", i), out, in)
		in = out
	}
	return templates
}

// nested are subinstallations with others below them, that have nothing to do with each
// other.
func nested(widths ...int) []template {
	templates := make([]template, widths[0])
	for i := range templates {
		name := fmt.Sprintf("part-%d", i)
		if len(widths) == 1 {
			templates[i] = exporting(name, fmt.Sprintf("value-%d", i), "")
			continue
		}
		files := map[string]any{"blueprint.yaml": blueprintWith(nested(widths[1:]...))}
		templates[i] = template{"name": name, "blueprint": map[string]any{"filesystem": files}}
	}
	return templates
}
