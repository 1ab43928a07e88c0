package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/deployer"
	core "go.landscaper.dev/api/v1alpha1"
)

// Configuration configures a Helm deployer process.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type Configuration struct {
	metav1.TypeMeta               `json:",inline"`
	deployer.ProcessConfiguration `json:",inline"`
	// OCI tells how to reach OCI registries.
	// +optional
	OCI *deployer.OCIConfiguration `json:"oci,omitempty"`
	// Export is accepted and has no effect.
	// +optional
	Export deployer.ExportConfiguration `json:"export,omitzero"`
}

// ProviderConfiguration says which chart a DeployItem deploys.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// UpdateStrategy says how objects that exist are changed, by default update.
	// Only without a Helm release.
	// +optional
	UpdateStrategy deployer.UpdateStrategy `json:"updateStrategy,omitempty"`
	// ReadinessChecks say when the objects count as ready.
	// +optional
	ReadinessChecks deployer.ReadinessCheckConfiguration `json:"readinessChecks,omitzero"`
	// Chart is the chart.
	// +required
	Chart Chart `json:"chart"`
	// Name is the name of the release.
	// +required
	Name string `json:"name"`
	// Namespace is the namespace of the release.
	// +required
	Namespace string `json:"namespace"`
	// CreateNamespace creates the namespace if it is missing.
	// +optional
	CreateNamespace bool `json:"createNamespace,omitempty"`
	// Values are the values of the chart.
	// +optional
	Values core.AnyJSON `json:"values,omitzero"`
	// ExportsFromManifests are values that are exported. Use exports.
	// +optional
	ExportsFromManifests []deployer.Export `json:"exportsFromManifests,omitempty"`
	// Exports are the values that are exported.
	// +optional
	Exports *deployer.Exports `json:"exports,omitempty"`
	// ContinuousReconcile repeats the deployment.
	// +optional
	ContinuousReconcile *deployer.ContinuousReconcileSpec `json:"continuousReconcile,omitempty"`
	// HelmDeployment makes a Helm release, which is the default; false applies the
	// rendered objects.
	// +optional
	HelmDeployment *bool `json:"helmDeployment,omitempty"`
	// HelmDeploymentConfig are options of Helm.
	// +optional
	HelmDeploymentConfig *HelmDeploymentConfiguration `json:"helmDeploymentConfig,omitempty"`
	// DeletionGroups are the steps in which the objects are deleted. Only without a
	// Helm release.
	// +optional
	DeletionGroups []deployer.DeletionGroupDefinition `json:"deletionGroups,omitempty"`
	// DeletionGroupsDuringUpdate are the steps in which objects are deleted that
	// are no longer rendered. Only without a Helm release.
	// +optional
	DeletionGroupsDuringUpdate []deployer.DeletionGroupDefinition `json:"deletionGroupsDuringUpdate,omitempty"`
}

// HelmDeploymentConfiguration are options of Helm.
type HelmDeploymentConfiguration struct {
	// Install are options for the first deployment.
	// +optional
	Install map[string]core.AnyJSON `json:"install,omitempty"`
	// Upgrade are options for the following deployments.
	// +optional
	Upgrade map[string]core.AnyJSON `json:"upgrade,omitempty"`
	// Uninstall are options for the removal.
	// +optional
	Uninstall map[string]core.AnyJSON `json:"uninstall,omitempty"`
}

// Chart says where the chart comes from: exactly one of its fields.
type Chart struct {
	// Ref is an OCI artifact with a tag.
	// +optional
	Ref string `json:"ref,omitempty"`
	// FromResource is a resource of a component.
	// +optional
	FromResource *RemoteChartReference `json:"fromResource,omitempty"`
	// Archive is a packaged chart.
	// +optional
	Archive *ArchiveAccess `json:"archive,omitempty"`
	// HelmChartRepo is a chart in a chart repository.
	// +optional
	HelmChartRepo *HelmChartRepo `json:"helmChartRepo,omitempty"`
	// ResourceRef is the key of a component resource, as the template function
	// getResourceKey returns it.
	// +optional
	ResourceRef string `json:"resourceRef,omitempty"`
}

// RemoteChartReference is a resource of a component.
type RemoteChartReference struct {
	core.ComponentDescriptorDefinition `json:",inline"`
	// ResourceName is the name of the resource.
	// +required
	ResourceName string `json:"resourceName"`
}

// ArchiveAccess is a packaged chart: exactly one of its fields.
type ArchiveAccess struct {
	// Raw is the archive itself.
	// +optional
	Raw string `json:"raw,omitempty"`
	// Remote says where the archive can be downloaded.
	// +optional
	Remote *RemoteArchiveAccess `json:"remote,omitempty"`
}

// RemoteArchiveAccess says where an archive can be downloaded.
type RemoteArchiveAccess struct {
	// URL is the address of the archive.
	// +required
	URL string `json:"url"`
}

// HelmChartRepo is a chart in a chart repository.
type HelmChartRepo struct {
	// HelmChartRepoURL is the address of the repository.
	// +required
	HelmChartRepoURL string `json:"helmChartRepoUrl"`
	// HelmChartName is the name of the chart.
	// +required
	HelmChartName string `json:"helmChartName"`
	// HelmChartVersion is the version of the chart.
	// +required
	HelmChartVersion string `json:"helmChartVersion"`
}

// ProviderStatus records what a DeployItem deployed.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderStatus struct {
	metav1.TypeMeta `json:",inline"`
	// ManagedResources are the objects.
	// +optional
	ManagedResources deployer.ManagedResourceStatusList `json:"managedResources,omitempty"`
	// Release is the release that the item has, or is about to have.
	// +optional
	Release *deployer.ReleaseReference `json:"release,omitempty"`
	// EarlierReleases are those that the item had under another name or in another
	// namespace, on the same cluster. They are removed once the release is deployed.
	// +optional
	EarlierReleases []deployer.ReleaseReference `json:"earlierReleases,omitempty"`
	// Definitions are the objects in the folders crds of the chart of the release: they stay when
	// another item that has deployed them does not want them any more.
	// +optional
	Definitions            []corev1.ObjectReference `json:"definitions,omitempty"`
	deployer.ClusterRecord `json:",inline"`
}

// ChartRepoCredentials is the value under helmChartRepoCredentials in the
// configurations of a Context.
type ChartRepoCredentials struct {
	// Auths are the credentials.
	// +optional
	Auths []ChartRepoAuth `json:"auths,omitempty"`
}

// ChartRepoAuth are the credentials for a chart repository.
type ChartRepoAuth struct {
	// URL is the address of the repository.
	// +required
	URL string `json:"url"`
	// CustomCAData verifies the repository (PEM, plain or base64).
	// +optional
	CustomCAData string `json:"customCAData,omitempty"`
	// AuthHeader is the value of the Authorization header.
	// +optional
	AuthHeader string `json:"authHeader,omitempty"`
	// SecretRef names a Secret with the value of the Authorization header.
	// +optional
	SecretRef *core.LocalSecretReference `json:"secretRef,omitempty"`
}
