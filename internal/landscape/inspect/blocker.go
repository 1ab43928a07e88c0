package inspect

import (
	"slices"

	"go.landscaper.dev/internal/runtime/job/cause"
)

// severity orders the states of blockers: those that need a user's action come first.
var severity = []State{Stalled, Failed, Missing, Waiting, Running}

// Blockers returns the objects that keep a tree from being ready: those that are
// not ready while everything below them is. The worst come first. Who only follows
// from a sibling is to blame for nothing, as long as anybody else is.
//
// Only the lowest ones count: who waits for something below only repeats it.
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
		// What an object says of one that is missing is more than that it is missing.
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
func (n *Node) settled() bool { return n.Ready || n.Outdated && n.Reason != QueuedReason }

// follows reports whether the state of an object follows from that of a sibling.
func (n *Node) follows() bool {
	return n.Kind == KindInstallation && n.LastError != nil && cause.FollowsSibling(n.LastError.Reason) || n.Kind == KindDeployItem && n.Reason == turnReason
}
