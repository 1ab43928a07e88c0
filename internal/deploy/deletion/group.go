package deletion

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
)

// Group is a step of a deletion whose configuration was checked.
type Group struct {
	// Nature is the group by nature; empty for a group by kind.
	Nature deployer.PredefinedResourceGroupType
	// Types are the kinds of a group by kind.
	Types []deployer.ResourceType
	// Force removes finalizers.
	Force bool
	// All deletes all objects of these kinds, also those that the item did not deploy.
	All bool
	// TargetName names another Target, or is empty.
	TargetName string
	// Protected are namespaces whose content, as they themselves, is not among "all".
	Protected []string
}

// DefaultGroups delete what is in namespaces first and the definitions of kinds
// last.
func DefaultGroups() []Group {
	return []Group{{Nature: deployer.NamespacedResources}, {Nature: deployer.ClusterScopedResources}, {Nature: deployer.CRDResources}}
}

var natures = []deployer.PredefinedResourceGroupType{deployer.NamespacedResources, deployer.ClusterScopedResources, deployer.CRDResources, deployer.EmptyResources}

// Compile checks the groups of a configuration. Without any, the default ones apply.
// What is in protected namespaces is deleted only if the item has deployed it.
func Compile(definitions []deployer.DeletionGroupDefinition, protected []string) ([]Group, error) {
	if len(definitions) == 0 {
		return DefaultGroups(), nil
	}
	var groups []Group
	for i, definition := range definitions {
		group, err := compile(definition, protected)
		if err != nil {
			return nil, fmt.Errorf("[%d]%w", i, err)
		}
		groups = append(groups, group)
	}
	return groups, nil
}

func compile(definition deployer.DeletionGroupDefinition, protected []string) (Group, error) {
	byNature, byKind := definition.PredefinedResourceGroup, definition.CustomResourceGroup
	switch {
	case (byNature == nil) == (byKind == nil):
		return Group{}, errors.New(" must have exactly one of predefinedResourceGroup and customResourceGroup")
	case byNature != nil && !slices.Contains(natures, byNature.Type):
		return Group{}, errors.New(".predefinedResourceGroup.type does not exist: use namespaced-resources, cluster-scoped-resources, crds or empty")
	case byNature != nil:
		return Group{Nature: byNature.Type, Force: byNature.ForceDelete}, nil
	case len(byKind.Resources) == 0:
		return Group{}, errors.New(".customResourceGroup.resources is missing: name the kinds")
	}
	for i, resource := range byKind.Resources {
		if _, err := schema.ParseGroupVersion(resource.APIVersion); err != nil || resource.APIVersion == "" || resource.Kind == "" {
			return Group{}, fmt.Errorf(".customResourceGroup.resources[%d] must have apiVersion and kind", i)
		}
	}
	group := Group{Types: byKind.Resources, Force: byKind.ForceDelete, All: byKind.DeleteAllResources}
	if byKind.TargetName != nil {
		group.TargetName = *byKind.TargetName
	}
	if group.TargetName != "" && !group.All {
		return Group{}, errors.New(".customResourceGroup.targetName needs deleteAllResources: the item has deployed nothing there")
	}
	if !group.All {
		return group, nil
	}
	group.Protected = protected
	return group, group.checkProtected()
}

// checkProtected refuses a group that asks for all in a protected namespace.
func (g Group) checkProtected() error {
	for i, resource := range g.Types {
		for _, namespace := range resource.Namespaces {
			if slices.Contains(g.Protected, namespace) {
				return fmt.Errorf(".customResourceGroup.resources[%d].namespaces: an administrator protects namespace %s from deleteAllResources: leave it out", i, namespace)
			}
		}
	}
	return nil
}

// spares reports whether an object of a group that deletes all is protected.
func (g Group) spares(kind schema.GroupVersionKind, namespace, name string) bool {
	if kind.Group == "" && kind.Kind == "Namespace" {
		namespace = name
	}
	return slices.Contains(g.Protected, namespace)
}

// takes reports whether a recorded object belongs to the group. Kinds are those of
// the types of the group, in their order.
func (g Group) takes(entry deployer.ManagedResourceStatus, kinds []schema.GroupKind) bool {
	resource := entry.Resource
	switch g.Nature {
	case deployer.NamespacedResources:
		return resource.Kind != apply.CRDKind && resource.Namespace != ""
	case deployer.ClusterScopedResources:
		return resource.Kind != apply.CRDKind && resource.Namespace == ""
	case deployer.CRDResources:
		return resource.Kind == apply.CRDKind
	case deployer.EmptyResources:
		return false
	}
	if g.TargetName != "" {
		return false
	}
	kind := schema.FromAPIVersionAndKind(resource.APIVersion, resource.Kind).GroupKind()
	for i, wanted := range g.Types {
		if kinds[i] == kind && chosen(wanted, resource.Namespace, resource.Name) {
			return true
		}
	}
	return false
}

// chosen reports whether the filters of a type let an object through.
func chosen(wanted deployer.ResourceType, namespace, name string) bool {
	return (len(wanted.Names) == 0 || slices.Contains(wanted.Names, name)) &&
		(len(wanted.Namespaces) == 0 || slices.Contains(wanted.Namespaces, namespace))
}

// distribute gives each recorded object to the first group that takes it. What no
// group takes stays on the cluster, as does what is kept.
//
// It goes through the record from its end, since that is sorted in the order in which
// objects are applied.
func distribute(inventory apply.Inventory, groups []Group, kinds [][]schema.GroupKind) (taken []apply.Inventory, left apply.Inventory) {
	taken = make([]apply.Inventory, len(groups))
	for i := len(inventory) - 1; i >= 0; i-- {
		entry := inventory[i]
		at := -1
		if entry.Policy != deployer.KeepPolicy && entry.Policy != deployer.IgnorePolicy {
			for g, group := range groups {
				if group.takes(entry, kinds[g]) {
					at = g
					break
				}
			}
		}
		if at < 0 {
			left = append(left, entry)
			continue
		}
		taken[at] = append(taken[at], entry)
	}
	return taken, left
}
