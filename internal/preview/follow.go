package preview

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/dependents"
	"go.landscaper.dev/internal/landscape/importreader"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
)

// ended is a root that has had its job by now, in the preview.
type ended struct {
	inst *v1alpha1.Installation
	// unknown says why its exports are not known; nil if they are.
	unknown error
}

// follow adds the roots that get a job because of the exports of others, in the order of
// their data. No root of a cycle follows.
func (c *comparison) follow(ctx context.Context, first *plan.Node, roots []*inspect.Node) error {
	var related []*v1alpha1.Installation
	for _, root := range roots {
		if root.Installation != nil && predicates.IsRoot(root.Installation) && root.Namespace == first.Installation().Namespace {
			related = append(related, root.Installation)
		}
	}
	among := siblings.NewRelations(first.Installation(), related)
	done := map[string]ended{}
	if err := c.ended(ctx, first, done); err != nil {
		return err
	}
	order, _ := among.Graph.Order()
	for _, name := range order {
		at := slices.IndexFunc(related, func(inst *v1alpha1.Installation) bool { return inst.Name == name })
		if _, over := done[name]; over || at < 0 || !predicates.Follows(related[at]) {
			continue
		}
		if err := c.followOne(ctx, related[at], among.Graph.Predecessors(name), done); err != nil {
			return err
		}
	}
	return nil
}

// ended notes what a root would export.
func (c *comparison) ended(ctx context.Context, node *plan.Node, done map[string]ended) error {
	done[node.Installation().Name] = ended{node.Installation(), node.Unknown}
	if node.Exports == nil {
		return nil
	}
	if err := c.future.add(ctx, node.Exports.Exports); err != nil {
		return fmt.Errorf("read what %s has exported: %w", node.Path, err)
	}
	return nil
}

// followOne adds a root if it gets a job because of one of those before it.
func (c *comparison) followOne(ctx context.Context, inst *v1alpha1.Installation, before []string, done map[string]ended) error {
	asked := ""
	for _, name := range before {
		by, over := done[name]
		if !over || siblings.HasNoImporters(by.inst) {
			continue
		}
		if by.unknown != nil {
			reason := fmt.Errorf("whether it gets a job, and of what, follows from the exports of %s, which only the job can tell: %w", name, by.unknown)
			c.waiting = append(c.waiting, Waiting{Path: inst.Name, Reason: reason.Error()})
			done[inst.Name] = ended{inst, fmt.Errorf("it imports from %s: %w", name, by.unknown)}
			return nil //nolint:nilerr // what is unknown is part of the plan
		}
		concerned, err := c.concerns(ctx, by.inst, inst)
		if err != nil {
			return err
		}
		if concerned && asked == "" {
			asked = name
		}
	}
	if asked == "" {
		return nil
	}
	c.follows = append(c.follows, inst.Name)
	grown, err := c.grow(ctx, inst)
	if err != nil {
		c.waiting = append(c.waiting, Waiting{Path: inst.Name, Reason: fmt.Sprintf("it gets a job because of the exports of %s: %s", asked, err)})
		done[inst.Name] = ended{inst, err}
		return nil // it is shown as what is wrong with the job of this root
	}
	c.secrets.addTree(grown)
	c.node(grown)
	return c.ended(ctx, grown, done)
}

// concerns reports whether what one root exports is something new to another one, as after
// a job.
func (c *comparison) concerns(ctx context.Context, by, dependent *v1alpha1.Installation) (bool, error) {
	if dependent.Status.ImportsHash == "" || c.Check != nil && c.Check(dependent) != nil {
		return true, nil //nolint:nilerr // its job tells what is wrong
	}
	imports, err := dataflow.Read(ctx, dependent, importreader.From(c.future))
	if err != nil {
		return true, nil //nolint:nilerr // it is asked, and its job tells what is wrong
	}
	if hash, err := dataflow.ImportsHash(imports); err == nil && hash == dependent.Status.ImportsHash {
		return false, nil
	}
	scope := client.MatchingLabels{v1alpha1.DataObjectContextLabel: v1alpha1.InstallationScope(dependent.Name)}
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{data, targets} {
		if err := c.Reader.List(ctx, list, client.InNamespace(dependent.Namespace), scope); err != nil {
			return false, fmt.Errorf("list the copies of imports of Installation %s: %w", dependent.Name, err)
		}
	}
	var copies dataflow.Exports
	for i := range data.Items {
		copies.DataObjects = append(copies.DataObjects, &data.Items[i])
	}
	for i := range targets.Items {
		copies.Targets = append(copies.Targets, &targets.Items[i])
	}
	return dependents.HasChanges(by, dependent, imports, copies), nil
}
