package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TargetSync makes Targets from the shoots of a Gardener project or from Secrets
// of another cluster and keeps them up to date. There may be one per namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=targetsyncs,singular=targetsync,shortName=tgs
// +kubebuilder:subresource:status
type TargetSync struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says where the Targets come from.
	// +optional
	Spec TargetSyncSpec `json:"spec"`
	// Status tells how the last synchronisation went.
	// +optional
	Status TargetSyncStatus `json:"status"`
}

// TargetSyncList is a list of TargetSyncs.
//
// +kubebuilder:object:root=true
type TargetSyncList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the TargetSyncs.
	Items []TargetSync `json:"items"`
}

// TargetSyncSpec says where the Targets come from: secretNameExpression or
// shootNameExpression, not both.
type TargetSyncSpec struct {
	// SourceNamespace is the namespace on the source cluster.
	SourceNamespace string `json:"sourceNamespace"`
	// SecretRef names the Secret with the kubeconfig of the source cluster.
	SecretRef LocalSecretReference `json:"secretRef"`
	// CreateTargetToSource asks for a Target to the source cluster itself.
	// +optional
	CreateTargetToSource bool `json:"createTargetToSource,omitempty"`
	// TargetToSourceName is the name of that Target, by default the source
	// namespace.
	// +optional
	TargetToSourceName string `json:"targetToSourceName,omitempty"`
	// SecretNameExpression selects Secrets of the source namespace by a regular
	// expression (RE2, not anchored). "*" selects all; without it none are selected.
	// +optional
	SecretNameExpression string `json:"secretNameExpression"`
	// ShootNameExpression selects shoots of the source namespace by a regular
	// expression (RE2, not anchored). "*" selects all; without it none are selected.
	// +optional
	ShootNameExpression string `json:"shootNameExpression"`
	// TokenRotation renews the token in the kubeconfig of the source cluster.
	// +optional
	TokenRotation *TokenRotation `json:"tokenRotation,omitempty"`
}

// TokenRotation renews the token in the kubeconfig of the source cluster.
type TokenRotation struct {
	// Enabled switches the rotation on.
	// +optional
	Enabled bool `json:"enabled,omitempty"`
}

// TargetSyncStatus tells how the last synchronisation went.
type TargetSyncStatus struct {
	// ObservedGeneration is the generation that was synchronised last.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration"`
	// Conditions are the current observations.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// LastUpdateTime is when the last synchronisation ended.
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// LastErrors are the errors of the last synchronisation.
	// +optional
	LastErrors []string `json:"lastErrors,omitempty"`
	// LastTokenRotationTime is when the token was renewed last.
	// +optional
	LastTokenRotationTime *metav1.Time `json:"lastTokenRotationTime,omitempty"`
}
