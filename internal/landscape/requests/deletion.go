package requests

import (
	"cmp"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/graph"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/model/siblings/itemorder"
)

// Uninstall is what the deletion of an item takes away.
type Uninstall struct {
	// Step is when it happens: items of the same step go at the same time.
	Step int `json:"step"`
	// Path leads from the root to the item, in the names of blueprints.
	Path string `json:"path"`
	// Item is the name of the DeployItem, Type its type.
	Item string `json:"item"`
	Type string `json:"type"`
	// Target is the name of the Target of its cluster, if it has one.
	Target string `json:"target,omitempty"`
	// Objects are the objects on that cluster that are deleted: the recorded ones, in their recorded
	// order, as long as the cluster was not asked. Not every deployer records all.
	Objects []corev1.ObjectReference `json:"objects,omitempty"`
	// Moves are the objects that stay and become those of an item of another Installation.
	Moves []Move `json:"moves,omitempty"`
	// Stays are the objects that stay for others, with the reasons.
	Stays []Stay `json:"stays,omitempty"`
	// EarlierClusters are what the item has left on clusters to which its Target led
	// before.
	EarlierClusters []Leftovers `json:"earlierClusters,omitempty"`
	// Unknown are objects whose outcome only the deletion can show, with the reasons, or why the
	// cluster could not be asked.
	Unknown []string `json:"unknown,omitempty"`
	// Kept means that the objects stay.
	Kept bool `json:"kept,omitempty"`
}

// Move is an object that stays because another item wants it.
type Move struct {
	Object corev1.ObjectReference `json:"object"`
	// To is the path of the item that takes it over.
	To string `json:"to"`
}

// Stay is an object that stays for a reason, as "because deploy item shop/web expects it".
type Stay struct {
	Object corev1.ObjectReference `json:"object"`
	Reason string                 `json:"reason"`
}

// Leftovers are objects on a cluster to which the Target of an item does not lead any more.
type Leftovers struct {
	// Cluster is the address of the cluster.
	Cluster string `json:"cluster"`
	// Release is a release of Helm, as namespace and name.
	Release string                   `json:"release,omitempty"`
	Objects []corev1.ObjectReference `json:"objects,omitempty"`
}

// Uninstalls are all items of a tree in the order of their deletion: importers come before
// exporters, and dependants before the items that they depend on.
//
// It follows the same edges as the deletion itself, from the objects as they are: nothing
// is rendered, since a blueprint may have changed meanwhile.
func Uninstalls(tree *inspect.Node) []Uninstall {
	list, _ := uninstalls(tree, cmp.Or(tree.TemplateName, tree.Name), 1)
	slices.SortStableFunc(list, func(a, b Uninstall) int { return a.Step - b.Step })
	return list
}

// uninstalls returns the deletions from a step on, and the first step after them.
func uninstalls(node *inspect.Node, path string, step int) (list []Uninstall, next int) {
	var subs, items []*inspect.Node
	for _, child := range node.Children {
		if child.Kind == inspect.KindInstallation {
			subs = append(subs, child)
			continue
		}
		items = append(items, child.Children...)
	}
	next = step
	for i, at := range stepsOf(itemorder.Graph(members(items))) {
		list = append(list, uninstallOf(items[i], path, step+at))
		next = max(next, step+at+1)
	}
	for _, part := range stepsInTurn(needsOf(subs), subs, path, step) {
		list = append(list, part.list...)
		next = max(next, part.next)
	}
	return list, next
}

func members(items []*inspect.Node) []itemorder.Member {
	all := make([]itemorder.Member, len(items))
	for i, item := range items {
		all[i].Name = item.TemplateName
		if item.DeployItem != nil {
			all[i].DependsOn = itemorder.DependsOn(item.DeployItem)
		}
	}
	return all
}

