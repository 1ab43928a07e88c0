package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the version of this package's kinds.
var GroupVersion = schema.GroupVersion{Group: "flux.extensions.gardener.cloud", Version: "v1alpha1"}

// KindFluxConfig is the kind of FluxConfig.
const KindFluxConfig = "FluxConfig"

// FluxConfig is the provider configuration of the extension shoot-flux: it says which
// Flux a shoot gets, and what Flux deploys.
type FluxConfig struct {
	metav1.TypeMeta `json:",inline"`

	// ConfigMapRef names a ConfigMap of the project that holds what this
	// configuration does not say. Fields that are set here go first.
	// +optional
	ConfigMapRef *ConfigMapRef `json:"configMapRef,omitempty"`
	// Flux is the installation of Flux.
	// +optional
	Flux *Flux `json:"flux,omitempty"`
	// Source is where Flux reads from. It needs a kustomization.
	// +optional
	Source *Source `json:"source,omitempty"`
	// Kustomization is what Flux deploys from the source.
	// +optional
	Kustomization *Kustomization `json:"kustomization,omitempty"`
	// AdditionalSecretResources are further Secrets for the shoot.
	// +optional
	AdditionalSecretResources []AdditionalSecretResource `json:"additionalSecretResources,omitempty"`
	// SyncMode says what is kept up to date after the first time: Once (default),
	// ManifestsOnly or Always.
	// +optional
	SyncMode string `json:"syncMode,omitempty"`
	// DeletionPolicy says what happens in the shoot when the extension is disabled:
	// Orphan (default) or Delete.
	// +optional
	DeletionPolicy string `json:"deletionPolicy,omitempty"`
	// WaitForReady says whether the extension succeeds only when source and
	// kustomization are ready. The default is true for syncMode Once.
	// +optional
	WaitForReady *bool `json:"waitForReady,omitempty"`
}

// ConfigMapRef names a ConfigMap.
type ConfigMapRef struct {
	// Name is its name. The default is flux-config.
	// +optional
	Name string `json:"name,omitempty"`
}

// Flux is an installation of Flux.
type Flux struct {
	// Version is a release such as v2.4.0. The default is the one that the extension brings.
	// +optional
	Version string `json:"version,omitempty"`
	// Registry is where the images of the controllers are. The default is ghcr.io/fluxcd.
	// +optional
	Registry string `json:"registry,omitempty"`
	// Namespace is where the controllers run. The default is flux-system.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Components replaces the list of controllers.
	// +optional
	Components []string `json:"components,omitempty"`
	// ComponentsExtra are controllers in addition to that list.
	// +optional
	ComponentsExtra []string `json:"componentsExtra,omitempty"`
	// ImagePullSecretResourceName names an entry of the Shoot's spec.resources: a Secret
	// with which the images are pulled.
	// +optional
	ImagePullSecretResourceName string `json:"imagePullSecretResourceName,omitempty"`
	// Options are settings of the controllers.
	// +optional
	Options *FluxOptions `json:"options,omitempty"`
}

// FluxOptions are settings of the controllers.
type FluxOptions struct {
	// WatchAllNamespaces says whether objects outside of Flux's namespace count. The default is true.
	// +optional
	WatchAllNamespaces *bool `json:"watchAllNamespaces,omitempty"`
	// NetworkPolicy says whether network policies are installed. The default is true.
	// +optional
	NetworkPolicy *bool `json:"networkPolicy,omitempty"`
	// ClusterDomain is the shoot's domain for Services. The default is cluster.local.
	// +optional
	ClusterDomain string `json:"clusterDomain,omitempty"`
	// LogLevel is debug, info (default) or error.
	// +optional
	LogLevel string `json:"logLevel,omitempty"`
	// TolerationKeys are taints that the controllers tolerate.
	// +optional
	TolerationKeys []string `json:"tolerationKeys,omitempty"`
	// Multitenant locks tenants of one Flux away from each other.
	// +optional
	Multitenant bool `json:"multitenant,omitempty"`
}

// Source is where Flux reads from.
type Source struct {
	// Template is a GitRepository or an OCIRepository of source.toolkit.fluxcd.io/v1.
	// +optional
	Template *runtime.RawExtension `json:"template,omitempty"`
	// SecretResourceName names an entry of the Shoot's spec.resources: a Secret with
	// the credentials.
	// +optional
	SecretResourceName string `json:"secretResourceName,omitempty"`
	// GenerateSSHKey asks for a key pair. Its public part must be registered with the
	// repository.
	// +optional
	GenerateSSHKey *bool `json:"generateSSHKey,omitempty"`
	// KnownHosts are the host keys for a generated key, as in a file known_hosts.
	// +optional
	KnownHosts string `json:"knownHosts,omitempty"`
}

// Kustomization is what Flux deploys.
type Kustomization struct {
	// Template is a Kustomization of kustomize.toolkit.fluxcd.io/v1.
	// +optional
	Template *runtime.RawExtension `json:"template,omitempty"`
}

// AdditionalSecretResource is a Secret for the shoot.
type AdditionalSecretResource struct {
	// Name is the name of an entry of the Shoot's spec.resources.
	// +optional
	Name string `json:"name,omitempty"`
	// TargetName is the Secret's name in the shoot. The default is the name of the
	// Secret that the entry refers to.
	// +optional
	TargetName string `json:"targetName,omitempty"`
	// TargetNamespace is the Secret's namespace in the shoot. The default is Flux's.
	// +optional
	TargetNamespace string `json:"targetNamespace,omitempty"`
}
