package inspect

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Forest returns the trees of all root Installations of a snapshot, the oldest
// root first. A subinstallation whose parent does not exist is the root of a
// tree of its own, marked as orphaned.
//
// Each Installation is in one tree only, and cycles end, because no object is visited twice.
func Forest(snapshot Snapshot) []*Node {
	g := newGraph(snapshot)
	var roots, others []*v1alpha1.Installation
	for _, installation := range g.installations {
		parent := Parent(installation)
		switch {
		case parent == "":
			roots = append(roots, installation)
		case g.installation(installation.Namespace, parent) == nil:
			others = append(others, installation)
		}
	}
	oldestFirst(roots)
	forest := make([]*Node, 0, len(roots))
	for _, root := range roots {
		forest = append(forest, g.tree(root))
	}
	// Objects below no root would be invisible: children of deleted parents, and cycles, which only
	// wrong labels can make.
	for _, orphan := range append(others, g.installations...) {
		if !g.seen[orphan] {
			tree := g.tree(orphan)
			tree.Orphaned = true
			forest = append(forest, tree)
		}
	}
	return forest
}

// Tree returns the tree below one Installation, root or not, or nil if the
// snapshot has no such Installation.
func Tree(snapshot Snapshot, namespace, name string) *Node {
	g := newGraph(snapshot)
	installation := g.installation(namespace, name)
	if installation == nil {
		return nil
	}
	return g.tree(installation)
}

// Parent returns the name of the Installation that an Installation is a part of,
// or "" for a root.
func Parent(installation *v1alpha1.Installation) string {
	return parentOf(installation, v1alpha1.EncompassedByLabel, KindInstallation)
}

// graph finds the objects of a snapshot by their connections.
type graph struct {
	installations []*v1alpha1.Installation
	byName        map[types.NamespacedName]*v1alpha1.Installation
	parts         map[types.NamespacedName][]*v1alpha1.Installation
	executions    map[types.NamespacedName]*v1alpha1.Execution
	owned         map[types.NamespacedName][]*v1alpha1.Execution
	items         map[types.NamespacedName][]*v1alpha1.DeployItem
	seen          map[*v1alpha1.Installation]bool
	now           time.Time
}

func newGraph(snapshot Snapshot) *graph {
	g := &graph{
		installations: byName(snapshot.Installations),
		byName:        map[types.NamespacedName]*v1alpha1.Installation{},
		parts:         map[types.NamespacedName][]*v1alpha1.Installation{},
		executions:    map[types.NamespacedName]*v1alpha1.Execution{},
		owned:         map[types.NamespacedName][]*v1alpha1.Execution{},
		items:         map[types.NamespacedName][]*v1alpha1.DeployItem{},
		seen:          map[*v1alpha1.Installation]bool{},
		now:           snapshot.Now,
	}
	for _, installation := range g.installations {
		g.byName[key(installation.Namespace, installation.Name)] = installation
		if parent := Parent(installation); parent != "" {
			at := key(installation.Namespace, parent)
			g.parts[at] = append(g.parts[at], installation)
		}
	}
	for _, execution := range byName(snapshot.Executions) {
		g.executions[key(execution.Namespace, execution.Name)] = execution
		if owner := ownerOf(execution, KindInstallation); owner != "" {
			at := key(execution.Namespace, owner)
			g.owned[at] = append(g.owned[at], execution)
		}
	}
	for _, item := range byName(snapshot.DeployItems) {
		if execution := parentOf(item, v1alpha1.ExecutionManagedByLabel, KindExecution); execution != "" {
			at := key(item.Namespace, execution)
			g.items[at] = append(g.items[at], item)
		}
	}
	return g
}

func (g *graph) installation(namespace, name string) *v1alpha1.Installation {
	return g.byName[key(namespace, name)]
}

// tree builds the tree below an Installation and marks what is outdated.
func (g *graph) tree(root *v1alpha1.Installation) *Node {
	tree := g.installationNode(root)
	copies := map[string]string{}
	tree.nameTargets(nil, copies)
	tree.sayTargets(copies)
	tree.markOutdated(tree.JobID, false, false)
	if pending := job.Pending(root.Status.Conditions); reasons.IsRemoving(pending) {
		tree.PendingRemovals = pending.Message
	}
	return tree
}