// stepsOf returns when each node is deleted: after all nodes that need it.
//
// Members of cycles are put behind the rest in no particular order: a plan of a deletion must not
// fail because of what could never run.
func stepsOf(needs graph.Graph) []int {
	steps := make([]int, len(needs))
	order, held := needs.Order()
	all := slices.Concat(order, held)
	slices.Reverse(all)
	for _, node := range all {
		for _, need := range needs[node] {
			steps[need] = max(steps[need], steps[node]+1)
		}
	}
	return steps
}

// needsOf says which subinstallation is deleted after which others: it is needed by these.
func needsOf(subs []*inspect.Node) graph.Graph {
	installations := make([]*v1alpha1.Installation, len(subs))
	number := map[string]int{}
	for i, sub := range subs {
		installations[i] = sub.Installation
		number[sub.Name] = i
	}
	needs := make(graph.Graph, len(subs))
	if len(subs) == 0 {
		return needs
	}
	among := siblings.NewRelations(installations[0], installations)
	for i, inst := range installations {
		for _, before := range siblings.DeletedBefore(inst, among) {
			needs[number[before]] = append(needs[number[before]], i)
		}
	}
	return needs
}

// part is what one subinstallation takes away.
type part struct {
	list []Uninstall
	next int
}

// stepsInTurn lets each subinstallation begin when all importers of its exports are deleted.
func stepsInTurn(needs graph.Graph, subs []*inspect.Node, path string, step int) []part {
	parts := make([]part, len(subs))
	begin := slices.Repeat([]int{step}, len(subs))
	order, held := needs.Order()
	all := slices.Concat(order, held)
	slices.Reverse(all)
	for _, i := range all {
		list, next := uninstalls(subs[i], path+"/"+cmp.Or(subs[i].TemplateName, subs[i].Name), begin[i])
		parts[i] = part{list, next}
		for _, need := range needs[i] {
			begin[need] = max(begin[need], next)
		}
	}
	return parts
}

func uninstallOf(node *inspect.Node, path string, step int) Uninstall {
	u := Uninstall{Step: step, Path: path + "/" + cmp.Or(node.TemplateName, node.Name), Item: node.Name}
	item := node.DeployItem
	if item == nil {
		return u
	}
	u.Type, u.Target = string(item.Spec.Type), node.Target
	u.Kept = item.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == "true"
	u.Objects = Recorded(item)
	u.EarlierClusters = Earlier(item)
	return u
}

// Earlier is what an item has recorded on clusters to which its Target led before.
func Earlier(item *v1alpha1.DeployItem) (found []Leftovers) {
	for _, earlier := range recordOf(item).EarlierClusters {
		left := Leftovers{Cluster: placement.Describe(earlier.ClusterIdentity), Objects: removed(earlier.ManagedResources)}
		if earlier.Release != nil {
			left.Release = earlier.Release.Namespace + "/" + earlier.Release.Name
		}
		found = append(found, left)
	}
	return found
}

// Recorded are the objects that an item has recorded on its cluster and that go with it.
func Recorded(item *v1alpha1.DeployItem) []corev1.ObjectReference {
	return removed(recordOf(item).ManagedResources)
}

// record is what an item has recorded, whatever its deployer is.
type record struct {
	deployer.ClusterRecord
	ManagedResources deployer.ManagedResourceStatusList `json:"managedResources"`
}

// recordOf reads the record of an item. An unreadable record is empty.
func recordOf(item *v1alpha1.DeployItem) record {
	var found record
	if item.Status.ProviderStatus == nil || json.Unmarshal(item.Status.ProviderStatus.Raw, &found) != nil {
		return record{}
	}
	return found
}

// removed are the recorded objects that a deletion removes.
func removed(recorded deployer.ManagedResourceStatusList) (objects []corev1.ObjectReference) {
	for _, entry := range recorded {
		if placement.Removed(entry) {
			objects = append(objects, entry.Resource)
		}
	}
	return objects
}

// UninstallOf is what the deletion of a single item takes away. The path is that of its
// Installation.
func UninstallOf(item *inspect.Node, path string) Uninstall { return uninstallOf(item, path, 1) }
