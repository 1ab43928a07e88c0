package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeliveryRevision keeps a specification of a root Installation with which a job has begun. The server
// writes one for each generation where a DeliveryPolicy asks for it, and deletes those that are too many;
// it goes with its Installation. It never changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=deliveryrevisions,singular=deliveryrevision,shortName=dlr
// +kubebuilder:printcolumn:name=Installation,type=string,JSONPath=`.spec.installation`
// +kubebuilder:printcolumn:name=Generation,type=integer,JSONPath=`.spec.generation`
// +kubebuilder:printcolumn:name=Component,type=string,JSONPath=`.spec.component`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type DeliveryRevision struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what is kept.
	// +required
	Spec DeliveryRevisionSpec `json:"spec"`
}

// DeliveryRevisionList is a list of DeliveryRevisions.
//
// +kubebuilder:object:root=true
type DeliveryRevisionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the DeliveryRevisions.
	Items []DeliveryRevision `json:"items"`
}

// DeliveryRevisionSpec is a specification of an Installation, and what is known of it.
type DeliveryRevisionSpec struct {
	// Installation is the name of the root.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Installation string `json:"installation"`
	// Generation is that of the Installation.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a DeliveryRevision does not change"
	Generation int64 `json:"generation"`
	// Component is the component that the specification refers to, with its version.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Component string `json:"component,omitempty"`
	// Digest tells specifications apart. A revision whose specification has another one does not count.
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a DeliveryRevision does not change"
	Digest string `json:"digest"`
	// LastSucceeded is the last generation before this one with which a job has succeeded; absent if
	// none is kept.
	// +optional
	LastSucceeded int64 `json:"lastSucceeded,omitempty"`
	// WentBackFrom are the digests of specifications that the server has replaced because their jobs
	// have failed. It does so once for each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	WentBackFrom []string `json:"wentBackFrom,omitempty"`
	// Specification is the field spec of the Installation.
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Specification runtime.RawExtension `json:"specification"`
}

// RollbackMode says when the server goes back to an earlier specification by itself.
//
// +kubebuilder:validation:Enum=Never;OnFailure
type RollbackMode string

const (
	// RollbackNever leaves it to users.
	RollbackNever RollbackMode = "Never"
	// RollbackOnFailure goes back when the job of a specification fails that has not succeeded before.
	RollbackOnFailure RollbackMode = "OnFailure"
)

// History keeps specifications of Installations.
type History struct {
	// Revisions is how many specifications of an Installation are kept, besides the last one that has
	// succeeded.
	// +required
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=20
	Revisions int32 `json:"revisions"`
	// Rollback is when the server goes back to an earlier specification by itself: never, or when the
	// job of a specification fails that has not succeeded before. It does so once for a specification.
	// +optional
	// +kubebuilder:default=Never
	Rollback RollbackMode `json:"rollback,omitempty"`
}
