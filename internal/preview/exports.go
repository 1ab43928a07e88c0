package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/plan"
)

// Item implements plan.Simulation: it tells what an item would export in the job.
func (c *comparison) Item(ctx context.Context, node *plan.Node, item *v1alpha1.DeployItemTemplate) (any, error) {
	t := c.task(node, item)
	if t.object != nil && !exporting(item) && c.Comparers[item.Type] != nil {
		// It is compared later, together with others.
		return nil, nil
	}
	last, err := c.lastExports(ctx, node, item)
	if err != nil {
		return nil, err
	}
	switch {
	case t.settled || c.Comparers[item.Type] == nil && t.item.Action == diff.Keep:
		if last == nil && !c.succeeded(node, item) {
			return nil, plan.Unknown(fmt.Errorf("item %s has exported nothing yet", item.Name))
		}
		return last, nil
	case c.Comparers[item.Type] == nil:
		return nil, plan.Unknown(fmt.Errorf("item %s: exports of items of type %s are known only then", item.Name, item.Type))
	}
	c.compareBefore(ctx, node, item)
	c.compare(ctx, t)
	if t.err != nil {
		return nil, plan.Unknown(fmt.Errorf("item %s: %w", item.Name, t.err))
	}
	if t.found.Unknown != nil {
		return nil, plan.Unknown(fmt.Errorf("item %s: %w", item.Name, t.found.Unknown))
	}
	c.secrets.addExports(item, t.found.Exports)
	if t.found.Exports == nil {
		return nil, nil
	}
	return t.found.Exports, nil
}

// compareBefore compares what an item depends on: that is done before it.
func (c *comparison) compareBefore(ctx context.Context, node *plan.Node, item *v1alpha1.DeployItemTemplate) {
	for i := range node.DeployItems {
		if other := &node.DeployItems[i]; slices.Contains(item.DependsOn, other.Name) {
			c.compare(ctx, c.task(node, other))
		}
	}
}

// Replaces implements plan.Simulation.
func (c *comparison) Replaces(string) bool { return false }

// Installation implements plan.Simulation.
func (c *comparison) Installation(context.Context, *plan.Node) (*plan.SimulatedExports, error) {
	return nil, nil
}

// exporting reports whether an item may export anything.
func exporting(item *v1alpha1.DeployItemTemplate) bool {
	var config struct {
		Exports any `json:"exports"`
		Older   any `json:"exportsFromManifests"`
	}
	return item.Configuration != nil && (json.Unmarshal(item.Configuration.Raw, &config) != nil || config.Exports != nil || config.Older != nil)
}

// succeeded reports whether the last job of an item has succeeded.
func (c *comparison) succeeded(node *plan.Node, item *v1alpha1.DeployItemTemplate) bool {
	_, items := c.live.execution(node.Path)
	return items[item.Name] != nil && items[item.Name].Ready
}

// lastExports are what an item has exported in its last job.
func (c *comparison) lastExports(ctx context.Context, node *plan.Node, item *v1alpha1.DeployItemTemplate) (any, error) {
	execution, items := c.live.execution(node.Path)
	if execution == nil || items[item.Name] == nil || !items[item.Name].Ready {
		return nil, nil
	}
	object := &v1alpha1.DataObject{}
	err := c.Reader.Get(ctx, client.ObjectKey{Namespace: execution.Namespace, Name: desired.ItemExportsName(execution.Execution)}, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the items of %s have exported: %w", node.Path, err)
	}
	value, err := jsonvalue.FromJSON(object.Data.RawMessage)
	values, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, nil //nolint:nilerr // the cause may quote a value, and nothing else was exported
	}
	c.secrets.addExports(item, values[item.Name])
	return values[item.Name], nil
}
