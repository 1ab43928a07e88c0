package gardener

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is told to the resource manager, and found by its garbage collector.
const (
	// IgnoreAnnotation of a ManagedResource keeps the resource manager away from all its
	// objects; of an object, it lets the object be created but never changed.
	IgnoreAnnotation = "resources.gardener.cloud/ignore"
	// GarbageLabel is on Secrets that go when nobody refers to them.
	GarbageLabel = "resources.gardener.cloud/garbage-collectable-reference"
	// ReferenceAnnotationPrefix begins the annotations that refer to them.
	ReferenceAnnotationPrefix = "reference.resources.gardener.cloud/secret-"
	// NoCleanupLabel is on objects that gardenlet leaves alone when a shoot is deleted.
	NoCleanupLabel = "shoot.gardener.cloud/no-cleanup"
	// ModeAnnotation with the value ModeIgnore lets an object leave a ManagedResource
	// without being deleted.
	ModeAnnotation = "resources.gardener.cloud/mode"
	ModeIgnore     = "Ignore"
	// OriginAnnotation is what the resource manager writes on objects: the ManagedResource
	// that they are of.
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

// ManagedResourceSpec says which objects.
type ManagedResourceSpec struct {
	Class        *string                       `json:"class,omitempty"`
	SecretRefs   []corev1.LocalObjectReference `json:"secretRefs"`
	InjectLabels map[string]string             `json:"injectLabels,omitempty"`
	KeepObjects  *bool                         `json:"keepObjects,omitempty"`
}

// ManagedResourceStatus is what the resource manager says.
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
