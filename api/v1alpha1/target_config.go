package v1alpha1

import (
	"bytes"
	"encoding/json"
)

// KubernetesClusterTargetConfig is the content of a Target of type
// KubernetesClusterTargetType. Where several parts are given, kubeconfig goes
// before oidcConfig and that before selfConfig.
type KubernetesClusterTargetConfig struct {
	// Kubeconfig is a kubeconfig as text.
	// +required
	Kubeconfig ValueRef `json:"kubeconfig"`
	// OIDCConfig trusts tokens of a ServiceAccount on the resource cluster.
	// +optional
	OIDCConfig *OIDCConfig `json:"oidcConfig,omitempty"`
	// SelfConfig is the resource cluster itself.
	// +optional
	SelfConfig *SelfConfig `json:"selfConfig,omitempty"`
}

// ValueRef is a text, or a reference to a Secret that holds it.
type ValueRef struct {
	// StrVal is the text.
	StrVal *string `json:"-"`
	// SecretRef is the deprecated way to name a Secret of the Target's namespace.
	SecretRef *SecretReference `json:"-"`
}

// OIDCConfig gives access to a cluster that trusts the resource cluster as an
// identity provider.
type OIDCConfig struct {
	// Server is the address of the cluster's API server.
	// +optional
	Server string `json:"server,omitempty"`
	// CAData is the PEM bundle that verifies the API server.
	// +optional
	CAData []byte `json:"caData,omitempty"`
	// ServiceAccount is a ServiceAccount in the namespace of the Target.
	// +optional
	ServiceAccount LocalObjectName `json:"serviceAccount,omitempty"`
	// Audience are the audiences that tokens are requested for.
	// +optional
	Audience []string `json:"audience,omitempty"`
	// ExpirationSeconds is the lifetime of the tokens, by default a day.
	// +optional
	ExpirationSeconds *int64 `json:"expirationSeconds,omitempty"`
}

// SelfConfig gives access to the resource cluster.
type SelfConfig struct {
	// ServiceAccount is a ServiceAccount in the namespace of the Target.
	// +optional
	ServiceAccount LocalObjectName `json:"serviceAccount,omitempty"`
	// ExpirationSeconds is the lifetime of the tokens, by default a day.
	// +optional
	ExpirationSeconds *int64 `json:"expirationSeconds,omitempty"`
}

// LocalObjectName names an object in the same namespace.
type LocalObjectName struct {
	// Name is the name of the object.
	// +optional
	// +kubebuilder:default=""
	Name string `json:"name,omitempty"`
}

// DefaultTokenExpirationSeconds is the lifetime of requested tokens.
const DefaultTokenExpirationSeconds int64 = 86400

// MarshalJSON writes the text, or null.
func (v ValueRef) MarshalJSON() ([]byte, error) {
	if v.SecretRef != nil {
		return json.Marshal(map[string]*SecretReference{"secretRef": v.SecretRef})
	}
	return json.Marshal(v.StrVal)
}

// UnmarshalJSON reads a text, a reference to a Secret, or a kubeconfig that is
// written as an object.
func (v *ValueRef) UnmarshalJSON(data []byte) error {
	*v = ValueRef{}
	if isJSONNull(data) {
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		v.StrVal = &text
		return nil
	}
	if v.SecretRef = onlySecretRef(data); v.SecretRef != nil {
		return nil
	}
	text = string(bytes.TrimSpace(data))
	v.StrVal = &text
	return nil
}

// onlySecretRef recognises {"secretRef": {...}}, the form in which old releases
// named the Secret of a kubeconfig.
func onlySecretRef(data []byte) *SecretReference {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil || len(object) != 1 || object["secretRef"] == nil {
		return nil
	}
	var ref SecretReference
	if json.Unmarshal(object["secretRef"], &ref) != nil || ref.Name == "" {
		return nil
	}
	if ref.Key == "" {
		ref.Key = DefaultKubeconfigKey
	}
	return &ref
}
