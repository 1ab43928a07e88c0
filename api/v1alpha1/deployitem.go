package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeployItemType selects the deployer of a DeployItem.
type DeployItemType string

// The types of the deployers that come with Landscaper.
const (
	// ManifestDeployItemType is handled by the manifest deployer.
	ManifestDeployItemType DeployItemType = "landscaper.gardener.cloud/kubernetes-manifest"
	// HelmDeployItemType is handled by the Helm deployer.
	HelmDeployItemType DeployItemType = "landscaper.gardener.cloud/helm"
	// ContainerDeployItemType is handled by the container deployer.
	ContainerDeployItemType DeployItemType = "landscaper.gardener.cloud/container"
	// KustomizeDeployItemType is handled by the kustomize deployer.
	KustomizeDeployItemType DeployItemType = "landscaper.gardener.cloud/kustomize"
	// MockDeployItemType is handled by the mock deployer.
	MockDeployItemType DeployItemType = "landscaper.gardener.cloud/mock"
)

// DeployItem is the unit of work of exactly one deployer.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=deployitems,singular=deployitem,shortName=di
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Type,type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=ExportRef,type=string,JSONPath=`.status.exportRef.name`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type DeployItem struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says what to deploy, where and how.
	// +required
	Spec DeployItemSpec `json:"spec"`
	// Status tells how far the last job came.
	// +optional
	Status DeployItemStatus `json:"status"`
}

// DeployItemList is a list of DeployItems.
//
// +kubebuilder:object:root=true
type DeployItemList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the DeployItems.
	Items []DeployItem `json:"items"`
}

// DeployItemSpec says what to deploy, where and how.
type DeployItemSpec struct {
	// Type selects the deployer. It cannot be changed.
	// +required
	Type DeployItemType `json:"type"`
	// Target names the Target to deploy to, in the namespace of the item.
	// +optional
	Target *ObjectReference `json:"target,omitempty"`
	// Context names the Context of this namespace that holds credentials.
	// +optional
	// +kubebuilder:default=default
	Context string `json:"context,omitempty"`
	// Configuration is the configuration for the deployer.
	// +optional
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	Configuration *runtime.RawExtension `json:"config,omitempty"`
	// Timeout limits the time for one job, by default 10m; "none" means no limit.
	// +optional
	Timeout *Duration `json:"timeout,omitempty"`
	// UpdateOnChangeOnly ends a job at once if nothing changed since the last
	// success.
	// +optional
	UpdateOnChangeOnly bool `json:"updateOnChangeOnly,omitempty"`
	// OnDelete says what to do when the item is deleted.
	// +optional
	OnDelete *OnDeleteConfig `json:"onDelete,omitempty"`
}

// DefaultDeployItemTimeout is the time for a job of an item that says nothing else.
const DefaultDeployItemTimeout = 10 * time.Minute

// TimeLimit returns the time that a job of the item may take; 0 means that it has no
// limit. A timeout that cannot be read does not count: an item must be deletable
// whatever is in it.
func (s *DeployItemSpec) TimeLimit() time.Duration {
	if s.Timeout != nil {
		if limit, err := s.Timeout.Parsed(); err == nil {
			return limit
		}
	}
	return DefaultDeployItemTimeout
}

// DeployItemPhases are the phases of a DeployItem.
var DeployItemPhases = struct {
	Init, Progressing, Completing, Succeeded, Failed,
	InitDelete, Deleting, DeleteFailed DeployItemPhase
}{
	PhaseStringInit, PhaseStringProgressing, PhaseStringCompleting, PhaseStringSucceeded, PhaseStringFailed,
	PhaseStringInitDelete, PhaseStringDeleting, PhaseStringDeleteFailed,
}

// DeployItemValidationCondition tells whether the configuration is valid.
const DeployItemValidationCondition ConditionType = "DeployItemValidation"

// DriftedCondition shows whether another client has changed the objects of an item. It
// exists only if the item asks for comparisons.
const DriftedCondition ConditionType = "Drifted"

// DeployItemStatus tells how far the last job came.
type DeployItemStatus struct {
	// Phase is the stage of the job.
	// +optional
	Phase DeployItemPhase `json:"phase,omitempty"`
	// PhaseTransitionTime is when the phase changed last.
	// +optional
	PhaseTransitionTime *metav1.Time `json:"phaseTransitionTime,omitempty"`
	// ObservedGeneration is the generation that the last job worked on.
	// +required
	ObservedGeneration int64 `json:"observedGeneration"`
	// Conditions are the current observations.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// LastError is the error of the last step; absent when it went well.
	// +optional
	LastError *Error `json:"lastError,omitempty"`
	// LastErrors are the newest errors of the current job.
	// +optional
	LastErrors []*Error `json:"lastErrors,omitempty"`
	// FirstError is the first error of the current job.
	// +optional
	FirstError *Error `json:"firstError,omitempty"`
	// LastReconcileTime is when a deployer picked up the current job.
	// +optional
	LastReconcileTime *metav1.Time `json:"lastReconcileTime,omitempty"`
	// Deployer tells who handles the item.
	// +optional
	// +structType=atomic
	Deployer DeployerInformation `json:"deployer"`
	// ProviderStatus is the deployer's own record.
	// +optional
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	ProviderStatus *runtime.RawExtension `json:"providerStatus,omitempty"`
	// ExportReference names the Secret with the exports of the item.
	// +optional
	// +structType=atomic
	ExportReference *ObjectReference `json:"exportRef,omitempty"`
	// JobID identifies the current or last job. Without it there never was one.
	// +optional
	JobID string `json:"jobID,omitempty"`
	// JobIDFinished identifies the last job that has ended.
	// +optional
	JobIDFinished string `json:"jobIDFinished,omitempty"`
	// JobIDGenerationTime is when the job was assigned. The time that a deployer
	// has to pick up the job begins here.
	// +optional
	JobIDGenerationTime *metav1.Time `json:"jobIDGenerationTime,omitempty"`
	// DeployerPhase was the phase of old releases. It is accepted and not used.
	// +optional
	DeployerPhase *string `json:"deployItemPhase,omitempty"`
	// TransitionTimes tells when the job entered its stages.
	// +optional
	// +structType=atomic
	TransitionTimes *TransitionTimes `json:"transitionTimes,omitempty"`
}

// DeployerInformation tells who handles a DeployItem.
type DeployerInformation struct {
	// Identity names the running deployer.
	// +required
	Identity string `json:"identity"`
	// Name names the kind of deployer.
	// +required
	Name string `json:"name"`
	// Version is the version of the deployer.
	// +required
	Version string `json:"version"`
}

// TargetSelector says which Targets a deployer serves. All parts that are given
// must match.
type TargetSelector struct {
	// Targets match a Target by name and, where it is given, namespace.
	// +optional
	Targets []ObjectReference `json:"targets,omitempty"`
	// Annotations must all match the annotations of the Target.
	// +optional
	Annotations []Requirement `json:"annotations,omitempty"`
	// Labels must all match the labels of the Target.
	// +optional
	Labels []Requirement `json:"labels,omitempty"`
}

// Requirement is a condition on a label or an annotation.
type Requirement struct {
	// Key is the key of the label or annotation.
	// +required
	Key string `json:"key"`
	// Operator is one of =, ==, !=, in, notin, exists, !, gt and lt.
	// +optional
	Operator string `json:"operator,omitempty"`
	// Operation is another spelling of operator.
	// +optional
	Operation string `json:"operation,omitempty"`
	// Values are compared with the value under the key.
	// +optional
	Values []string `json:"values,omitempty"`
}
