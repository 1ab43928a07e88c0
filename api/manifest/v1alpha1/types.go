package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/deployer"
)

// Configuration configures a manifest deployer process.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type Configuration struct {
	metav1.TypeMeta               `json:",inline"`
	deployer.ProcessConfiguration `json:",inline"`
	// Export is accepted and has no effect.
	// +optional
	Export deployer.ExportConfiguration `json:"export,omitzero"`
}

// ProviderConfiguration says which objects a DeployItem deploys.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// UpdateStrategy says how objects that exist are changed, by default update.
	// +optional
	UpdateStrategy deployer.UpdateStrategy `json:"updateStrategy,omitempty"`
	// ReadinessChecks say when the objects count as ready.
	// +optional
	ReadinessChecks deployer.ReadinessCheckConfiguration `json:"readinessChecks,omitzero"`
	// Manifests are the objects. All of them are managed.
	// +optional
	Manifests []*runtime.RawExtension `json:"manifests,omitempty"`
	// Exports are the values that are exported.
	// +optional
	Exports *deployer.Exports `json:"exports,omitempty"`
	// DeletionGroups are the steps in which the objects are deleted.
	// +optional
	DeletionGroups []deployer.DeletionGroupDefinition `json:"deletionGroups,omitempty"`
	// DeletionGroupsDuringUpdate are the steps in which objects are deleted that
	// are no longer listed.
	// +optional
	DeletionGroupsDuringUpdate []deployer.DeletionGroupDefinition `json:"deletionGroupsDuringUpdate,omitempty"`
}

// ProviderStatus records what a DeployItem deployed.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderStatus struct {
	metav1.TypeMeta `json:",inline"`
	// ManagedResources are the objects.
	// +optional
	ManagedResources []deployer.TypedObjectReference `json:"managedResources,omitempty"`
}
