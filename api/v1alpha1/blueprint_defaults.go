package v1alpha1

import "strings"

// SetDefaults fills what the author of a blueprint may leave out: the schema
// dialect, the types of imports and exports, the prefix of target types and
// whether imports are required.
func (b *Blueprint) SetDefaults() {
	if b.JSONSchemaVersion == "" {
		b.JSONSchemaVersion = DefaultJSONSchemaVersion
	}
	b.Imports.setDefaults()
	for i := range b.Exports {
		export := &b.Exports[i]
		export.Type = ExportType(inferType(string(export.Type), export.FieldValueDefinition))
		if export.Type == ExportTypeTarget {
			export.TargetType = qualifiedTargetType(export.TargetType)
		}
	}
}

func (l ImportDefinitionList) setDefaults() {
	for i := range l {
		definition := &l[i]
		definition.Type = ImportType(inferType(string(definition.Type), definition.FieldValueDefinition))
		switch definition.Type {
		case ImportTypeTarget, ImportTypeTargetList, ImportTypeTargetMap:
			definition.TargetType = qualifiedTargetType(definition.TargetType)
		}
		if definition.Required == nil {
			required := true
			definition.Required = &required
		}
		definition.ConditionalImports.setDefaults()
	}
}

// inferType answers for old blueprints, which name no type. Both fields
// together stay without a type: validation reports them.
func inferType(given string, field FieldValueDefinition) string {
	switch {
	case given != "":
		return given
	case field.Schema != nil && field.TargetType == "":
		return string(ImportTypeData)
	case field.Schema == nil && field.TargetType != "":
		return string(ImportTypeTarget)
	}
	return ""
}

func qualifiedTargetType(targetType string) string {
	if targetType == "" || strings.Contains(targetType, "/") {
		return targetType
	}
	return TargetTypePrefix + targetType
}
