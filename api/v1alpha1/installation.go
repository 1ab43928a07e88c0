package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Installation is an instance of a Blueprint: it says which blueprint of which
// component to bring up, where its inputs come from and where its outputs go.
//
// An Installation without an owner of kind Installation is a root and belongs to
// the user. The others are subinstallations and belong to the controller.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=installations,singular=installation,shortName=inst
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Execution,type=string,JSONPath=`.status.executionRef.name`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Installation struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says what to bring up and with which data.
	// +optional
	Spec InstallationSpec `json:"spec"`
	// Status tells how far the last job came.
	// +optional
	Status InstallationStatus `json:"status"`
}

// InstallationList is a list of Installations.
//
// +kubebuilder:object:root=true
type InstallationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the Installations.
	Items []Installation `json:"items"`
}

// InstallationSpec says what to bring up and with which data.
type InstallationSpec struct {
	// Context names the Context of this namespace that holds repositories,
	// credentials and trust for this Installation.
	// +optional
	// +kubebuilder:default=default
	Context string `json:"context,omitempty"`
	// Verification asks for a check of the component's signature.
	// +optional
	Verification *Verification `json:"verification,omitempty"`
	// ComponentDescriptor names the component version that the blueprint and its
	// resources come from: exactly one of ref and inline.
	// +optional
	ComponentDescriptor *ComponentDescriptorDefinition `json:"componentDescriptor,omitempty"`
	// Blueprint names the blueprint to bring up: exactly one of ref and inline.
	// +required
	Blueprint BlueprintDefinition `json:"blueprint"`
	// RegistryPullSecrets are further Secrets of this namespace with credentials
	// for registries. They are added to those of the Context.
	// +optional
	RegistryPullSecrets []ObjectReference `json:"registryPullSecrets,omitempty"`
	// Imports say where the values of the blueprint's imports come from.
	// +optional
	// +kubebuilder:default={}
	Imports InstallationImports `json:"imports"`
	// ImportDataMappings build blueprint imports from the imports of this
	// Installation. Each key is the name of a data import of the blueprint, each
	// value a spiff template. A blueprint import that is not listed takes the
	// import of the same name.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	ImportDataMappings map[string]AnyJSON `json:"importDataMappings,omitempty"`
	// Exports say under which names the results of the blueprint are published.
	// +optional
	// +kubebuilder:default={}
	Exports InstallationExports `json:"exports"`
	// ExportDataMappings build exports of this Installation from the exports of the
	// blueprint. Each key is the name of a data export of this Installation, each
	// value a spiff template.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	ExportDataMappings map[string]AnyJSON `json:"exportDataMappings,omitempty"`
	// AutomaticReconcile starts jobs without an annotation: at intervals after a
	// success, or again after a failure.
	// +optional
	AutomaticReconcile *AutomaticReconcile `json:"automaticReconcile,omitempty"`
	// Optimization tells the controller about connections that it need not look
	// for.
	// +optional
	Optimization *Optimization `json:"optimization,omitempty"`
}

// Verification asks for a check of the component's signature.
type Verification struct {
	// SignatureName is the name of the signature in the component version and the
	// key of the trust material in the Context.
	// +required
	SignatureName string `json:"signatureName"`
}

// ComponentDescriptorDefinition names a component version, or holds it.
type ComponentDescriptorDefinition struct {
	// Reference names a component version in a repository.
	// +optional
	Reference *ComponentDescriptorReference `json:"ref,omitempty"`
	// Inline is a whole component descriptor (schema v2 or v3alpha1). It takes
	// precedence over any stored one. Meant for development.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Inline *AnyJSON `json:"inline,omitempty"`
}

// IsEmpty tells that no component is defined. The published controller stores an
// empty definition in subinstallations of roots that have none.
func (d *ComponentDescriptorDefinition) IsEmpty() bool {
	return d == nil || d.Reference == nil && d.Inline == nil
}

// ComponentDescriptorReference names a component version in a repository.
type ComponentDescriptorReference struct {
	// RepositoryContext is the repository that holds the component. Without it the
	// repository of the Context is used.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	RepositoryContext *UnstructuredTypedObject `json:"repositoryContext,omitempty"`
	// ComponentName is the name of the component, such as
	// example.com/team/product.
	// +required
	ComponentName string `json:"componentName"`
	// Version is the version of the component.
	// +required
	Version string `json:"version"`
}

// BlueprintDefinition names a blueprint, or holds it.
type BlueprintDefinition struct {
	// Reference names a resource of the component.
	// +optional
	Reference *RemoteBlueprintReference `json:"ref,omitempty"`
	// Inline holds the blueprint's files.
	// +optional
	Inline *InlineBlueprint `json:"inline,omitempty"`
}

// RemoteBlueprintReference names a blueprint that is a resource of the component.
type RemoteBlueprintReference struct {
	// ResourceName is the name of a resource of type
	// landscaper.gardener.cloud/blueprint or blueprint.
	// +required
	ResourceName string `json:"resourceName"`
}

// InlineBlueprint holds the files of a blueprint.
type InlineBlueprint struct {
	// Filesystem is a tree of directories (maps) and files (strings) with a
	// blueprint.yaml at its root. It may also be written as one YAML text.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Filesystem AnyJSON `json:"filesystem"`
}

