package gardener

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations and labels for the resource manager and its garbage collector.
const (
	// IgnoreAnnotation of a ManagedResource makes the resource manager ignore all its objects; on
	// an object, the object is created but never changed.
	IgnoreAnnotation = "resources.gardener.cloud/ignore"
	// GarbageLabel is on Secrets that are deleted when they are not referenced any more.
	GarbageLabel = "resources.gardener.cloud/garbage-collectable-reference"
	// ReferenceAnnotationPrefix is the prefix of the annotations that refer to them.
	ReferenceAnnotationPrefix = "reference.resources.gardener.cloud/secret-"
	// NoCleanupLabel is on objects that gardenlet does not delete with a shoot.
	NoCleanupLabel = "shoot.gardener.cloud/no-cleanup"
	// ModeAnnotation with the value ModeIgnore lets an object leave a ManagedResource
	// without being deleted.
	ModeAnnotation = "resources.gardener.cloud/mode"
	ModeIgnore     = "Ignore"
	// OriginAnnotation is set by the resource manager on objects: the ManagedResource that they
	// belong to.
	OriginAnnotation = "resources.gardener.cloud/origin"
)

// The conditions of a ManagedResource.
const (
	ResourcesApplied     = "ResourcesApplied"
	ResourcesHealthy     = "ResourcesHealthy"
	ResourcesProgressing = "ResourcesProgressing"
)

// ManagedResource asks the resource manager to keep objects in a shoot.
//
// +kubebuilder:object:root=true
type ManagedResource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ManagedResourceSpec   `json:"spec"`
	Status ManagedResourceStatus `json:"status,omitempty"`
}

// ManagedResourceSpec names the Secrets with the objects.
type ManagedResourceSpec struct {
	Class        *string                       `json:"class,omitempty"`
	SecretRefs   []corev1.LocalObjectReference `json:"secretRefs"`
	InjectLabels map[string]string             `json:"injectLabels,omitempty"`
	KeepObjects  *bool                         `json:"keepObjects,omitempty"`
}

// ManagedResourceStatus is written by the resource manager.
type ManagedResourceStatus struct {
	Conditions         []Condition `json:"conditions,omitempty"`
	ObservedGeneration int64       `json:"observedGeneration,omitempty"`
	// Resources are the objects that it has applied.
	Resources []ManagedObject `json:"resources,omitempty"`
}

// ManagedObject is an object of a shoot.
type ManagedObject struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
}

// ManagedResourceList is a list of ManagedResources.
//
// +kubebuilder:object:root=true
type ManagedResourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ManagedResource `json:"items"`
}
