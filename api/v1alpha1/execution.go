package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Execution holds the deploy items of one Installation and the order among them.
// It is written by the controller and has the name of its Installation.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=executions,singular=execution,shortName=exec
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=ExportRef,type=string,JSONPath=`.status.exportRef.name`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Execution struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec lists the deploy items.
	// +optional
	Spec ExecutionSpec `json:"spec"`
	// Status tells how far the last job came.
	// +optional
	Status ExecutionStatus `json:"status"`
}

// ExecutionList is a list of Executions.
//
// +kubebuilder:object:root=true
type ExecutionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Executions.
	Items []Execution `json:"items"`
}

// ExecutionSpec lists the deploy items of an Installation. Use Items and
// SetItems, which know both forms.
type ExecutionSpec struct {
	// Context names the Context of this namespace for the deploy items.
	// +optional
	// +kubebuilder:default=default
	Context string `json:"context,omitempty"`
	// DeployItems are the deploy items in plain form.
	// +optional
	DeployItems DeployItemTemplateList `json:"deployItems,omitempty"`
	// DeployItemsCompressed are the deploy items as compressed JSON. It takes
	// precedence over the plain form.
	// +optional
	DeployItemsCompressed []byte `json:"deployItemsCompressed,omitempty"`
}

// DeployItemTemplateList is a list of deploy item templates.
type DeployItemTemplateList []DeployItemTemplate

// DeployItemTemplate describes one DeployItem.
type DeployItemTemplate struct {
	// Name is the name of the item inside its Execution.
	// +required
	Name string `json:"name"`
	// Type selects the deployer.
	// +required
	Type DeployItemType `json:"type"`
	// Target names the Target to deploy to.
	// +optional
	Target *ObjectReference `json:"target,omitempty"`
	// Labels are copied to the DeployItem.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Configuration is the configuration for the deployer.
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	// +required
	Configuration *runtime.RawExtension `json:"config"`
	// DependsOn are the names of items that must have succeeded before this one
	// begins.
	// +optional
	DependsOn []string `json:"dependsOn,omitempty"`
	// Timeout limits the time for one job of the item, by default 10m; "none" means
	// no limit.
	// +optional
	Timeout *Duration `json:"timeout,omitempty"`
	// UpdateOnChangeOnly ends a job at once if nothing changed since the last
	// success.
	// +optional
	UpdateOnChangeOnly bool `json:"updateOnChangeOnly,omitempty"`
	// OnDelete says what to do when the item is deleted.
	// +optional
	OnDelete *OnDeleteConfig `json:"onDelete,omitempty"`
	// Given is what the Installation gives to the item besides. Landscaper writes it, for items
	// whose configuration names another Target or a resource of a component.
	// +optional
	Given *Given `json:"given,omitempty"`
}

// Given is what an Installation gives to one of its items: the deployer refuses everything else
// that the configuration names. An item without it may name what it likes, as those that users
// write.
type Given struct {
	// Targets are the names of the Targets that the configuration may name.
	// +optional
	Targets []string `json:"targets,omitempty"`
	// Resource is the resource of a component that the configuration names.
	// +optional
	Resource *GivenResource `json:"resource,omitempty"`
}

// GivenResource is a resource of a component version as the Installation has found it.
type GivenResource struct {
	// ComponentName is the name of the component version.
	// +required
	ComponentName string `json:"componentName"`
	// Version is the version of the component version.
	// +required
	Version string `json:"version"`
	// ComponentDigest identifies what the descriptor of the component version says, without where
	// its contents are.
	// +required
	ComponentDigest string `json:"componentDigest"`
	// Resource is the name of the resource.
	// +required
	ResourceName string `json:"resourceName"`
	// HashAlgorithm is that of the digest of its content, as in the descriptor.
	// +required
	HashAlgorithm string `json:"hashAlgorithm"`
	// NormalisationAlgorithm is that of the digest of its content.
	// +required
	NormalisationAlgorithm string `json:"normalisationAlgorithm"`
	// Value is the digest of its content.
	// +required
	Value string `json:"value"`
}

// OnDeleteConfig says what to do when an item is deleted.
type OnDeleteConfig struct {
	// SkipUninstallIfClusterRemoved skips the removal of what was deployed if the
	// cluster behind a synchronised Target no longer exists.
	// +optional
	SkipUninstallIfClusterRemoved bool `json:"skipUninstallIfClusterRemoved,omitempty"`
}

// ExecutionPhases are the phases of an Execution.
var ExecutionPhases = struct {
	Init, Progressing, Completing, Succeeded, Failed,
	InitDelete, TriggerDelete, Deleting, DeleteFailed ExecutionPhase
}{
	PhaseStringInit, PhaseStringProgressing, PhaseStringCompleting, PhaseStringSucceeded, PhaseStringFailed,
	PhaseStringInitDelete, PhaseStringTriggerDelete, PhaseStringDeleting, PhaseStringDeleteFailed,
}

// ReconcileDeployItemsCondition tells whether the deploy items were written.
const ReconcileDeployItemsCondition ConditionType = "ReconcileDeployItems"

// DuplicateItemsCondition is true when several DeployItems of an Execution have one name, which
// another release may have left. Its message says which of them counts.
const DuplicateItemsCondition ConditionType = "DuplicateItems"

// ExecutionStatus tells how far the last job came.
type ExecutionStatus struct {
	// ObservedGeneration is the generation that the last job worked on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration"`
	// Conditions are the current observations.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// LastError is the error of the last step; absent when it went well.
	// +optional
	LastError *Error `json:"lastError,omitempty"`
	// ExportReference names the DataObject with the exports of all items.
	// +optional
	// +structType=atomic
	ExportReference *ObjectReference `json:"exportRef,omitempty"`
	// DeployItemCache lists the DeployItems.
	// +optional
	// +structType=atomic
	DeployItemCache *DeployItemCache `json:"deployItemCache,omitempty"`
	// JobID identifies the current or last job. Without it there never was one.
	// +optional
	JobID string `json:"jobID,omitempty"`
	// JobIDFinished identifies the last job that has ended.
	// +optional
	JobIDFinished string `json:"jobIDFinished,omitempty"`
	// ExecutionPhase is the stage of the job.
	// +optional
	ExecutionPhase ExecutionPhase `json:"phase,omitempty"`
	// PhaseTransitionTime is when the phase changed last.
	// +optional
	PhaseTransitionTime *metav1.Time `json:"phaseTransitionTime,omitempty"`
	// TransitionTimes tells when the job entered its stages.
	// +optional
	// +structType=atomic
	TransitionTimes *TransitionTimes `json:"transitionTimes,omitempty"`
}

// DeployItemCache lists the DeployItems of an Execution.
type DeployItemCache struct {
	// ActiveDIs are the DeployItems that the Execution asks for.
	// +optional
	ActiveDIs []DiNamePair `json:"activeDIs,omitempty"`
	// OrphanedDIs are the names of DeployItems that are no longer wanted.
	// +optional
	OrphanedDIs []string `json:"orphanedDIs,omitempty"`
}

// DiNamePair connects the name of an item with the object made from it.
type DiNamePair struct {
	// SpecName is the name in the Execution.
	// +required
	SpecName string `json:"specName"`
	// ObjectName is the name of the DeployItem.
	// +required
	ObjectName string `json:"objectName"`
}
