package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeliveryPolicy says when jobs of Installations in its namespace may begin. Of several policies that
// select an Installation, all have to permit a job.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=deliverypolicies,singular=deliverypolicy,shortName=dlp
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=State,type=string,JSONPath=`.status.conditions[?(@.type=="Open")].reason`
// +kubebuilder:printcolumn:name=Next,type=string,JSONPath=`.status.nextChange`
// +kubebuilder:printcolumn:name=Selected,type=integer,JSONPath=`.status.selected`
// +kubebuilder:printcolumn:name=Deferred,type=integer,JSONPath=`.status.deferred`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type DeliveryPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says which jobs may begin when.
	// +required
	Spec DeliveryPolicySpec `json:"spec"`
	// Status says what the policy does at present.
	// +optional
	Status DeliveryPolicyStatus `json:"status,omitempty"`
}

// DeliveryPolicyList is a list of DeliveryPolicies.
//
// +kubebuilder:object:root=true
type DeliveryPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the DeliveryPolicies.
	Items []DeliveryPolicy `json:"items"`
}

// DeliveryPolicySpec says which jobs may begin when. Installations are selected by all of selector,
// contexts and installations that are set; a policy without any of them selects all roots of its
// namespace. Subinstallations follow their root.
type DeliveryPolicySpec struct {
	// Selector selects roots by their labels. A user who may change an Installation may change its labels,
	// too.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Contexts selects roots by the names of their Contexts.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	Contexts []string `json:"contexts,omitempty"`
	// Installations selects roots by their names.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1000
	Installations []string `json:"installations,omitempty"`
	// Paused lets no job begin, and running jobs begin no further deploy item.
	// +optional
	Paused *Pause `json:"paused,omitempty"`
	// TimeZone is the name of the time zone of weekly windows, such as Europe/Berlin. The default is UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_+/-]*$`
	TimeZone string `json:"timeZone,omitempty"`
	// Windows are when jobs may begin. Without a window that applies to a job, it may begin at any time.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Windows []Window `json:"windows,omitempty"` //nolint:kubeapilinter // a window has one of two forms, of which a rule asks for one
	// Freezes are when no job may begin, also within a window.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Freezes []Freeze `json:"freezes,omitempty"`
	// History keeps the specifications with which jobs have begun, so that one can go back to them. Of
	// several policies that select an Installation, the one that keeps most counts, and any that goes
	// back by itself.
	// +optional
	History *History `json:"history,omitempty"`
	// Approval lets a job begin only when its plan is approved.
	// +optional
	Approval *ApprovalRule `json:"approval,omitempty"`
}

// Pause stops deliveries until it is removed.
type Pause struct {
	// Reason says to people why.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}

// AppliesTo says for which jobs a window or a freeze counts.
//
// +kubebuilder:validation:Enum=Automatic;All
type AppliesTo string

const (
	// AppliesToAll is for all jobs, deletions included.
	AppliesToAll AppliesTo = "All"
	// AppliesToAutomatic is for jobs that begin without a request or a deletion by a user: because of a
	// schedule, of a changed specification, import or export, or of drift.
	AppliesToAutomatic AppliesTo = "Automatic"
)

// Weekday is the name of a day.
//
// +kubebuilder:validation:Enum=Monday;Tuesday;Wednesday;Thursday;Friday;Saturday;Sunday
type Weekday string

// Window is when jobs may begin: every week from a time of some days on, or once from a moment to
// another one.
//
// +kubebuilder:validation:XValidation:rule="has(self.start) == has(self.duration)",message="start and duration belong together"
// +kubebuilder:validation:XValidation:rule="has(self.from) == has(self.to)",message="from and to belong together"
// +kubebuilder:validation:XValidation:rule="has(self.start) != has(self.from)",message="write either start and duration, or from and to"
// +kubebuilder:validation:XValidation:rule="!has(self.days) || has(self.start)",message="days need a start and a duration"
// +kubebuilder:validation:XValidation:rule="!has(self.from) || !has(self.to) || timestamp(self.from) < timestamp(self.to)",message="to must be after from"
type Window struct {
	// Days are those on which the window begins; without them, every day.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=7
	Days []Weekday `json:"days,omitempty"`
	// Start is the time of day at which the window begins, such as 22:00. A time that a change of the
	// clock leaves out counts as the moment of the change; of a time that comes twice, the first counts.
	// +optional
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	Start string `json:"start,omitempty"`
	// Duration is how long the window is open, up to a week. Changes of the clock do not change it.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self) <= duration('168h')",message="write a time above 0 and up to 168h, such as 8h or 90m"
	Duration string `json:"duration,omitempty"`
	// From is when a window begins that is open once.
	// +optional
	From *metav1.Time `json:"from,omitempty"`
	// To is when that window ends.
	// +optional
	To *metav1.Time `json:"to,omitempty"`
	// AppliesTo says for which jobs the window counts. The others need none.
	// +optional
	// +kubebuilder:default=All
	AppliesTo AppliesTo `json:"appliesTo,omitempty"`
}

// Freeze is when no job may begin.
//
// +kubebuilder:validation:XValidation:rule="timestamp(self.from) < timestamp(self.to)",message="to must be after from"
type Freeze struct {
	// From is when the freeze begins.
	// +required
	From metav1.Time `json:"from"`
	// To is when it ends.
	// +required
	To metav1.Time `json:"to"`
	// Reason says to people why.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
	// AppliesTo says for which jobs the freeze counts.
	// +optional
	// +kubebuilder:default=All
	AppliesTo AppliesTo `json:"appliesTo,omitempty"`
}

// The conditions of a DeliveryPolicy.
const (
	// ValidCondition means that the server understands the policy. One that it does not understand lets
	// no job begin.
	ValidCondition = "Valid"
	// OpenCondition means that the policy lets every job begin at present. Its reason is that of the
	// wait otherwise.
	OpenCondition = "Open"
)

// DeliveryPolicyStatus says what the policy does at present.
type DeliveryPolicyStatus struct {
	// ObservedGeneration is the generation that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the current observations.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// NextChange is when the condition Open changes next; absent if that is not known.
	// +optional
	NextChange *metav1.Time `json:"nextChange,omitempty"`
	// Selected is how many roots the policy selects.
	// +optional
	Selected int32 `json:"selected,omitempty"`
	// Deferred is how many of them have a job that may not begin, for whatever policy.
	// +optional
	Deferred int32 `json:"deferred,omitempty"`
}
