package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Origin says where a configuration comes from.
type Origin string

// The origins.
const (
	// ProviderConfig is the provider configuration of the Shoot.
	ProviderConfig Origin = "ProviderConfig"
	// ShootResource is a ConfigMap that the Shoot refers to.
	ShootResource Origin = "ShootResource"
	// ProjectConfigMap is the ConfigMap of the project.
	ProjectConfigMap Origin = "ProjectConfigMap"
	// BuiltIn is the default without any configuration.
	BuiltIn Origin = "Default"
)

// SyncMode says what is kept up to date after the first time.
type SyncMode string

// The modes. Secrets and information about the shoot are kept up to date in all.
const (
	// Once does not update Flux, source and kustomization.
	Once SyncMode = "Once"
	// ManifestsOnly does not update Flux.
	ManifestsOnly SyncMode = "ManifestsOnly"
	// Always updates everything.
	Always SyncMode = "Always"
)

// DeletionPolicy says what happens in the shoot when the extension is disabled.
type DeletionPolicy string

// The policies.
const (
	// Orphan leaves everything in the shoot.
	Orphan DeletionPolicy = "Orphan"
	// Delete removes everything from it.
	Delete DeletionPolicy = "Delete"
)

// The default names.
const (
	// DefaultNamespace is where Flux runs.
	DefaultNamespace = "flux-system"
	// DefaultRegistry has the images of the controllers.
	DefaultRegistry = "ghcr.io/fluxcd"
	// SourceSecret is the Secret with a key that is generated, in the garden and in the shoot.
	SourceSecret = "flux-source"
)

// clusterNamespaces are in each cluster, and cannot be deleted.
var clusterNamespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// Config is the effective configuration of one shoot.
type Config struct {
	Origin Origin `json:"origin"`
	// Shared says that a ConfigMap is the base of the provider configuration.
	Shared bool `json:"shared,omitempty"`
	Flux   Flux `json:"flux"`
	// Source is nil if only Flux is installed, and so is Kustomization.
	Source            *Source                    `json:"source,omitempty"`
	Kustomization     *unstructured.Unstructured `json:"kustomization,omitempty"`
	SyncMode          SyncMode                   `json:"syncMode"`
	DeletionPolicy    DeletionPolicy             `json:"deletionPolicy"`
	WaitForReady      bool                       `json:"waitForReady"`
	AdditionalSecrets []AdditionalSecret         `json:"additionalSecrets,omitempty"`
}

// Flux is an installation of Flux.
type Flux struct {
	// Version is a release, "" for the default until it is resolved.
	Version   string `json:"version"`
	Registry  string `json:"registry"`
	Namespace string `json:"namespace"`
	// Components are all controllers, in the order of Flux.
	Components []string `json:"components"`
	// ImagePullSecretResource is an entry of the Shoot's resources.
	ImagePullSecretResource string `json:"imagePullSecretResource,omitempty"`
	// ImagePullSecretName is the Secret that the entry refers to, when it is resolved.
	// It has the same name in the shoot.
	ImagePullSecretName string  `json:"imagePullSecretName,omitempty"`
	Options             Options `json:"options"`
}

// Options are settings of the controllers.
type Options struct {
	WatchAllNamespaces bool     `json:"watchAllNamespaces"`
	NetworkPolicy      bool     `json:"networkPolicy"`
	ClusterDomain      string   `json:"clusterDomain"`
	LogLevel           string   `json:"logLevel"`
	TolerationKeys     []string `json:"tolerationKeys,omitempty"`
	Multitenant        bool     `json:"multitenant"`
}

// Source is where Flux reads from.
type Source struct {
	// Object is the GitRepository or OCIRepository.
	Object *unstructured.Unstructured `json:"object"`
	URL    string                     `json:"url"`
	// SecretName and SecretNamespace are where Flux looks for the credentials; the name is "" if
	// the source needs no credentials.
	SecretName      string `json:"secretName,omitempty"`
	SecretNamespace string `json:"secretNamespace,omitempty"`
	// SecretResource is an entry of the Shoot's resources with the credentials. If a
	// private source has none, they are looked for in the usual places.
	SecretResource string `json:"secretResource,omitempty"`
	// SecretObject is the Secret that the entry refers to, when it is resolved.
	SecretObject string `json:"secretObject,omitempty"`
	// Private says that Flux needs credentials.
	Private bool `json:"private,omitempty"`
	// KnownHosts are the configured host keys, or "".
	KnownHosts string `json:"knownHosts,omitempty"`
	// GenerateSSHKey says that missing credentials are generated.
	GenerateSSHKey bool `json:"generateSSHKey,omitempty"`
}

// AdditionalSecret is a further Secret for the shoot.
type AdditionalSecret struct {
	// Resource is an entry of the Shoot's resources.
	Resource string `json:"resource"`
	// Object is the Secret that the entry refers to, when it is resolved.
	Object string `json:"object,omitempty"`
	// TargetName is its name in the shoot; "" for that of the object, until it is resolved.
	TargetName      string `json:"targetName"`
	TargetNamespace string `json:"targetNamespace"`
}

// The components of Flux, in its order.
var (
	required   = []string{"source-controller", "kustomize-controller"}
	standard   = append(slices.Clone(required), "helm-controller", "notification-controller")
	components = append(slices.Clone(standard), "image-reflector-controller", "image-automation-controller", sourceWatcher)
)

const sourceWatcher = "source-watcher"

// Default returns the default configuration: Flux only.
func Default() *Config {
	return &Config{
		Origin: BuiltIn,
		Flux: Flux{
			Registry: DefaultRegistry, Namespace: DefaultNamespace, Components: slices.Clone(standard),
			Options: Options{WatchAllNamespaces: true, NetworkPolicy: true, ClusterDomain: "cluster.local", LogLevel: "info"},
		},
		SyncMode: Once, DeletionPolicy: Orphan, WaitForReady: true,
	}
}

// Copy returns a configuration that shares nothing with this one.
func (c *Config) Copy() *Config {
	copied := *c
	copied.Flux.Components = slices.Clone(c.Flux.Components)
	copied.Flux.Options.TolerationKeys = slices.Clone(c.Flux.Options.TolerationKeys)
	copied.AdditionalSecrets = slices.Clone(c.AdditionalSecrets)
	if c.Source != nil {
		source := *c.Source
		source.Object = c.Source.Object.DeepCopy()
		copied.Source = &source
	}
	if c.Kustomization != nil {
		copied.Kustomization = c.Kustomization.DeepCopy()
	}
	return &copied
}

// Checksum identifies the configuration. The origin is included: the same configuration of a
// project and of a shoot has different owners.
func (c *Config) Checksum() string {
	text, err := json.Marshal(c)
	if err != nil {
		// All values were decoded from JSON or made here.
		panic("a configuration cannot be written as JSON")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// parseSyncMode accepts the names of modes in any case.
func parseSyncMode(text string) (SyncMode, bool) {
	return oneOf(text, Once, ManifestsOnly, Always)
}

func parseDeletionPolicy(text string) (DeletionPolicy, bool) {
	return oneOf(text, Orphan, Delete)
}

func oneOf[T ~string](text string, known ...T) (T, bool) {
	for _, one := range known {
		if strings.EqualFold(text, string(one)) {
			return one, true
		}
	}
	return "", false
}
