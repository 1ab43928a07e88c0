package inspect

import (
	"cmp"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/cause"
)

// Cause is why a tree is not ready: what is wrong at one of its objects, and the way there.
type Cause struct {
	cause.Cause
	// Node is the object.
	Node *Node
}

// Causes returns why a tree is not ready, the worst first: subinstallations that another client has
// removed, and the blockers that say something. A blocker that only works says nothing.
func Causes(tree *Node) []Cause {
	var causes []Cause
	tree.Walk(func(node *Node) {
		if node.gone != "" {
			causes = append(causes, Cause{Node: node, Cause: cause.Cause{Message: node.gone}})
		}
	})
	for _, node := range Blockers(tree) {
		if message := node.trouble(); message != "" {
			causes = append(causes, Cause{Node: node, Cause: cause.Cause{Message: message}})
		}
	}
	if len(causes) > 0 {
		tree.locate(nil, causes)
	}
	return causes
}

// trouble is what is wrong with an object; nothing is as long as it works.
func (n *Node) trouble() string {
	published := job.GetCondition(n.conditions, v1alpha1.ReconcilingCondition) != nil
	if n.State == Running && published {
		return job.Obstacle(n.conditions)
	}
	return n.Why()
}

// removed says which subinstallations of a job do not exist any more; empty if all do. They
// are in no tree, so that their parent says it.
func (n *Node) removed() string {
	if n.Installation.Status.InstallationPhase.Current().IsDeletion() || !n.Failed() && n.JobID == n.JobIDFinished {
		return ""
	}
	family := siblings.Family{Inst: n.Installation}
	for _, child := range n.Children {
		family.Subs = append(family.Subs, child.Installation)
	}
	absent := siblings.Absent(family)
	if len(absent) == 0 {
		return ""
	}
	return job.Removed("Installation " + strings.Join(absent, ", Installation "))
}

// locate writes into causes where their objects are.
func (n *Node) locate(way []string, causes []Cause) {
	for i := range causes {
		if found := &causes[i]; found.Node == n {
			found.Path = way
			if n.Kind == KindDeployItem {
				found.Item, found.Target = cmp.Or(n.TemplateName, n.Name), n.Target
			}
		}
	}
	for _, child := range n.Children {
		below := way
		if child.Kind == KindInstallation {
			below = append(slices.Clone(way), cmp.Or(child.TemplateName, child.Name))
		}
		child.locate(below, causes)
	}
}

// Troubled returns the trees reduced to objects that have failed, do not continue, or have
// succeeded with warnings, and the path to them. What waits for a sibling does not continue either if
// something in its tree does not. The trees that it is given stay as they are.
func Troubled(trees []*Node) []*Node {
	var kept []*Node
	for _, tree := range trees {
		shown := map[*Node]bool{}
		for _, found := range Causes(tree) {
			shown[found.Node] = true
		}
		if len(shown) > 0 {
			tree.Walk(func(node *Node) { shown[node] = shown[node] || node.waitsForOthers() })
		}
		if reduced := tree.reduce(shown); reduced != nil {
			kept = append(kept, reduced)
		}
	}
	return kept
}

// reduce returns the tree with only the objects that are shown, have failed or have warnings, and
// the path to them; nil without such objects.
func (n *Node) reduce(shown map[*Node]bool) *Node {
	reduced := *n
	reduced.Children = nil
	for _, child := range n.Children {
		if below := child.reduce(shown); below != nil {
			reduced.Children = append(reduced.Children, below)
		}
	}
	if !shown[n] && !n.Failed() && n.Warnings == "" && len(reduced.Children) == 0 {
		return nil
	}
	return &reduced
}

// idle is why an object does not work although it is not ready.
func (n *Node) idle() string {
	if n.Installation != nil && Parent(n.Installation) == "" {
		reason, settled := settled(n.Installation, Start{})
		switch {
		case settled:
		case n.JobID == n.JobIDFinished && starts(v1alpha1.Operation(n.Installation.Annotations[v1alpha1.OperationAnnotation])) && Deferral(n.Installation) == "":
			return reason + n.advice()
		default:
			return reason
		}
	}
	switch object := n.Object(); {
	case n.JobID == "":
		return "no job was started yet"
	case n.unbegun() && n.Kind == KindDeployItem:
		return n.queuedMessage()
	case n.unbegun():
		return "the job has not begun yet" + n.advice()
	case object != nil && object.GetDeletionTimestamp() != nil:
		return "the deletion has not begun yet"
	case n.observed != object.GetGeneration():
		return "the spec has changed since the last job"
	}
	return ""
}
