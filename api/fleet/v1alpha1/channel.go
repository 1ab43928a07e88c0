package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Channel finds the newest version of a component that fits a range and has the signatures that are
// required. Fleets and single Installations follow it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=channels,singular=channel,shortName=lschannel
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Component,type=string,JSONPath=`.spec.component`
// +kubebuilder:printcolumn:name=Versions,type=string,JSONPath=`.spec.versions`
// +kubebuilder:printcolumn:name=Version,type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name=Followers,type=integer,JSONPath=`.status.followers`
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Channel struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says which versions are looked for, and where.
	// +required
	Spec ChannelSpec `json:"spec"`
	// Status says what was found.
	// +optional
	Status ChannelStatus `json:"status,omitempty"`
}

// ChannelList is a list of Channels.
//
// +kubebuilder:object:root=true
type ChannelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Channels.
	Items []Channel `json:"items"`
}

// ChannelSpec says which versions are looked for, and where.
type ChannelSpec struct {
	// Component is the name of the component, such as example.com/shop.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Component string `json:"component"`
	// Context names the Context of this namespace that holds the repository, credentials and trust.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MaxLength=253
	Context string `json:"context,omitempty"`
	// Versions is a range of semantic versions, such as ">=1.2.0 <2.0.0" or "1.x"; without it, every
	// version fits.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Versions string `json:"versions,omitempty"`
	// Prereleases says which pre-releases fit: none by default.
	// +optional
	Prereleases *PrereleaseRule `json:"prereleases,omitempty"`
	// Signatures are the names of all signatures that a version must have; the Context has their keys.
	// A version without them is refused.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	Signatures []string `json:"signatures,omitempty"`
	// Interval is how often the registry is asked: 10m by default, 30s at least.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('30s') && duration(self) <= duration('168h')",message="write a time from 30s to 168h, such as 10m"
	Interval string `json:"interval,omitempty"`
	// Webhook lets a registry or a pipeline say that there is something new.
	// +optional
	Webhook *ChannelWebhook `json:"webhook,omitempty"`
	// Keep is how many versions the status lists: 10 by default.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	Keep int32 `json:"keep,omitempty"`
	// Suspended keeps the version that was found: the registry is not asked.
	// +optional
	Suspended bool `json:"suspended,omitempty"`
}

// PollAnnotation on a Channel lets the registry be asked now, each time that its value changes.
const PollAnnotation = GroupName + "/poll"

// FollowedAnnotation on an Installation is the version that it got last from the Channel that it follows. It
// gets a version once: who goes back, the server after a failure included, stays there.
const FollowedAnnotation = GroupName + "/followed"

// PrereleaseRule says which pre-releases fit.
type PrereleaseRule struct {
	// Identifiers are the first identifiers of pre-releases that fit, such as rc and beta; * stands for
	// all of them. Digits at their end do not count: rc is also that of rc1.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Identifiers []string `json:"identifiers"`
}

// WebhookType is the form of a notification.
//
// +kubebuilder:validation:Enum=HMAC;Registry
type WebhookType string

const (
	// WebhookHMAC is any body with its HMAC-SHA256 in the header X-Signature-256.
	WebhookHMAC WebhookType = "HMAC"
	// WebhookRegistry is the notification of the reference registry, with a bearer token.
	WebhookRegistry WebhookType = "Registry"
)

// ChannelWebhook lets a registry or a pipeline say that there is something new.
type ChannelWebhook struct {
	// Type is the form of the notification: HMAC by default.
	// +optional
	// +kubebuilder:default=HMAC
	Type WebhookType `json:"type,omitempty"`
	// SecretRef names what the sender has to know.
	// +required
	SecretRef WebhookSecret `json:"secretRef"`
}

// WebhookSecret names a Secret of the namespace of the Channel, and a key of it.
type WebhookSecret struct {
	// Name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Key is the key of the value: token by default.
	// +optional
	// +kubebuilder:default=token
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// ReadyCondition of a Channel says whether it has a version, of a Fleet whether all of its Installations
// have the specification that is wanted and have succeeded.
const ReadyCondition = "Ready"

// ChannelStatus says what was found.
type ChannelStatus struct {
	// ObservedGeneration is the generation that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are the current observations.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Version is the newest version that fits.
	// +optional
	Version string `json:"version,omitempty"`
	// Digest is what the tag of the version led to when it was found: it is that of the manifest that has
	// the component descriptor.
	// +optional
	Digest string `json:"digest,omitempty"`
	// Followers are the single Installations that follow the Channel.
	// +optional
	Followers int32 `json:"followers,omitempty"`
	// Versions are the newest ones that fit, newest first.
	// +optional
	// +listType=map
	// +listMapKey=version
	Versions []ChannelVersion `json:"versions,omitempty"`
	// Refused are versions that fit the range and were refused nevertheless, newest first.
	// +optional
	// +listType=map
	// +listMapKey=version
	Refused []RefusedVersion `json:"refused,omitempty"`
}

// ChannelVersion is a version that a Channel has found.
type ChannelVersion struct {
	// Version is the version.
	// +required
	Version string `json:"version"`
	// Digest is what the tag of the version led to when it was found.
	// +required
	Digest string `json:"digest"`
	// Found is when it was found.
	// +required
	Found metav1.Time `json:"found"`
}

// RefusedVersion is a version that a Channel does not offer.
type RefusedVersion struct {
	// Version is the version.
	// +required
	Version string `json:"version"`
	// Reason is why, as one word.
	// +required
	Reason string `json:"reason"`
	// Message is why, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// Digest is what the tag of the version led to when it was first found; a version that never was fit
	// to be offered has none.
	// +optional
	Digest string `json:"digest,omitempty"`
}
