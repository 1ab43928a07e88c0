package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DefaultContextName is the name of the Context that Installations use when they
// name none.
const DefaultContextName = "default"

// Context holds what the Installations of a namespace share: repositories,
// credentials and trust.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=contexts,singular=context,shortName=ctx
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Context struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	ContextConfiguration `json:",inline"`
}

// ContextList is a list of Contexts.
//
// +kubebuilder:object:root=true
type ContextList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Contexts.
	Items []Context `json:"items"`
}

// ContextConfiguration holds what the Installations of a namespace share.
type ContextConfiguration struct {
	// RepositoryContext is the repository of component versions: an object with a
	// type, such as ociRegistry with a baseUrl.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	RepositoryContext *UnstructuredTypedObject `json:"repositoryContext,omitempty"`
	// OCMConfig names a ConfigMap of this namespace whose key .ocmconfig configures
	// further repositories.
	// +optional
	// +structType=atomic
	OCMConfig *LocalObjectName `json:"ocmConfig,omitempty"`
	// RegistryPullSecrets are Secrets of this namespace with credentials for
	// registries.
	// +optional
	RegistryPullSecrets []LocalPullSecret `json:"registryPullSecrets,omitempty"`
	// Configurations are settings for deployers. The Helm deployer reads
	// helmChartRepoCredentials.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Configurations map[string]AnyJSON `json:"configurations,omitempty"`
	// ComponentVersionOverwritesReference names a ComponentVersionOverwrites object
	// of this namespace.
	// +optional
	ComponentVersionOverwritesReference string `json:"componentVersionOverwrites"`
	// VerificationSignatures holds the trust material for each signature name.
	// +optional
	VerificationSignatures map[string]VerificationSignature `json:"verificationSignatures,omitempty"`
}

// LocalPullSecret names a Secret of the same namespace.
//
// +structType=atomic
type LocalPullSecret LocalObjectName

// VerificationSignature holds the trust material for a signature.
type VerificationSignature struct {
	// PublicKeySecretReference names the Secret with the public key (PEM).
	// +optional
	PublicKeySecretReference *SecretReference `json:"publicKeySecretReference,omitempty"`
	// CaCertificateSecretReference names the Secret with the certificates of the
	// authorities (PEM).
	// +optional
	CaCertificateSecretReference *SecretReference `json:"caCertificateSecretReference,omitempty"`
}
