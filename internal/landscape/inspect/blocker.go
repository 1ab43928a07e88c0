package inspect

import (
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// severity orders the states of blockers: those that need a user's action come first.
var severity = []State{Stalled, Failed, Missing, Waiting, Running}

// Blockers returns the objects that keep a tree from being ready: those that are not ready while
// everything below them is. The worst come first. An object that only follows from a sibling is no
// blocker as long as there is another one.
//
// Only the lowest objects count: an object that waits for something below only repeats its reason.
func Blockers(tree *Node) []*Node {
	var found []*Node
	collectBlockers(tree, &found)
	if causes := slices.DeleteFunc(slices.Clone(found), (*Node).follows); len(causes) > 0 {
		found = causes
	}
	slices.SortStableFunc(found, func(a, b *Node) int {
		return slices.Index(severity, a.State) - slices.Index(severity, b.State)
	})
	return found
}

func collectBlockers(node *Node, found *[]*Node) {
	if node.settled() {
		return
	}
	before := len(*found)
	for _, child := range node.Children {
		// The message of an object about a missing one says more than that it is missing.
		if child.State != Missing || node.LastError == nil {
			collectBlockers(child, found)
		}
	}
	if len(*found) == before {
		*found = append(*found, node)
	}
}

// settled reports that no object waits for this one. An object that has not received the job of the
// root yet is waited for by its parent, which says why, unless it is its turn.
func (n *Node) settled() bool { return n.Ready || n.Outdated && !n.Queued() }

// follows reports whether the state of an object follows from that of a sibling.
func (n *Node) follows() bool {
	return n.Kind == KindInstallation && reasons.FollowsSibling(n.LastError) || n.Kind == KindDeployItem && n.obstacle == notItsTurn
}

// Awaited returns the sibling that an Installation waits for, or has failed because of: the first one that
// comes before it and is not ready; nil without one. The siblings include the Installation; the parent is
// nil for a root.
func Awaited(node, parent *Node, among []*Node) *Node {
	if node.Kind != KindInstallation || !node.follows() {
		return nil
	}
	var above *v1alpha1.Installation
	if parent != nil {
		above = parent.Installation
	}
	nodes := make(map[string]*Node, len(among))
	var family []*v1alpha1.Installation
	for _, sibling := range among {
		if sibling.Installation != nil {
			nodes[sibling.Name], family = sibling, append(family, sibling.Installation)
		}
	}
	family = siblings.Wanted(node.Installation, above, family)
	for _, name := range siblings.Before(node.Installation, siblings.NewRelations(node.Installation, family)) {
		if sibling := nodes[name]; !sibling.Ready && sibling != node {
			return sibling
		}
	}
	return nil
}

// waitsForOthers reports whether an object that has not failed waits for a sibling.
func (n *Node) waitsForOthers() bool { return n.State == Waiting && n.follows() }
