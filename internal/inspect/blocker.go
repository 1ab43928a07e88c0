package inspect

import "slices"

// severity orders the states of blockers: first what needs somebody's hand.
var severity = []State{Stalled, Failed, Missing, Waiting, Running}

// Blockers returns the objects that keep a tree from being ready: those that are
// not ready while everything below them is. The worst come first.
func Blockers(tree *Node) []*Node {
	var found []*Node
	collectBlockers(tree, &found)
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
		collectBlockers(child, found)
	}
	if len(*found) == before {
		*found = append(*found, node)
	}
}

// settled tells that the object holds nobody up. One that has not received the
// job of the root yet is waited for by its parent, which tells why.
func (n *Node) settled() bool { return n.Ready || n.Outdated }
