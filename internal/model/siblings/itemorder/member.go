package itemorder

import (
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/graph"
	"go.landscaper.dev/internal/runtime/job"
)

// Member is an item of an Execution: its template and its DeployItem.
type Member struct {
	Name      string
	DependsOn []string
	// Item is the DeployItem, or nil.
	Item *v1alpha1.DeployItem
	// Unwanted says that the Execution does not want the item any more.
	Unwanted bool
}

// NameOf returns the name that a DeployItem has in its Execution.
func NameOf(item *v1alpha1.DeployItem) string {
	return item.Labels[v1alpha1.ExecutionManagedNameLabel]
}

// Members connects the templates of an Execution with the existing items. Items without a template
// are returned as orphans, with the order that was noted. Of several items with one name, the first
// counts.
func Members(templates v1alpha1.DeployItemTemplateList, items []*v1alpha1.DeployItem) (wanted, orphans []Member) {
	byName := make(map[string]*v1alpha1.DeployItem, len(items))
	for _, item := range items {
		if _, ok := byName[NameOf(item)]; !ok {
			byName[NameOf(item)] = item
		}
	}
	counts := make(map[*v1alpha1.DeployItem]bool, len(templates))
	for i := range templates {
		item := byName[templates[i].Name]
		wanted = append(wanted, Member{Name: templates[i].Name, DependsOn: templates[i].DependsOn, Item: item})
		counts[item] = true
	}
	for _, item := range items {
		if !counts[item] {
			orphan := noted(item)
			orphan.Unwanted = true
			orphans = append(orphans, orphan)
		}
	}
	return wanted, orphans
}

// Noted returns items with their order as it was noted when they were created.
func Noted(items []*v1alpha1.DeployItem) []Member {
	members := make([]Member, len(items))
	for i, item := range items {
		members[i] = noted(item)
	}
	return members
}

func noted(item *v1alpha1.DeployItem) Member {
	return Member{Name: NameOf(item), DependsOn: DependsOn(item), Item: item}
}

// DependsOn returns the names of the items that a DeployItem depends on, as it was noted when it was
// created.
func DependsOn(item *v1alpha1.DeployItem) []string {
	names := item.Annotations[v1alpha1.ExecutionDependsOnAnnotation]
	if names == "" {
		return nil
	}
	return strings.Split(names, ",")
}

// InRound returns the wanted items of a removal round: those that have kept something, and those
// that have got the round. One that was deleted meanwhile waits for the next job with all its
// objects.
func InRound(round string, wanted []Member) []Member {
	return slices.DeleteFunc(slices.Clone(wanted), func(m Member) bool {
		return m.Item == nil || m.Item.Status.JobID != round && (m.Item.DeletionTimestamp != nil || !job.PartOfItem(m.Item).Due(round))
	})
}

// StaysInstalled reports whether an item is deleted without its objects.
func StaysInstalled(item *v1alpha1.DeployItem) bool {
	return item.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == "true"
}

// Graph lists for each member those that it depends on, by number. Names without a member are left
// out, and no member depends on itself.
func Graph(members []Member) graph.Graph {
	numbers := make(map[string][]int, len(members))
	for i, m := range members {
		numbers[m.Name] = append(numbers[m.Name], i)
	}
	needs := make(graph.Graph, len(members))
	for i, m := range members {
		for _, name := range m.DependsOn {
			if name != m.Name {
				needs[i] = append(needs[i], numbers[name]...)
			}
		}
	}
	return needs
}

// Names returns the names of members.
func Names(members []Member) []string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	return names
}

// Items returns the DeployItems of members.
func Items(members []Member) []*v1alpha1.DeployItem {
	items := make([]*v1alpha1.DeployItem, len(members))
	for i, m := range members {
		items[i] = m.Item
	}
	return items
}

// ChangeOf returns the wake by a change of any of some items.
func ChangeOf(members []Member) job.Wake {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Item.Name
	}
	return job.OnChange("DeployItem", names...)
}
