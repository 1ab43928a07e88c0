package inspect

import (
	"slices"

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

// FollowsFromSibling reports whether an Installation waits for a sibling, or has failed because of
// one; in a tree that it is given, that sibling has the cause.
func (n *Node) FollowsFromSibling() bool { return n.Kind == KindInstallation && n.follows() }

// waitsForOthers reports whether an object that has not failed waits for a sibling.
func (n *Node) waitsForOthers() bool { return n.State == Waiting && n.follows() }
