package deployer

import "encoding/json"

// PredefinedResourceGroupType names a group of deployed objects.
type PredefinedResourceGroupType string

const (
	// NamespacedResources are all objects with a namespace.
	NamespacedResources PredefinedResourceGroupType = "namespaced-resources"
	// ClusterScopedResources are all objects without a namespace but CRDs.
	ClusterScopedResources PredefinedResourceGroupType = "cluster-scoped-resources"
	// CRDResources are all CustomResourceDefinitions.
	CRDResources PredefinedResourceGroupType = "crds"
	// EmptyResources matches no resources.
	EmptyResources PredefinedResourceGroupType = "empty"
)

// DeletionGroupDefinition is a step of a deletion: exactly one of both groups.
// Objects that are in no group stay.
type DeletionGroupDefinition struct {
	// PredefinedResourceGroup is a group by nature.
	// +optional
	PredefinedResourceGroup *PredefinedResourceGroup `json:"predefinedResourceGroup,omitempty"`
	// CustomResourceGroup is a group by kind.
	// +optional
	CustomResourceGroup *CustomResourceGroup `json:"customResourceGroup,omitempty"`
}

// PredefinedResourceGroup is a group by nature.
type PredefinedResourceGroup struct {
	// Type names the group.
	// +required
	Type PredefinedResourceGroupType `json:"type"`
	// ForceDelete removes finalizers, too.
	// +optional
	ForceDelete bool `json:"forceDelete,omitempty"`
}

// CustomResourceGroup is a group by kind.
type CustomResourceGroup struct {
	// Resources are the kinds.
	// +required
	Resources []ResourceType `json:"resources"`
	// ForceDelete removes finalizers, too.
	// +optional
	ForceDelete bool `json:"forceDelete,omitempty"`
	// DeleteAllResources deletes all objects of these kinds, also those that the
	// item did not deploy.
	// +optional
	DeleteAllResources bool `json:"deleteAllResources,omitempty"`
	// TargetName names another Target of the namespace; it needs
	// deleteAllResources.
	// +optional
	TargetName *string `json:"targetName,omitempty"`
}

// ResourceType is a kind, limited by names and namespaces where they are given.
type ResourceType struct {
	// APIVersion is the group and version of the kind.
	// +required
	APIVersion string `json:"apiVersion"`
	// Kind is the kind, or its resource name.
	// +required
	Kind string `json:"kind"`
	// Names limits the objects by name.
	// +optional
	Names []string `json:"names,omitempty"`
	// Namespaces limits the objects by namespace.
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`
}

// UnmarshalJSON accepts "force-delete" for "forceDelete".
func (g *PredefinedResourceGroup) UnmarshalJSON(data []byte) error {
	type plain PredefinedResourceGroup
	return unmarshalForced(data, (*plain)(g), &g.ForceDelete)
}

// UnmarshalJSON accepts "force-delete" for "forceDelete".
func (g *CustomResourceGroup) UnmarshalJSON(data []byte) error {
	type plain CustomResourceGroup
	return unmarshalForced(data, (*plain)(g), &g.ForceDelete)
}

func unmarshalForced(data []byte, into any, force *bool) error {
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	var alias struct {
		ForceDelete bool `json:"force-delete"`
	}
	if err := json.Unmarshal(data, &alias); err != nil {
		return err
	}
	*force = *force || alias.ForceDelete
	return nil
}

// UnmarshalJSON accepts "namespace" (a name or a list) for "namespaces".
func (t *ResourceType) UnmarshalJSON(data []byte) error {
	type plain ResourceType
	if err := json.Unmarshal(data, (*plain)(t)); err != nil {
		return err
	}
	var alias struct {
		Namespace json.RawMessage `json:"namespace"`
	}
	if err := json.Unmarshal(data, &alias); err != nil || len(alias.Namespace) == 0 || string(alias.Namespace) == "null" {
		return err
	}
	var one string
	if json.Unmarshal(alias.Namespace, &one) == nil {
		t.Namespaces = append(t.Namespaces, one)
		return nil
	}
	var several []string
	if err := json.Unmarshal(alias.Namespace, &several); err != nil {
		return err
	}
	t.Namespaces = append(t.Namespaces, several...)
	return nil
}