// markOutdated marks the objects that have not received a job and are to get it. A job that only
// propagates values reaches no item of an Installation that it leaves as it is, and nothing below
// an Installation that it does not concern. A held object gets no job; a removal round is a part of
// the job.
func (n *Node) markOutdated(jobID string, stays, itemsStay bool) {
	stays = stays || n.Held
	n.Outdated = n.State != Missing && !sameJob(n.JobID, jobID) && !stays
	if n.Installation != nil && sameJob(n.JobID, jobID) {
		update := n.Installation.Status.DataUpdate
		itemsStay = update != nil && update.Unchanged
		stays = stays || itemsStay && !slices.Contains(update.Installations, n.Name)
	}
	if n.Kind == KindExecution {
		stays = stays || itemsStay
	}
	for _, child := range n.Children {
		child.markOutdated(jobID, stays, itemsStay && child.Kind == KindExecution)
	}
}

func sameJob(a, b string) bool { return job.BaseOf(a) == job.BaseOf(b) }

func (g *graph) installationNode(installation *v1alpha1.Installation) *Node {
	g.seen[installation] = true
	node := &Node{
		Kind: KindInstallation, Namespace: installation.Namespace, Name: installation.Name, Installation: installation, now: g.now,
		TemplateName: installation.Annotations[v1alpha1.SubinstallationNameAnnotation],
	}
	installationFacts(installation).fill(node)
	for _, part := range g.parts[key(installation.Namespace, installation.Name)] {
		if !g.seen[part] {
			node.Children = append(node.Children, g.installationNode(part))
		}
	}
	node.gone = node.removed()
	node.Children = append(node.Children, g.executionNodes(installation)...)
	node.markHeld()
	node.propagateWait()
	return node
}

// executionNodes returns the Execution that the status refers to. Before the
// reference is written, the owner reference shows the connection.
func (g *graph) executionNodes(installation *v1alpha1.Installation) []*Node {
	reference := installation.Status.ExecutionReference
	if reference == nil || reference.Name == "" {
		var nodes []*Node
		for _, execution := range g.owned[key(installation.Namespace, installation.Name)] {
			nodes = append(nodes, g.executionNode(execution))
		}
		return nodes
	}
	namespace := cmp.Or(reference.Namespace, installation.Namespace)
	execution := g.executions[key(namespace, reference.Name)]
	if execution == nil {
		return []*Node{{
			Kind: KindExecution, Namespace: namespace, Name: reference.Name, State: Missing,
			Children: g.itemNodes(namespace, reference.Name),
		}}
	}
	return []*Node{g.executionNode(execution)}
}

func (g *graph) executionNode(execution *v1alpha1.Execution) *Node {
	node := &Node{Kind: KindExecution, Namespace: execution.Namespace, Name: execution.Name, Execution: execution, now: g.now}
	executionFacts(execution).fill(node)
	node.Children = g.itemNodes(execution.Namespace, execution.Name)
	node.markHeld()
	node.takeTurns()
	return node
}

func (g *graph) itemNodes(namespace, execution string) []*Node {
	var nodes []*Node
	for _, item := range g.items[key(namespace, execution)] {
		node := &Node{
			Kind: KindDeployItem, Namespace: item.Namespace, Name: item.Name, DeployItem: item, now: g.now,
			TemplateName: item.Labels[v1alpha1.ExecutionManagedNameLabel],
		}
		deployItemFacts(item).fill(node)
		if inherited := placement.SayInherited(item); inherited != "" {
			node.PendingRemovals = strings.TrimPrefix(node.PendingRemovals+"; "+inherited, "; ")
		}
		nodes = append(nodes, node)
	}
	return nodes
}

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// parentOf finds the parent by the label that controllers select by, or else by
// the owner reference.
func parentOf(object metav1.Object, label string, kind Kind) string {
	return cmp.Or(object.GetLabels()[label], ownerOf(object, kind))
}

func ownerOf(object metav1.Object, kind Kind) string {
	owner, _ := job.OwnerOf(object, string(kind))
	return owner.Name
}

// byName returns the objects in the order in which an API server lists them.
func byName[T metav1.Object](objects []T) []T {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return sorted
}

// oldestFirst sorts by namespace and age, which for root Installations is mostly
// the order in which a user thinks of them.
func oldestFirst(installations []*v1alpha1.Installation) {
	slices.SortStableFunc(installations, func(a, b *v1alpha1.Installation) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
}
