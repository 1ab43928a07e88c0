package preview

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/diff"
	"go.landscaper.dev/internal/inspect"
	"go.landscaper.dev/internal/operation"
	"go.landscaper.dev/internal/parallel"
	"go.landscaper.dev/internal/plan"
	"go.landscaper.dev/internal/wanted"
)

// comparison compares the items of a tree.
type comparison struct {
	*Previewer
	live     live
	secrets  *secrets
	tasks    []task
	waiting  []Waiting
	warnings []string
}

// task is an item that is to be compared, or is known already.
type task struct {
	item   Item
	object *v1alpha1.DeployItem
	target *v1alpha1.Target
	// found is what became known about its objects, err why nothing did.
	found []diff.Object
	err   error
}

// node collects what is to be done for an Installation and all below it.
func (c *comparison) node(node *plan.Node, above ...*v1alpha1.Installation) {
	lineage := append(above[:len(above):len(above)], node.Installation())
	c.warnings = append(c.warnings, node.Warnings...)
	execution, items := c.live.execution(node.Path)
	exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: node.Installation().Namespace, Name: node.Installation().Name}}
	exec.Spec.Context = node.Installation().Spec.Context
	if execution != nil {
		exec = execution.Execution
	}
	kept := map[string]bool{}
	for i := range node.DeployItems {
		template := &node.DeployItems[i]
		kept[template.Name] = true
		var present *v1alpha1.DeployItem
		if item := items[template.Name]; item != nil {
			present = item.DeployItem
		}
		c.tasks = append(c.tasks, c.task(node, lineage, exec, template, present))
	}
	if execution != nil {
		for _, item := range execution.Children {
			if !kept[item.TemplateName] {
				c.removed(operation.UninstallOf(item, node.Path))
			}
		}
	}
	for _, waiting := range node.Waiting {
		c.waiting = append(c.waiting, Waiting{Path: waiting.Path, Reason: waiting.Reason.Error()})
	}
	for _, sub := range node.Nodes {
		c.node(sub, lineage...)
	}
	c.removedSubs(node)
}

// removedSubs notes the subinstallations that are no longer wanted.
func (c *comparison) removedSubs(node *plan.Node) {
	present := c.live[node.Path]
	if present == nil {
		return
	}
	for _, child := range present.Children {
		if child.Installation == nil || slices.ContainsFunc(node.Subinstallations, func(sub plan.Subinstallation) bool { return sub.Name == child.TemplateName }) {
			continue
		}
		for _, uninstall := range operation.Uninstalls(child) {
			uninstall.Path = node.Path + "/" + uninstall.Path
			c.removed(uninstall)
		}
	}
}

func (c *comparison) task(node *plan.Node, lineage []*v1alpha1.Installation, exec *v1alpha1.Execution, template *v1alpha1.DeployItemTemplate, present *v1alpha1.DeployItem) task {
	t := task{item: Item{Path: node.Path + "/" + template.Name, Type: string(template.Type)}}
	object, change, err := wanted.DeployItem(exec, template, present, nil, 0, c.Now())
	if err != nil {
		t.item.Action, t.err = diff.Unknown, err
		return t
	}
	t.object = object
	t.item.Action = map[wanted.Change]diff.Action{wanted.Create: diff.Create, wanted.Update: diff.Update, wanted.None: diff.Keep}[change]
	if template.Target != nil {
		t.item.Target = inspect.TargetOf(lineage, template.Target.Name)
		t.target = node.Target(template.Target.Name)
	}
	return t
}

// removed notes what goes with an item.
func (c *comparison) removed(uninstall operation.Uninstall) {
	item := Item{Path: uninstall.Path, Type: uninstall.Type, Target: uninstall.Target, Action: diff.Delete}
	if !uninstall.Kept {
		for _, object := range uninstall.Objects {
			item.Changes = append(item.Changes, deleted(object))
		}
		for _, earlier := range uninstall.EarlierClusters {
			for _, object := range earlier.Objects {
				change := deleted(object)
				change.Cluster = earlier.Cluster
				item.Changes = append(item.Changes, change)
			}
		}
	}
	c.tasks = append(c.tasks, task{item: item})
}

func deleted(object corev1.ObjectReference) diff.Change {
	return diff.Change{Action: diff.Delete, APIVersion: object.APIVersion, Kind: object.Kind, Namespace: object.Namespace, Name: object.Name}
}

// run compares all items, several at a time.
//
// Secrets of clusters are known only when all objects are: hence nothing is made a text
// before the last comparison has ended.
func (c *comparison) run(ctx context.Context) {
	parallel.Do(len(c.tasks), func(i int) {
		if t := &c.tasks[i]; t.object != nil {
			t.found, t.err = c.compare(ctx, t)
		}
	})
	for _, t := range c.tasks {
		for _, object := range t.found {
			c.secrets.addObject(object.Before)
			c.secrets.addObject(object.After)
		}
	}
}

func (c *comparison) compare(ctx context.Context, t *task) ([]diff.Object, error) {
	comparer := c.Comparers[t.object.Spec.Type]
	if comparer == nil {
		return nil, fmt.Errorf("items of type %s cannot be compared", t.object.Spec.Type)
	}
	if t.object.Spec.Target == nil {
		return nil, fmt.Errorf("the item has no target")
	}
	if t.target == nil {
		t.target = &v1alpha1.Target{}
		err := c.Reader.Get(ctx, client.ObjectKey{Namespace: t.object.Namespace, Name: t.object.Spec.Target.Name}, t.target)
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("the Target %s does not exist", t.item.Target)
		}
		if err != nil {
			return nil, fmt.Errorf("read the Target: %w", err)
		}
	}
	connection, err := c.Clusters.Connect(ctx, t.target)
	if err != nil {
		return nil, err
	}
	item, earlier, err := c.place(ctx, t.object, connection)
	if err != nil {
		return nil, err
	}
	found, err := comparer.Preview(ctx, item, connection)
	if err != nil {
		return nil, err
	}
	left, err := c.leave(ctx, item, earlier)
	return append(found, left...), err
}

// result is what was found, in the order of the tree, without what nobody may read.
func (c *comparison) result() *Result {
	hide := c.secrets.hide
	r := &Result{Items: []Item{}}
	for _, t := range c.tasks {
		t.item.Path, t.item.Target = hide(t.item.Path), hide(t.item.Target)
		if t.err != nil {
			t.item.Unknown = hide(t.err.Error())
			r.Summary.Add(diff.Unknown)
		}
		for _, object := range t.found {
			t.item.Changes = append(t.item.Changes, diff.Of(object, hide))
		}
		for _, change := range t.item.Changes {
			r.Summary.Add(change.Action)
		}
		r.Items = append(r.Items, t.item)
	}
	for _, waiting := range c.waiting {
		r.Waiting = append(r.Waiting, Waiting{Path: hide(waiting.Path), Reason: hide(waiting.Reason)})
		r.Summary.Add(diff.Unknown)
	}
	for _, warning := range c.warnings {
		r.Warnings = append(r.Warnings, hide(warning))
	}
	return r
}
