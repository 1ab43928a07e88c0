package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ApprovalWhen says which plans need an approval.
//
// +kubebuilder:validation:Enum=Always;Deletions;Objects
type ApprovalWhen string

const (
	// ApproveAlways is for all plans.
	ApproveAlways ApprovalWhen = "Always"
	// ApproveDeletions is for plans that delete an object, or delete one and create it again.
	ApproveDeletions ApprovalWhen = "Deletions"
	// ApproveObjects is for plans that change more than a number of objects.
	ApproveObjects ApprovalWhen = "Objects"
)

// UnknownParts says what becomes of a plan with parts that only the job can know.
//
// +kubebuilder:validation:Enum=Acknowledge;Refuse
type UnknownParts string

const (
	// AcknowledgeUnknown lets approvals say that they cover the unknown parts.
	AcknowledgeUnknown UnknownParts = "Acknowledge"
	// RefuseUnknown lets no such plan be carried out.
	RefuseUnknown UnknownParts = "Refuse"
)

// ApprovalRule says which plans need an approval, and whose. A plan with parts that only the job can
// know needs one whatever When says.
//
// +kubebuilder:validation:XValidation:rule="has(self.objects) == (has(self.when) && self.when == 'Objects')",message="objects belongs to when: Objects"
type ApprovalRule struct {
	// When says which plans need an approval.
	// +optional
	// +kubebuilder:default=Always
	When ApprovalWhen `json:"when,omitempty"`
	// Objects is how many objects a plan may create, change, move and delete without an approval.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Objects *int32 `json:"objects,omitempty"`
	// Approvers is how many users have to approve a plan.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2
	Approvers int32 `json:"approvers,omitempty"`
	// ValidFor is how long after an approval the job may begin, up to 30 days.
	// +optional
	// +kubebuilder:default="24h"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self) <= duration('720h')",message="write a time above 0 and up to 720h, such as 24h or 90m"
	ValidFor string `json:"validFor,omitempty"`
	// Unknown says what becomes of a plan with parts that only the job can know.
	// +optional
	// +kubebuilder:default=Acknowledge
	Unknown UnknownParts `json:"unknown,omitempty"`
}

// DeliveryPlan is what a job of a root would change. The server writes it for a job that needs an
// approval, and never changes it: another plan is another object. A large one has further parts.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=deliveryplans,singular=deliveryplan,shortName=dlpl
// +kubebuilder:printcolumn:name=Installation,type=string,JSONPath=`.spec.installation.name`
// +kubebuilder:printcolumn:name=Create,type=integer,JSONPath=`.spec.summary.create`
// +kubebuilder:printcolumn:name=Change,type=integer,JSONPath=`.spec.summary.change`
// +kubebuilder:printcolumn:name=Delete,type=integer,JSONPath=`.spec.summary.delete`
// +kubebuilder:printcolumn:name=Unknown,type=integer,JSONPath=`.spec.summary.unknown`
// +kubebuilder:printcolumn:name=Digest,type=string,JSONPath=`.spec.digest`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type DeliveryPlan struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the plan.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a plan is not changed: another one is another object"
	Spec DeliveryPlanSpec `json:"spec"`
}

// DeliveryPlanList is a list of DeliveryPlans.
//
// +kubebuilder:object:root=true
type DeliveryPlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the DeliveryPlans.
	Items []DeliveryPlan `json:"items"`
}

// DeliveryPlanSpec is what a job would change.
type DeliveryPlanSpec struct {
	// Installation is the root that the job would be of.
	// +required
	Installation PlannedInstallation `json:"installation"`
	// Digest identifies the plan, and all that it follows from.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest"`
	// Summary counts what would change.
	// +optional
	Summary PlanSummary `json:"summary,omitempty"`
	// Follows are the roots that get a job because of what this one exports. Their plans are their own.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Follows []string `json:"follows,omitempty"`
	// Part is the number of this part, from 0 on, of Parts.
	// +optional
	Part int32 `json:"part,omitempty"`
	// Parts is how many objects the plan consists of.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Parts int32 `json:"parts"`
	// Content is this part of the plan: compressed JSON, as landscaper-cli plans show prints it. It has
	// no values of Secrets.
	// +optional
	Content []byte `json:"content,omitempty"`
}

// PlannedInstallation is the Installation of a plan.
type PlannedInstallation struct {
	// Name is its name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// UID is its UID: another Installation of the name has another one.
	// +required
	UID types.UID `json:"uid"`
	// Generation is the generation of its specification.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// Deleted says that the plan is that of its deletion.
	// +optional
	Deleted bool `json:"deleted,omitempty"`
}

// PlanSummary counts the objects of a plan.
type PlanSummary struct {
	// Create counts the objects that would be created.
	// +optional
	Create int32 `json:"create,omitempty"`
	// Change counts those that would be changed.
	// +optional
	Change int32 `json:"change,omitempty"`
	// Delete counts those that would be deleted.
	// +optional
	Delete int32 `json:"delete,omitempty"`
	// Replace counts those that would be deleted and created again.
	// +optional
	Replace int32 `json:"replace,omitempty"`
	// Move counts those that would move from one item to another.
	// +optional
	Move int32 `json:"move,omitempty"`
	// Keep counts those that would stay as they are.
	// +optional
	Keep int32 `json:"keep,omitempty"`
	// Unknown counts the parts that only the job can know.
	// +optional
	Unknown int32 `json:"unknown,omitempty"`
}

// DeliveryApproval says that a user approves a plan. The API server ensures who that is, and RBAC says
// who may create it. Deleting it withdraws the approval of a job that has not begun.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=deliveryapprovals,singular=deliveryapproval,shortName=dla
// +kubebuilder:printcolumn:name=Installation,type=string,JSONPath=`.spec.installation`
// +kubebuilder:printcolumn:name=By,type=string,JSONPath=`.spec.approvedBy`
// +kubebuilder:printcolumn:name=Digest,type=string,JSONPath=`.spec.digest`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type DeliveryApproval struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says who approves which plan.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="an approval is not changed: delete it, and create another one"
	Spec DeliveryApprovalSpec `json:"spec"`
}

// DeliveryApprovalList is a list of DeliveryApprovals.
//
// +kubebuilder:object:root=true
type DeliveryApprovalList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the DeliveryApprovals.
	Items []DeliveryApproval `json:"items"`
}

// DeliveryApprovalSpec says who approves which plan.
type DeliveryApprovalSpec struct {
	// Installation is the name of the root.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Installation string `json:"installation"`
	// Digest is that of the plan.
	// +required
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest"`
	// ApprovedBy is the name of the user who creates the approval.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	ApprovedBy string `json:"approvedBy"`
	// AcceptUnknown says that the user approves the parts, too, that only the job can know.
	// +optional
	AcceptUnknown bool `json:"acceptUnknown,omitempty"`
	// Comment says to people why.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Comment string `json:"comment,omitempty"`
}
