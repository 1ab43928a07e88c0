package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TargetType tells what kind of environment a Target gives access to.
type TargetType string

// KubernetesClusterTargetType is the type of Targets that give access to a
// Kubernetes cluster.
const KubernetesClusterTargetType TargetType = "landscaper.gardener.cloud/kubernetes-cluster"

// DefaultKubeconfigKey is the Secret key that holds a kubeconfig.
const DefaultKubeconfigKey = "kubeconfig"

// Target holds the access to an environment.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=targets,singular=target,shortName=tgt;tg
// +kubebuilder:printcolumn:name=Type,type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name=Context,type=string,JSONPath=`.metadata.labels['data\.landscaper\.gardener\.cloud\/context']`
// +kubebuilder:printcolumn:name=Key,type=string,JSONPath=`.metadata.labels['data\.landscaper\.gardener\.cloud\/key']`
// +kubebuilder:printcolumn:name=Idx,type=string,JSONPath=`.metadata.labels['data\.landscaper\.gardener\.cloud\/index']`
// +kubebuilder:printcolumn:name=TMKey,type=string,JSONPath=`.metadata.labels['data\.landscaper\.gardener\.cloud\/targetmapkey']`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Target struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the access.
	// +optional
	Spec TargetSpec `json:"spec"`
}

// TargetList is a list of Targets.
//
// +kubebuilder:object:root=true
type TargetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Targets.
	Items []Target `json:"items"`
}

// TargetSpec holds the access to an environment: config or secretRef, not both.
type TargetSpec struct {
	// Type tells what kind of environment it is.
	// +required
	Type TargetType `json:"type"`
	// Configuration is the access itself. For a Kubernetes cluster it has one of
	// the fields kubeconfig, oidcConfig and selfConfig.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Configuration *AnyJSON `json:"config,omitempty"`
	// SecretRef names a Secret of this namespace that holds the access.
	// +optional
	SecretRef *LocalSecretReference `json:"secretRef,omitempty"`
}

// TargetTemplate is the value of an exported Target.
type TargetTemplate struct {
	TargetSpec `json:",inline"`
	// Labels are put on the Target.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are put on the Target.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ResolvedTarget is a Target together with the access that it stands for.
type ResolvedTarget struct {
	// Target is the Target.
	// +required
	*Target `json:"target"`
	// Content is the inline configuration, or what the Secret holds.
	// +required
	Content string `json:"content"`
}
