package inspect

import (
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/targets"
)

// sayTargets replaces the names of copies of Targets in the messages of a tree by the names that
// users know: controllers name the copies that they work with.
func (n *Node) sayTargets(copies map[string]string) {
	var pairs []string
	for object, name := range copies {
		pairs = append(pairs, object, name)
	}
	if len(pairs) == 0 {
		return
	}
	names := strings.NewReplacer(pairs...)
	n.Walk(func(node *Node) {
		node.names = names
		node.Message, node.Warnings = names.Replace(node.Message), names.Replace(node.Warnings)
		if node.LastError != nil {
			// The error belongs to the object, which stays as it is.
			said := *node.LastError
			said.Message = names.Replace(said.Message)
			node.LastError = &said
		}
	})
}

// nameTargets gives the items of a tree the names of their Targets, and collects those of the copies
// that the items work with or name in their messages.
func (n *Node) nameTargets(lineage []*v1alpha1.Installation, copies map[string]string) {
	if n.Installation != nil {
		lineage = append(lineage[:len(lineage):len(lineage)], n.Installation)
	}
	if n.DeployItem != nil {
		said := n.Message + " " + n.Warnings
		if n.LastError != nil {
			said += " " + n.LastError.Message
		}
		if target := n.DeployItem.Spec.Target; target != nil {
			n.Target = targets.NameOf(lineage, target.Name)
			said += " " + target.Name
		}
		for _, name := range targets.Copies(said) {
			copies[name] = targets.NameOf(lineage, name)
		}
	}
	for _, child := range n.Children {
		child.nameTargets(lineage, copies)
	}
}
