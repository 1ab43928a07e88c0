package v1alpha1

import "k8s.io/apimachinery/pkg/types"

// ObjectReference names an object.
type ObjectReference struct {
	// Name is the name of the object.
	// +required
	Name string `json:"name"`
	// Namespace is the namespace of the object.
	// +optional
	Namespace string `json:"namespace"`
}

// NamespacedName returns the reference as the key of a client.
func (r ObjectReference) NamespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// TypedObjectReference names an object of a kind.
type TypedObjectReference struct {
	// APIVersion is the group and version of the object.
	// +required
	APIVersion string `json:"apiVersion"`
	// Kind is the kind of the object.
	// +required
	Kind            string `json:"kind"`
	ObjectReference `json:",inline"`
}

// NamedObjectReference is a reference under a logical name.
type NamedObjectReference struct {
	// Name is the logical name of the reference.
	// +required
	Name string `json:"name"`
	// Reference names the object.
	// +required
	Reference ObjectReference `json:"ref"`
}

// VersionedObjectReference names an object in a state.
type VersionedObjectReference struct {
	ObjectReference `json:",inline"`
	// ObservedGeneration is the generation of the object when it was seen.
	// +required
	ObservedGeneration int64 `json:"observedGeneration"`
}

// VersionedNamedObjectReference is a reference to a state of an object under a
// logical name.
type VersionedNamedObjectReference struct {
	// Name is the logical name of the reference.
	// +required
	Name string `json:"name"`
	// Reference names the object and its state.
	// +required
	Reference VersionedObjectReference `json:"ref"`
}

// LocalSecretReference names a Secret, or one key of it, in the namespace of
// the object that holds the reference.
type LocalSecretReference struct {
	// Name is the name of the Secret.
	// +required
	Name string `json:"name"`
	// Key is the data key that holds the value. Without a key the whole Secret is
	// the value: a map from each key to its content read as YAML.
	// +optional
	Key string `json:"key"`
}

// SecretReference names a Secret, or one key of it.
type SecretReference struct {
	ObjectReference `json:",inline"`
	// Key is the data key that holds the value. Without a key the whole Secret is
	// the value: a map from each key to its content read as YAML.
	// +optional
	Key string `json:"key"`
}

// LocalConfigMapReference names a ConfigMap, or one key of it, in the namespace
// of the object that holds the reference.
type LocalConfigMapReference struct {
	// Name is the name of the ConfigMap.
	// +required
	Name string `json:"name"`
	// Key is the data key that holds the value. Without a key the whole ConfigMap
	// is the value: a map from each key to its content read as YAML.
	// +optional
	Key string `json:"key"`
}

// ConfigMapReference names a ConfigMap, or one key of it.
type ConfigMapReference struct {
	ObjectReference `json:",inline"`
	// Key is the data key that holds the value. Without a key the whole ConfigMap
	// is the value: a map from each key to its content read as YAML.
	// +optional
	Key string `json:"key"`
}

// ResourceReference names a resource of a component.
type ResourceReference struct {
	// ComponentName is the name of the component.
	// +required
	ComponentName string `json:"componentName"`
	// ResourceName is the name of the resource.
	// +required
	ResourceName string `json:"resourceName"`
}

// VersionedResourceReference names a resource of a component version.
type VersionedResourceReference struct {
	ResourceReference `json:",inline"`
	// Version is the version of the component.
	// +required
	Version string `json:"version"`
}
