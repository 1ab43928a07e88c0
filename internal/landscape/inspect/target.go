package inspect

import (
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/targets"
)

// sayTargets replaces the names of copies of Targets in the messages of a tree by the names that
// users know: controllers name the copies that they work with.
func (n *Node) sayTargets() {
	known := map[string]string{}
	n.copies(nil, known)
	var pairs []string
	for object, name := range known {
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

// copies finds the names of the copies that the items of a tree work with, or say something of.
func (n *Node) copies(lineage []*v1alpha1.Installation, known map[string]string) {
	if n.Installation != nil {
		lineage = append(lineage[:len(lineage):len(lineage)], n.Installation)
	}
	if item := n.DeployItem; item != nil {
		said := n.Message + " " + n.Warnings
		if n.LastError != nil {
			said += " " + n.LastError.Message
		}
		found := targets.Copies(said)
		if item.Spec.Target != nil && targets.IsCopy(item.Spec.Target.Name) {
			found = append(found, item.Spec.Target.Name)
		}
		for _, name := range found {
			known[name] = targets.NameOf(lineage, name)
		}
	}
	for _, child := range n.Children {
		child.copies(lineage, known)
	}
}

// nameTargets gives the items of a tree the names of their Targets.
func (n *Node) nameTargets(lineage []*v1alpha1.Installation) {
	if n.Installation != nil {
		lineage = append(lineage[:len(lineage):len(lineage)], n.Installation)
	}
	if n.DeployItem != nil && n.DeployItem.Spec.Target != nil {
		n.Target = targets.NameOf(lineage, n.DeployItem.Spec.Target.Name)
	}
	for _, child := range n.Children {
		child.nameTargets(lineage)
	}
}
