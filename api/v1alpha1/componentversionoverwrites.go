package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ComponentVersionOverwrites replaces references to component versions by
// others.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=componentversionoverwrites,singular=componentversionoverwrite,shortName=compveroverwrite;cvo
type ComponentVersionOverwrites struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Overwrites are the rules. For each attribute the first rule that matches and
	// sets it wins.
	// +optional
	Overwrites ComponentVersionOverwriteList `json:"overwrites,omitempty"`
}

// ComponentVersionOverwritesList is a list of ComponentVersionOverwrites objects.
//
// +kubebuilder:object:root=true
type ComponentVersionOverwritesList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects.
	Items []ComponentVersionOverwrites `json:"items"`
}

// ComponentVersionOverwriteList is a list of rules.
type ComponentVersionOverwriteList []ComponentVersionOverwrite

// ComponentVersionOverwrite is one rule.
type ComponentVersionOverwrite struct {
	// Source says which references the rule is for. What is left out matches
	// anything.
	// +required
	Source ComponentVersionOverwriteReference `json:"source"`
	// Substitution says what to put in. What is left out stays as it is.
	// +required
	Substitution ComponentVersionOverwriteReference `json:"substitution"`
}

// ComponentVersionOverwriteReference is a pattern or a replacement.
type ComponentVersionOverwriteReference struct {
	// RepositoryContext is the repository.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	RepositoryContext *UnstructuredTypedObject `json:"repositoryContext,omitempty"`
	// ComponentName is the name of the component.
	// +optional
	ComponentName string `json:"componentName,omitempty"`
	// Version is the version of the component.
	// +optional
	Version string `json:"version,omitempty"`
}
