package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TargetSync makes Targets from the shoots of a Gardener project or from Secrets
// of another cluster and keeps them up to date. There may be one per namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=targetsyncs,singular=targetsync,shortName=tgs
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Source,type=string,JSONPath=`.spec.sourceNamespace`
// +kubebuilder:printcolumn:name=Targets,type=integer,JSONPath=`.status.syncedTargets`
// +kubebuilder:printcolumn:name=Failed,type=integer,JSONPath=`.status.failedTargets`
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type TargetSync struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
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
	// +required
	SourceNamespace string `json:"sourceNamespace"`
	// SecretRef names the Secret with the kubeconfig of the source cluster.
	// +required
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
	// LastUpdateTime is when a synchronisation last changed something, here or in a
	// Target. One that finds everything as it should be writes nothing.
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// LastErrors are the errors of the last synchronisation.
	// +optional
	LastErrors []string `json:"lastErrors,omitempty"`
	// LastTokenRotationTime is when the token was renewed last.
	// +optional
	LastTokenRotationTime *metav1.Time `json:"lastTokenRotationTime,omitempty"`
	// LastSuccessTime is when a synchronisation last went well altogether, as far as
	// that was worth a write.
	// +optional
	LastSuccessTime *metav1.Time `json:"lastSuccessTime,omitempty"`
	// SyncedTargets is how many Targets are as they should be.
	// +optional
	SyncedTargets int32 `json:"syncedTargets,omitempty"`
	// SkippedTargets is how many shoots or Secrets have to wait, which is no error.
	// +optional
	SkippedTargets int32 `json:"skippedTargets,omitempty"`
	// FailedTargets is how many could not be synchronised.
	// +optional
	FailedTargets int32 `json:"failedTargets,omitempty"`
	// Items are the shoots and Secrets that failed or have to wait, the first 100 of
	// them.
	// +optional
	Items []TargetSyncItem `json:"items,omitempty"`
}

// TargetSyncItem describes a shoot or a Secret whose Target is not up to date.
type TargetSyncItem struct {
	// Name is the name of the shoot or Secret, and of its Target.
	// +required
	Name string `json:"name"`
	// State tells whether it failed or waits.
	// +required
	State TargetSyncItemState `json:"state"`
	// Message tells why, and what to do.
	// +optional
	Message string `json:"message,omitempty"`
}

// TargetSyncItemState tells how it stands with a shoot or a Secret.
type TargetSyncItemState string

const (
	// TargetSyncItemFailed means that its Target could not be brought up to date.
	TargetSyncItemFailed TargetSyncItemState = "Failed"
	// TargetSyncItemSkipped means that it has to wait, which is no error.
	TargetSyncItemSkipped TargetSyncItemState = "Skipped"
)

// The conditions of a TargetSync.
const (
	// TargetSyncReady means that all Targets are as they should be.
	TargetSyncReady ConditionType = "Ready"
	// TargetSyncSourceReachable means that the source could be listed completely.
	TargetSyncSourceReachable ConditionType = "SourceReachable"
	// TargetSyncTokenRotated means that the token of the source is renewed in time.
	TargetSyncTokenRotated ConditionType = "TokenRotated"
)
