package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/deployer"
	core "go.landscaper.dev/api/v1alpha1"
)

// Configuration configures a container deployer process.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type Configuration struct {
	metav1.TypeMeta               `json:",inline"`
	deployer.ProcessConfiguration `json:",inline"`
	// Namespace is the namespace of the pods, by default default.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// DefaultImage runs for items that name no image.
	// +optional
	DefaultImage ContainerSpec `json:"defaultImage,omitzero"`
	// InitContainer prepares the inputs.
	// +optional
	InitContainer ContainerSpec `json:"initContainer,omitzero"`
	// WaitContainer collects the outputs.
	// +optional
	WaitContainer ContainerSpec `json:"waitContainer,omitzero"`
	// OCI tells how to reach OCI registries.
	// +optional
	OCI *deployer.OCIConfiguration `json:"oci,omitempty"`
	// GarbageCollection removes what vanished items left behind.
	// +optional
	GarbageCollection GarbageCollection `json:"garbageCollection,omitzero"`
	// DebugOptions help with the development of images.
	// +optional
	DebugOptions *DebugOptions `json:"debug,omitempty"`
}

// ContainerSpec is an image and how to run it.
type ContainerSpec struct {
	// Image is the image.
	// +optional
	Image string `json:"image,omitempty"`
	// Command replaces the entry point of the image.
	// +optional
	Command []string `json:"command,omitempty"`
	// Args are the arguments.
	// +optional
	Args []string `json:"args,omitempty"`
	// ImagePullPolicy says when the image is pulled.
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
}

// GarbageCollection removes what vanished items left behind.
type GarbageCollection struct {
	// Disable switches it off.
	// +optional
	Disable bool `json:"disable,omitempty"`
	// Worker is the number of removals at the same time.
	// +optional
	Worker int `json:"worker,omitempty"`
	// RequeueTimeSeconds is the time between two runs.
	// +optional
	RequeueTimeSeconds int `json:"requeueTimeSeconds,omitempty"`
}

// DebugOptions help with the development of images.
type DebugOptions struct {
	// KeepPod keeps finished pods.
	// +optional
	KeepPod bool `json:"keepPod,omitempty"`
}

// ProviderConfiguration says which image a DeployItem runs.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// Image is the image.
	// +optional
	Image string `json:"image,omitempty"`
	// Command replaces the entry point of the image.
	// +optional
	Command []string `json:"command,omitempty"`
	// Args are the arguments.
	// +optional
	Args []string `json:"args,omitempty"`
	// ImportValues are handed to the program as a file.
	// +optional
	ImportValues core.AnyJSON `json:"importValues,omitzero"`
	// ComponentDescriptor names the component that is handed to the program.
	// +optional
	ComponentDescriptor *core.ComponentDescriptorDefinition `json:"componentDescriptor,omitempty"`
	// Blueprint names the blueprint whose files are handed to the program.
	// +optional
	Blueprint *core.BlueprintDefinition `json:"blueprint,omitempty"`
	// RegistryPullSecrets are credentials for registries.
	// +optional
	RegistryPullSecrets []core.ObjectReference `json:"registryPullSecrets,omitempty"`
	// ContinuousReconcile repeats the run.
	// +optional
	ContinuousReconcile *deployer.ContinuousReconcileSpec `json:"continuousReconcile,omitempty"`
}

// ProviderStatus records the last run.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderStatus struct {
	metav1.TypeMeta `json:",inline"`
	// LastOperation is RECONCILE or DELETE.
	// +optional
	LastOperation string `json:"lastOperation,omitempty"`
	// PodStatus describes the pod.
	// +optional
	PodStatus *PodStatus `json:"podStatus,omitempty"`
}

// PodStatus describes the pod of a run.
type PodStatus struct {
	// PodName is the name of the pod.
	// +optional
	PodName string `json:"podName,omitempty"`
	// LastRun is when the pod was started.
	// +optional
	LastRun *metav1.Time `json:"lastRun,omitempty"`
	// LastSuccessfulJobID is the last job that went well.
	// +optional
	LastSuccessfulJobID *string `json:"lastSuccessfulJobID,omitempty"`
	// ContainerStatus describes the main container.
	// +optional
	ContainerStatus ContainerStatus `json:"containerStatus,omitzero"`
	// InitContainerStatus describes the init container.
	// +optional
	InitContainerStatus ContainerStatus `json:"initContainerStatus,omitzero"`
	// WaitContainerStatus describes the wait container.
	// +optional
	WaitContainerStatus ContainerStatus `json:"waitContainerStatus,omitzero"`
}

// ContainerStatus describes a container.
type ContainerStatus struct {
	// Message explains the state.
	// +optional
	Message string `json:"message,omitempty"`
	// Reason is a short word for the cause.
	// +optional
	Reason string `json:"reason,omitempty"`
	// State is the state.
	// +optional
	State corev1.ContainerState `json:"state,omitzero"`
	// Image is the image.
	// +optional
	Image string `json:"image,omitempty"`
	// ImageID is the digest of the image.
	// +optional
	ImageID string `json:"imageID,omitempty"`
	// ExitCode is the exit code of the program.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}

const (
	// InitContainerCondition describes the init container.
	InitContainerCondition core.ConditionType = "InitContainer"
	// WaitContainerCondition describes the wait container.
	WaitContainerCondition core.ConditionType = "WaitContainer"
)