// InstallationImports say where the values of the blueprint's imports come from.
// Names are unique over both lists.
type InstallationImports struct {
	// Data are imports of any value.
	// +optional
	Data []DataImport `json:"data,omitempty"`
	// Targets are imports of the access to an environment.
	// +optional
	Targets []TargetImport `json:"targets,omitempty"`
}

// DataImport takes a value from exactly one of dataRef, secretRef and
// configMapRef.
type DataImport struct {
	// Name is the logical name of the import.
	// +required
	Name string `json:"name"`
	// DataRef is the name of a DataObject: at a root its name in the namespace, in
	// a subinstallation the name of an import of the parent or of an export of a
	// sibling. With a leading # it is the real name of the object everywhere.
	// +optional
	DataRef string `json:"dataRef,omitempty"`
	// Version is accepted and has no effect.
	// +optional
	Version string `json:"version,omitempty"`
	// SecretRef names a Secret, or one key of it.
	// +optional
	SecretRef *ImportSecretReference `json:"secretRef,omitempty"`
	// ConfigMapRef names a ConfigMap, or one key of it.
	// +optional
	ConfigMapRef *ImportConfigMapReference `json:"configMapRef,omitempty"`
}

// ImportSecretReference names the Secret of a data import.
type ImportSecretReference struct {
	LocalSecretReference `json:",inline"`
	// Namespace is the namespace of the Secret, by default that of the
	// Installation. Another one needs the administrator's permission.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// ImportConfigMapReference names the ConfigMap of a data import.
type ImportConfigMapReference struct {
	LocalConfigMapReference `json:",inline"`
	// Namespace is the namespace of the ConfigMap, by default that of the
	// Installation. Another one needs the administrator's permission.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// TargetImport takes Targets from exactly one of target, targets, targetListRef,
// targetMap and targetMapRef.
type TargetImport struct {
	// Name is the logical name of the import.
	// +required
	Name string `json:"name"`
	// Target is the name of one Target, resolved as dataRef is. In a
	// subinstallation list[0] and map[key] pick an element of a parent's import.
	// +optional
	Target string `json:"target,omitempty"`
	// Targets are the names of the Targets of a list. An empty list is a value,
	// too.
	// +optional
	Targets []string `json:"targets,omitzero"`
	// TargetListReference passes a target list import of the parent.
	// +optional
	TargetListReference string `json:"targetListRef,omitempty"`
	// TargetMap are the names of the Targets of a map.
	// +optional
	TargetMap map[string]string `json:"targetMap,omitzero"`
	// TargetMapReference passes a target map import of the parent.
	// +optional
	TargetMapReference string `json:"targetMapRef,omitempty"`
}

// InstallationExports say under which names the results of the blueprint are
// published. Names are unique in each list.
type InstallationExports struct {
	// Data are exports of any value.
	// +optional
	Data []DataExport `json:"data,omitempty"`
	// Targets are exports of the access to an environment.
	// +optional
	Targets []TargetExport `json:"targets,omitempty"`
}

// DataExport publishes a value as a DataObject.
type DataExport struct {
	// Name is the name of the blueprint export, or a key of exportDataMappings.
	// +required
	Name string `json:"name"`
	// DataRef is the name under which siblings, or the parent, find the value.
	// +required
	DataRef string `json:"dataRef"`
}

// TargetExport publishes the access to an environment as a Target.
type TargetExport struct {
	// Name is the name of the blueprint export.
	// +required
	Name string `json:"name"`
	// Target is the name under which siblings, or the parent, find the Target.
	// +optional
	Target string `json:"target,omitempty"`
}

// AutomaticReconcile starts jobs without an annotation.
type AutomaticReconcile struct {
	// SucceededReconcile repeats the job of a succeeded Installation.
	// +optional
	SucceededReconcile *SucceededReconcile `json:"succeededReconcile,omitempty"`
	// FailedReconcile repeats the job of a failed Installation.
	// +optional
	FailedReconcile *FailedReconcile `json:"failedReconcile,omitempty"`
}

// SucceededReconcile says when a succeeded Installation runs again.
type SucceededReconcile struct {
	// Interval is the time between two jobs, by default 24h. With none there are no
	// jobs without a cronSpec.
	// +optional
	Interval *Duration `json:"interval,omitempty"`
	// CronSpec is a schedule with five fields, or a word such as @hourly. It takes
	// precedence over the interval.
	// +optional
	CronSpec string `json:"cronSpec,omitempty"`
}

// FailedReconcile says when and how often a failed Installation runs again.
type FailedReconcile struct {
	// NumberOfReconciles limits the retries. Without it there is no limit; 0
	// switches them off.
	// +optional
	// +kubebuilder:validation:Format=int32
	NumberOfReconciles *int `json:"numberOfReconciles,omitempty"`
	// Interval is the time from the failure to the first retry, and between two
	// retries, by default 5m. With none there are no retries without a cronSpec.
	// +optional
	Interval *Duration `json:"interval,omitempty"`
	// CronSpec is a schedule with five fields, or a word such as @hourly. It takes
	// precedence over the interval.
	// +optional
	CronSpec string `json:"cronSpec,omitempty"`
}

// Optimization tells the controller about connections that it need not look for.
type Optimization struct {
	// HasNoSiblingImports says that no import comes from a sibling.
	// +optional
	HasNoSiblingImports bool `json:"hasNoSiblingImports,omitempty"`
	// HasNoSiblingExports says that no sibling imports what this Installation
	// exports.
	// +optional
	HasNoSiblingExports bool `json:"hasNoSiblingExports,omitempty"`
}
