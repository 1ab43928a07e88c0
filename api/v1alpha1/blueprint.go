package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ImportType is the kind of a blueprint import.
type ImportType string

// The kinds of blueprint imports.
const (
	// ImportTypeData is an import of any value.
	ImportTypeData ImportType = "data"
	// ImportTypeTarget is an import of one Target.
	ImportTypeTarget ImportType = "target"
	// ImportTypeTargetList is an import of a list of Targets.
	ImportTypeTargetList ImportType = "targetList"
	// ImportTypeTargetMap is an import of a map of Targets.
	ImportTypeTargetMap ImportType = "targetMap"
)

// ExportType is the kind of a blueprint export.
type ExportType string

// The kinds of blueprint exports.
const (
	// ExportTypeData is an export of any value.
	ExportTypeData ExportType = "data"
	// ExportTypeTarget is an export of a Target.
	ExportTypeTarget ExportType = "target"
)

// Constants of blueprint artifacts.
const (
	// BlueprintFileName is the name of the file that describes a blueprint.
	BlueprintFileName = "blueprint.yaml"
	// BlueprintType is the type of component resources that hold a blueprint.
	BlueprintType = "landscaper.gardener.cloud/blueprint"
	// BlueprintResourceType is the short form of BlueprintType.
	BlueprintResourceType = "blueprint"
	// DefaultJSONSchemaVersion is the JSON schema dialect of blueprints that name
	// none.
	DefaultJSONSchemaVersion = "https://json-schema.org/draft/2019-09/schema"
	// TargetTypePrefix is put in front of target types without a slash.
	TargetTypePrefix = GroupName + "/"
)

// Blueprint describes what to bring up: its imports, its children and its
// exports. It is a file, not an object of the API server.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type Blueprint struct {
	metav1.TypeMeta `json:",inline"`

	// Annotations are free.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// JSONSchemaVersion is the JSON schema dialect of the schemas.
	// +optional
	JSONSchemaVersion string `json:"jsonSchemaVersion,omitempty"`
	// LocalTypes are schemas that others refer to as local://<name>.
	// +optional
	LocalTypes map[string]JSONSchemaDefinition `json:"localTypes,omitempty"`
	// Imports are the inputs.
	// +optional
	Imports ImportDefinitionList `json:"imports,omitempty"`
	// ImportExecutions check the inputs and compute further ones.
	// +optional
	ImportExecutions []TemplateExecutor `json:"importExecutions,omitempty"`
	// Exports are the results.
	// +optional
	Exports ExportDefinitionList `json:"exports,omitempty"`
	// Subinstallations are children that are Installations.
	// +optional
	Subinstallations SubinstallationTemplateList `json:"subinstallations,omitempty"`
	// SubinstallationExecutions compute further subinstallations.
	// +optional
	SubinstallationExecutions []TemplateExecutor `json:"subinstallationExecutions,omitempty"`
	// DeployExecutions compute the deploy items.
	// +optional
	DeployExecutions []TemplateExecutor `json:"deployExecutions,omitempty"`
	// ExportExecutions compute the results.
	// +optional
	ExportExecutions []TemplateExecutor `json:"exportExecutions,omitempty"`
}

// ImportDefinitionList is a list of blueprint imports.
type ImportDefinitionList []ImportDefinition

// ExportDefinitionList is a list of blueprint exports.
type ExportDefinitionList []ExportDefinition

// FieldValueDefinition names a value and says what it must look like.
type FieldValueDefinition struct {
	// Name is the name of the value.
	// +required
	Name string `json:"name"`
	// Schema describes a data value.
	// +optional
	Schema *JSONSchemaDefinition `json:"schema,omitempty"`
	// TargetType is the type of a Target.
	// +optional
	TargetType string `json:"targetType,omitempty"`
}

// ImportDefinition is an input of a blueprint.
type ImportDefinition struct {
	FieldValueDefinition `json:",inline"`
	// Type is data, target, targetList or targetMap. Without it the presence of
	// schema or targetType decides.
	// +optional
	Type ImportType `json:"type,omitempty"`
	// Required says that the value must be given, which is the default.
	// +optional
	Required *bool `json:"required,omitempty"`
	// Default is taken if a data value that is not required is not given.
	// +optional
	Default Default `json:"default,omitzero"`
	// ConditionalImports are inputs that exist only if this one is given.
	// +optional
	ConditionalImports ImportDefinitionList `json:"imports,omitempty"`
}

// Default holds a default value.
type Default struct {
	// Value is the default value.
	// +optional
	Value AnyJSON `json:"value,omitzero"`
}

// ExportDefinition is a result of a blueprint.
type ExportDefinition struct {
	FieldValueDefinition `json:",inline"`
	// Type is data or target. Without it the presence of schema or targetType
	// decides.
	// +optional
	Type ExportType `json:"type,omitempty"`
}

// TemplateType names a template engine.
type TemplateType string

// The template engines.
const (
	// GOTemplateType is Go's text/template.
	GOTemplateType TemplateType = "GoTemplate"
	// SpiffTemplateType is the spiff language.
	SpiffTemplateType TemplateType = "Spiff"
)

// TemplateExecutor is a template that computes a part of a blueprint.
type TemplateExecutor struct {
	// Name is the name of the execution.
	// +required
	Name string `json:"name"`
	// Type is the template engine.
	// +required
	Type TemplateType `json:"type"`
	// File is the path of the template in the blueprint.
	// +optional
	File string `json:"file,omitempty"`
	// Template is the template itself.
	// +optional
	Template AnyJSON `json:"template,omitzero"`
}

// SubinstallationTemplateList is a list of subinstallations.
type SubinstallationTemplateList []SubinstallationTemplate

// SubinstallationTemplate is a subinstallation, or the file that holds it.
type SubinstallationTemplate struct {
	// File is the path of an InstallationTemplate in the blueprint.
	// +optional
	File string `json:"file,omitempty"`
	// InstallationTemplate is the template itself.
	*InstallationTemplate `json:",inline"`
}

// InstallationTemplateList is a list of installation templates.
type InstallationTemplateList []*InstallationTemplate

// InstallationTemplate describes a subinstallation. It is a file or a part of
// one, not an object of the API server.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type InstallationTemplate struct {
	metav1.TypeMeta `json:",inline"`

	// Name is the name of the subinstallation in its blueprint.
	// +required
	Name string `json:"name"`
	// Blueprint names the blueprint of the subinstallation.
	// +required
	Blueprint InstallationTemplateBlueprintDefinition `json:"blueprint"`
	// Imports say where the values come from.
	// +optional
	Imports InstallationImports `json:"imports,omitzero"`
	// ImportDataMappings build imports of the blueprint.
	// +optional
	ImportDataMappings map[string]AnyJSON `json:"importDataMappings,omitempty"`
	// Exports say under which names the results are published.
	// +optional
	Exports InstallationExports `json:"exports,omitzero"`
	// ExportDataMappings build exports of the subinstallation.
	// +optional
	ExportDataMappings map[string]AnyJSON `json:"exportDataMappings,omitempty"`
	// Optimization is handed to the subinstallation.
	// +optional
	Optimization *Optimization `json:"optimization,omitempty"`
}

// InstallationTemplateBlueprintDefinition names a blueprint, or holds it.
type InstallationTemplateBlueprintDefinition struct {
	// Reference is a cd:// reference to a resource.
	// +optional
	Reference string `json:"ref,omitempty"`
	// Filesystem holds the blueprint's files.
	// +optional
	Filesystem AnyJSON `json:"filesystem,omitzero"`
}
