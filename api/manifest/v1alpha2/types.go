package v1alpha2

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
	// Manifests are the objects.
	// +optional
	Manifests []Manifest `json:"manifests,omitempty"`
	// Exports are the values that are exported.
	// +optional
	Exports *deployer.Exports `json:"exports,omitempty"`
	// ContinuousReconcile repeats the deployment.
	// +optional
	ContinuousReconcile *deployer.ContinuousReconcileSpec `json:"continuousReconcile,omitempty"`
	// DeletionGroups are the steps in which the objects are deleted.
	// +optional
	DeletionGroups []deployer.DeletionGroupDefinition `json:"deletionGroups,omitempty"`
	// DeletionGroupsDuringUpdate are the steps in which objects are deleted that
	// are no longer listed.
	// +optional
	DeletionGroupsDuringUpdate []deployer.DeletionGroupDefinition `json:"deletionGroupsDuringUpdate,omitempty"`
}

// Manifest is an object to deploy.
type Manifest struct {
	// Policy says what the deployer may do with the object, by default manage.
	// +optional
	Policy deployer.ManifestPolicy `json:"policy,omitempty"`
	// Manifest is the object, or a list of objects.
	// +required
	Manifest *runtime.RawExtension `json:"manifest"`
	// AnnotateBeforeCreate are annotations to set when the object is created.
	// +optional
	AnnotateBeforeCreate map[string]string `json:"annotateBeforeCreate,omitempty"`
	// AnnotateBeforeDelete are annotations to set before the object is deleted.
	// +optional
	AnnotateBeforeDelete map[string]string `json:"annotateBeforeDelete,omitempty"`
	// PatchAfterDeployment is merged into the object once it is ready.
	// +optional
	PatchAfterDeployment *runtime.RawExtension `json:"patchAfterDeployment,omitempty"`
	// PatchBeforeDelete is merged into the object before it is deleted.
	// +optional
	PatchBeforeDelete *runtime.RawExtension `json:"patchBeforeDelete,omitempty"`
	// OnImmutableChange says what to do when a field that cannot be changed
	// differs, by default fail. For the update strategy apply.
	// +optional
	OnImmutableChange ImmutableChange `json:"onImmutableChange,omitempty"`
	// Conflicts says what to do when another owner set a field, by default force.
	// For the update strategy apply.
	// +optional
	Conflicts ConflictPolicy `json:"conflicts,omitempty"`
	// IgnoreDifferences are JSON pointers to fields that may differ. For the update
	// strategy apply.
	// +optional
	IgnoreDifferences []string `json:"ignoreDifferences,omitempty"`
}

// ImmutableChange says what to do when a field that cannot be changed differs.
type ImmutableChange string

const (
	// ImmutableChangeFail fails the item.
	ImmutableChangeFail ImmutableChange = "fail"
	// ImmutableChangeRecreate deletes the object and creates it again.
	ImmutableChangeRecreate ImmutableChange = "recreate"
)

// ConflictPolicy says what to do when another owner set a field.
type ConflictPolicy string

const (
	// ConflictForce takes the field over.
	ConflictForce ConflictPolicy = "force"
	// ConflictFail fails the item.
	ConflictFail ConflictPolicy = "fail"
)

// ProviderStatus records what a DeployItem deployed.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderStatus struct {
	metav1.TypeMeta `json:",inline"`
	// ManagedResources are the objects.
	// +optional
	ManagedResources       deployer.ManagedResourceStatusList `json:"managedResources,omitempty"`
	deployer.ClusterRecord `json:",inline"`
}
