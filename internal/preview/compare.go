package preview

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/requests"
	"go.landscaper.dev/internal/model/dataflow/targets"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// comparison compares the items of trees, one root after the other.
type comparison struct {
	*Previewer
	// root is the Installation at the top, and deletion says that it goes.
	root     *v1alpha1.Installation
	deletion bool

	live    live
	secrets *secrets
	future  *future
	// tasks are in the order of the trees, known has those that were begun before.
	tasks []*task
	known map[string]*task
	// nodes are the Installations of the trees.
	nodes    []*plan.Node
	follows  []string
	waiting  []Waiting
	warnings []string
	close    []func()
	// order are the tasks that were compared, in this order.
	lock  sync.Mutex
	order []*task
	// held is how many bytes the parts of the plan have, and stop why it must not hold more.
	held int64
	stop error
}

// task is an item that is to be compared, or is known already.
type task struct {
	item   Item
	object *v1alpha1.DeployItem
	target *v1alpha1.Target
	// template is what was rendered; nil if the item goes.
	template *v1alpha1.DeployItemTemplate
	// removal is set if the item goes.
	removal bool
	// settled is set if the job leaves the item alone, as nothing has changed.
	settled bool
	// compared says that found is what became known about its objects, and err why nothing
	// did.
	compared bool
	found    rollout.Forecast
	on       string
	err      error
	// connection leads to the cluster, nil if the item was not compared; site is where the item
	// deploys, once that was worked out.
	connection *cluster.Connection
	site       *placement.Site
	// taken are the objects of other items that this item takes over, by those who have to let
	// them go for that; refused those that are not let go.
	taken, refused []claim
}

// node collects what is to be done for an Installation and all below it.
func (c *comparison) node(node *plan.Node, above ...*v1alpha1.Installation) {
	lineage := append(above[:len(above):len(above)], node.Installation())
	c.nodes = append(c.nodes, node)
	c.warnings = append(c.warnings, node.Warnings...)
	kept := map[string]bool{}
	for i := range node.DeployItems {
		template := &node.DeployItems[i]
		kept[template.Name] = true
		t := c.task(node, template)
		if template.Target != nil {
			t.item.Target = targets.NameOf(lineage, template.Target.Name)
		}
		c.tasks = append(c.tasks, t)
	}
	if execution, _ := c.live.execution(node.Path); execution != nil {
		for _, item := range execution.Children {
			if !kept[item.TemplateName] {
				c.removed(requests.UninstallOf(item, node.Path))
			}
		}
	}
	for _, waiting := range node.Waiting {
		reason := waiting.Reason
		if waiting.From != nil {
			reason = waiting.From
		}
		c.waiting = append(c.waiting, Waiting{Path: waiting.Path, Reason: reason.Error()})
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
		for _, uninstall := range requests.Uninstalls(child) {
			uninstall.Path = node.Path + "/" + uninstall.Path
			c.removed(uninstall)
		}
	}
}

// task returns what is to be done for an item, the same each time.
func (c *comparison) task(node *plan.Node, template *v1alpha1.DeployItemTemplate) *task {
	path := node.Path + "/" + template.Name
	if t := c.known[path]; t != nil {
		return t
	}
	t := &task{item: Item{Path: path, Type: string(template.Type)}, template: template}
	c.known[path] = t
	execution, items := c.live.execution(node.Path)
	exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: node.Installation().Namespace, Name: node.Installation().Name}}
	exec.Spec.Context = node.Installation().Spec.Context
	if execution != nil {
		exec = execution.Execution
	}
	var present *v1alpha1.DeployItem
	if item := items[template.Name]; item != nil {
		present = item.DeployItem
	}
	object, change, err := desired.DeployItem(exec, template, present, nil, 0, c.Now())
	if err != nil {
		t.item.Action, t.err = diff.Unknown, err
		return t
	}
	t.object = object
	t.item.Action = map[desired.Change]diff.Action{desired.Create: diff.Create, desired.Update: diff.Update, desired.None: diff.Keep}[change]
	t.settled = settled(present, object)
	if template.Target != nil {
		t.target = node.Target(template.Target.Name)
	}
	return t
}

// settled reports whether a job leaves an item alone: it is to be deployed only after a
// change, and its last job has succeeded with what it says now.
func settled(present, object *v1alpha1.DeployItem) bool {
	return present != nil && object.Spec.UpdateOnChangeOnly && equality.Semantic.DeepEqual(present.Spec, object.Spec) &&
		present.Generation == present.Status.ObservedGeneration && present.Status.Phase.Current() == v1alpha1.DeployItemPhases.Succeeded
}

