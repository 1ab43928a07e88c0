package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/deployer"
)

// ProviderConfiguration says which kustomization a DeployItem deploys.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// Source is where the files are.
	// +required
	Source Source `json:"source"`
	// Path is the directory of the kustomization in the source, by default its root.
	// Without a kustomization file, all YAML files in it and below are deployed.
	// +optional
	Path string `json:"path,omitempty"`
	// NamePrefix is put before the names of all objects.
	// +optional
	NamePrefix string `json:"namePrefix,omitempty"`
	// NameSuffix is put behind the names of all objects.
	// +optional
	NameSuffix string `json:"nameSuffix,omitempty"`
	// TargetNamespace is the namespace of all objects that have one.
	// +optional
	TargetNamespace string `json:"targetNamespace,omitempty"`
	// CommonMetadata is added to all objects.
	// +optional
	CommonMetadata *CommonMetadata `json:"commonMetadata,omitempty"`
	// Patches change objects.
	// +optional
	Patches []Patch `json:"patches,omitempty"`
	// Images replace names, tags or digests of images.
	// +optional
	Images []Image `json:"images,omitempty"`
	// Components are directories with kustomize components, relative to the path.
	// +optional
	Components []string `json:"components,omitempty"`

	// UpdateStrategy says how objects that exist are changed, by default update.
	// +optional
	UpdateStrategy deployer.UpdateStrategy `json:"updateStrategy,omitempty"`
	// ReadinessChecks say when the objects count as ready.
	// +optional
	ReadinessChecks deployer.ReadinessCheckConfiguration `json:"readinessChecks,omitzero"`
	// Exports are the values that are exported.
	// +optional
	Exports *deployer.Exports `json:"exports,omitempty"`
	// ContinuousReconcile repeats the deployment.
	// +optional
	ContinuousReconcile *deployer.ContinuousReconcileSpec `json:"continuousReconcile,omitempty"`
	// DeletionGroups are the steps in which the objects are deleted.
	// +optional
	DeletionGroups []deployer.DeletionGroupDefinition `json:"deletionGroups,omitempty"`
	// DeletionGroupsDuringUpdate are the steps in which objects are deleted that
	// are no longer in the kustomization.
	// +optional
	DeletionGroupsDuringUpdate []deployer.DeletionGroupDefinition `json:"deletionGroupsDuringUpdate,omitempty"`
}

// Source is where files are. Exactly one field is set.
type Source struct {
	// Files are the files themselves: paths with contents.
	// +optional
	Files map[string]string `json:"files,omitempty"`
	// ResourceRef is the key of a resource of a component, as the template function
	// getResourceKey returns it. Its content is a directory or an archive.
	// +optional
	ResourceRef string `json:"resourceRef,omitempty"`
	// Git is a repository.
	// +optional
	Git *Git `json:"git,omitempty"`
	// OCI is an artifact of a registry.
	// +optional
	OCI *OCI `json:"oci,omitempty"`
}

// Git is a Git repository that is reached by HTTP.
type Git struct {
	// URL is the address.
	// +required
	URL string `json:"url"`
	// Ref says what of the repository is meant, by default its default branch.
	// +optional
	Ref GitRef `json:"ref,omitzero"`
}

// GitRef is what of a repository is meant. At most one of branch and tag is set; with a
// commit as well, it says where servers find the commit that do not hand out any.
type GitRef struct {
	// Branch is a branch. Each job takes what is there then.
	// +optional
	Branch string `json:"branch,omitempty"`
	// Tag is a tag. Each job takes what is there then.
	// +optional
	Tag string `json:"tag,omitempty"`
	// Commit is a complete commit hash: the same job deploys the same, always.
	// +optional
	Commit string `json:"commit,omitempty"`
}

// OCI is an artifact of a registry whose layer is an archive, as Flux makes it.
type OCI struct {
	// Ref is its reference, with a tag, a digest, or both.
	// +required
	Ref string `json:"ref"`
}

// CommonMetadata is added to objects.
type CommonMetadata struct {
	// Labels are added; selectors stay as they are.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are added.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Patch changes objects.
type Patch struct {
	// Patch is a strategic merge patch or a JSON patch in YAML or JSON.
	// +required
	Patch string `json:"patch"`
	// Target chooses the objects. A strategic merge patch can do without: then it is for
	// the object that it names.
	// +optional
	Target *Selector `json:"target,omitempty"`
}

// Selector chooses objects. Names and namespaces are regular expressions.
type Selector struct {
	// Group is the API group.
	// +optional
	Group string `json:"group,omitempty"`
	// Version is the API version.
	// +optional
	Version string `json:"version,omitempty"`
	// Kind is the kind.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name matches the name.
	// +optional
	Name string `json:"name,omitempty"`
	// Namespace matches the namespace.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// LabelSelector matches labels.
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`
	// AnnotationSelector matches annotations.
	// +optional
	AnnotationSelector string `json:"annotationSelector,omitempty"`
}

// Image replaces an image.
type Image struct {
	// Name is the name of the image in the source.
	// +required
	Name string `json:"name"`
	// NewName replaces the name.
	// +optional
	NewName string `json:"newName,omitempty"`
	// NewTag replaces the tag.
	// +optional
	NewTag string `json:"newTag,omitempty"`
	// Digest replaces the tag by a digest.
	// +optional
	Digest string `json:"digest,omitempty"`
}

// ProviderStatus records what a DeployItem has deployed.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderStatus struct {
	metav1.TypeMeta `json:",inline"`
	// ManagedResources are the objects that were deployed.
	// +optional
	ManagedResources       deployer.ManagedResourceStatusList `json:"managedResources,omitempty"`
	deployer.ClusterRecord `json:",inline"`
}
