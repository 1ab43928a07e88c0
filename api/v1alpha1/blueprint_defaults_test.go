package v1alpha1

import "testing"

// TestImportDefaults has a row for each rule of old and new style definitions.
func TestImportDefaults(t *testing.T) {
	const standard = string(KubernetesClusterTargetType)
	schema := &JSONSchemaDefinition{RawMessage: []byte(`{}`)}
	for _, test := range []struct {
		reason     string
		given      ImportDefinition
		wantType   ImportType
		targetType string
	}{
		{"a schema alone means data", define(schema, "", ""), ImportTypeData, ""},
		{"a target type alone means one target, and gets its prefix", define(nil, "kubernetes-cluster", ""), ImportTypeTarget, standard},
		{"both are left as they are, validation reports them", define(schema, "kubernetes-cluster", ""), "", "kubernetes-cluster"},
		{"neither is left as it is, validation reports it", define(nil, "", ""), "", ""},
		{"a target with its type", define(nil, "kubernetes-cluster", ImportTypeTarget), ImportTypeTarget, standard},
		{"a list of targets", define(nil, "kubernetes-cluster", ImportTypeTargetList), ImportTypeTargetList, standard},
		{"a map of targets, as documented", define(nil, "kubernetes-cluster", ImportTypeTargetMap), ImportTypeTargetMap, standard},
		{"a type with a prefix keeps it", define(nil, "acme.example/vm", ImportTypeTargetMap), ImportTypeTargetMap, "acme.example/vm"},
		{"an empty target type is not completed", define(nil, "", ImportTypeTarget), ImportTypeTarget, ""},
		{"data keeps what does not belong to it, validation reports it", define(schema, "x", ImportTypeData), ImportTypeData, "x"},
		{"an unknown type is kept, validation reports it", define(nil, "x", "componentDescriptor"), "componentDescriptor", "x"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			nested := test.given
			test.given.ConditionalImports = ImportDefinitionList{nested}
			blueprint := &Blueprint{Imports: ImportDefinitionList{test.given}}
			// The second time changes nothing.
			for range 2 {
				blueprint.SetDefaults()
			}
			for level, got := range map[string]ImportDefinition{"top": blueprint.Imports[0], "conditional": blueprint.Imports[0].ConditionalImports[0]} {
				if got.Type != test.wantType || got.TargetType != test.targetType {
					t.Errorf("%s (%s): type %q, target type %q, want %q, %q", test.reason, level, got.Type, got.TargetType, test.wantType, test.targetType)
				}
				if got.Required == nil || !*got.Required {
					t.Errorf("%s (%s): it is not required", test.reason, level)
				}
			}
		})
	}
}

func define(schema *JSONSchemaDefinition, targetType string, kind ImportType) ImportDefinition {
	return ImportDefinition{FieldValueDefinition: FieldValueDefinition{Name: "a", Schema: schema, TargetType: targetType}, Type: kind}
}

func TestOptionalImportsStayOptional(t *testing.T) {
	optional := false
	blueprint := &Blueprint{Imports: ImportDefinitionList{{Required: &optional}}}
	blueprint.SetDefaults()
	if *blueprint.Imports[0].Required {
		t.Error("an import that says required: false became required")
	}
}

func TestExportDefaults(t *testing.T) {
	schema := &JSONSchemaDefinition{RawMessage: []byte(`{}`)}
	for _, test := range []struct {
		reason     string
		given      ExportDefinition
		wantType   ExportType
		targetType string
	}{
		{"a schema alone means data", ExportDefinition{FieldValueDefinition: FieldValueDefinition{Schema: schema}}, ExportTypeData, ""},
		{"a target type alone means a target, and gets its prefix", ExportDefinition{FieldValueDefinition: FieldValueDefinition{TargetType: "kubernetes-cluster"}}, ExportTypeTarget, string(KubernetesClusterTargetType)},
		{"a type with a prefix keeps it", ExportDefinition{FieldValueDefinition: FieldValueDefinition{TargetType: "acme.example/vm"}, Type: ExportTypeTarget}, ExportTypeTarget, "acme.example/vm"},
		{"neither is left as it is", ExportDefinition{}, "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			blueprint := &Blueprint{Exports: ExportDefinitionList{test.given}}
			blueprint.SetDefaults()
			if got := blueprint.Exports[0]; got.Type != test.wantType || got.TargetType != test.targetType {
				t.Errorf("type %q, target type %q, want %q, %q", got.Type, got.TargetType, test.wantType, test.targetType)
			}
		})
	}
}