// removed notes what goes with an item.
func (c *comparison) removed(uninstall requests.Uninstall) {
	t := &task{item: Item{Path: uninstall.Path, Type: uninstall.Type, Target: uninstall.Target, Action: diff.Delete}, removal: true}
	c.tasks = append(c.tasks, t)
	t.object = c.live.deployItem(uninstall.Item)
	if uninstall.Kept || t.object == nil {
		t.compared = true
	}
}

// run compares all items, several at a time.
//
// Secrets of clusters are known only when all objects are: hence nothing is made a text
// before the last comparison has ended.
func (c *comparison) run(ctx context.Context) {
	parallelize.Do(len(c.tasks), func(i int) { c.compare(ctx, c.tasks[i]) })
	c.settleClaims(ctx)
	c.moves(ctx)
	for _, t := range c.tasks {
		for _, object := range t.found.Objects {
			c.secrets.addObject(object.Before)
			c.secrets.addObject(object.After)
		}
	}
}

// end gives up what was opened.
func (c *comparison) end() {
	for _, end := range c.close {
		end()
	}
}

// compare finds out what becomes of the objects of an item, once.
func (c *comparison) compare(ctx context.Context, t *task) {
	if t.compared || t.object == nil {
		return
	}
	t.compared = true
	if t.settled {
		for _, object := range requests.Recorded(t.object) {
			t.found.Objects = append(t.found.Objects, unchanged(object))
		}
		c.warnUnmoved(ctx, t)
		return
	}
	if t.err = c.stopped(); t.err != nil {
		return
	}
	if t.found, t.err = c.forecast(ctx, t); t.err == nil {
		t.err = c.hold(ctx, sizeOf(t.found))
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.order = append(c.order, t)
}

func unchanged(object corev1.ObjectReference) diff.Object {
	return diff.Object{APIVersion: object.APIVersion, Kind: object.Kind, Namespace: object.Namespace, Name: object.Name}
}

func (c *comparison) forecast(ctx context.Context, t *task) (rollout.Forecast, error) {
	comparer := c.Comparers[t.object.Spec.Type]
	if comparer == nil && t.removal {
		return recordedRemoval(t.object), nil
	}
	if comparer == nil {
		return rollout.Forecast{}, fmt.Errorf("items of type %s cannot be compared", t.object.Spec.Type)
	}
	if t.object.Spec.Target == nil {
		return rollout.Forecast{}, fmt.Errorf("the item has no target")
	}
	around := &outlook{comparison: c, task: t}
	if err := around.connect(ctx); err != nil {
		return rollout.Forecast{}, err
	}
	item, earlier, err := c.place(ctx, t.object, around.connection)
	if err != nil {
		return rollout.Forecast{}, err
	}
	var found rollout.Forecast
	if t.removal {
		found.Objects, err = comparer.PreviewRemoval(ctx, item, around.connection, around)
	} else {
		found, err = comparer.Preview(ctx, item, around.connection, around)
	}
	if err != nil {
		return rollout.Forecast{}, err
	}
	found.Objects = append(found.Objects, c.leave(ctx, item, earlier)...)
	return found, nil
}

// recordedRemoval is what goes with an item whose deployer cannot tell: what it has
// recorded.
func recordedRemoval(item *v1alpha1.DeployItem) rollout.Forecast {
	var found rollout.Forecast
	for _, object := range requests.Recorded(item) {
		preview := unchanged(object)
		preview.Before = map[string]any{}
		found.Objects = append(found.Objects, preview)
	}
	for _, earlier := range requests.Earlier(item) {
		for _, object := range earlier.Objects {
			preview := unchanged(object)
			preview.Before, preview.Cluster = map[string]any{}, earlier.Cluster
			found.Objects = append(found.Objects, preview)
		}
	}
	return found
}

// result is the outcome, in the order of the tree, without secret values.
func (c *comparison) result() *Result {
	hide := c.secrets.hide
	r := &Result{Items: []Item{}, Follows: c.follows}
	for _, t := range c.tasks {
		item := t.item
		item.Path, item.Target = hide(item.Path), hide(item.Target)
		if t.err != nil {
			item.Unknown = hide(t.err.Error())
			r.Summary.Add(diff.Unknown)
		}
		for _, object := range t.found.Objects {
			item.Changes = append(item.Changes, diff.Of(object, hide))
		}
		for _, change := range item.Changes {
			r.Summary.Add(change.Action)
		}
		r.Items = append(r.Items, item)
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
