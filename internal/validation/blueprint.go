package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
)

var (
	importTypes = []v1alpha1.ImportType{v1alpha1.ImportTypeData, v1alpha1.ImportTypeTarget, v1alpha1.ImportTypeTargetList, v1alpha1.ImportTypeTargetMap}
	exportTypes = []v1alpha1.ExportType{v1alpha1.ExportTypeData, v1alpha1.ExportTypeTarget}
)

// Blueprint checks the description of a blueprint after its defaults were set.
// Templates in files are not looked at.
func Blueprint(blueprint *v1alpha1.Blueprint) field.ErrorList {
	errs := importDefinitions(blueprint.Imports, names{}, field.NewPath("imports"))
	errs = append(errs, exportDefinitions(blueprint.Exports, field.NewPath("exports"))...)
	executions := []struct {
		name string
		list []v1alpha1.TemplateExecutor
	}{
		{"importExecutions", blueprint.ImportExecutions},
		{"deployExecutions", blueprint.DeployExecutions},
		{"exportExecutions", blueprint.ExportExecutions},
		{"subinstallationExecutions", blueprint.SubinstallationExecutions},
	}
	for _, execution := range executions {
		errs = append(errs, templateExecutors(execution.list, field.NewPath(execution.name))...)
	}
	return append(errs, subinstallations(blueprint.Subinstallations, field.NewPath("subinstallations"))...)
}

func importDefinitions(imports v1alpha1.ImportDefinitionList, seen names, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range imports {
		item, path := &imports[i], path.Index(i)
		errs = append(errs, seen.add(item.Name, path.Child("name"))...)
		if isHistoric(item.Type) {
			errs = append(errs, historicImport(item.Type, path.Child("type")))
			continue
		}
		errs = append(errs, valueDefinition(item.FieldValueDefinition, item.Type, importTypes, item.Type == v1alpha1.ImportTypeData, path)...)
		if len(item.ConditionalImports) == 0 {
			continue
		}
		if item.Required == nil || *item.Required {
			errs = append(errs, field.Forbidden(path.Child("imports"), "only an import with required: false can have conditional imports"))
		}
		errs = append(errs, importDefinitions(item.ConditionalImports, seen, path.Child("imports"))...)
	}
	return errs
}

// Import types that blueprints had before templates got all component
// descriptors without asking for them.
const (
	historicDescriptor     v1alpha1.ImportType = "componentDescriptor"
	historicDescriptorList v1alpha1.ImportType = "componentDescriptorList"
)

func isHistoric(given v1alpha1.ImportType) bool {
	return given == historicDescriptor || given == historicDescriptorList
}

func historicImport(given v1alpha1.ImportType, path *field.Path) *field.Error {
	err := field.NotSupported(path, given, importTypes)
	err.Detail += "; remove this import: templates get the component descriptor as cd, and all that belong to it as components"
	return err
}

func exportDefinitions(exports v1alpha1.ExportDefinitionList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i := range exports {
		item, path := &exports[i], path.Index(i)
		errs = append(errs, seen.add(item.Name, path.Child("name"))...)
		errs = append(errs, valueDefinition(item.FieldValueDefinition, item.Type, exportTypes, item.Type == v1alpha1.ExportTypeData, path)...)
	}
	return errs
}

// valueDefinition checks that the type of an import or export and the
// description of its value fit together.
func valueDefinition[T ~string](value v1alpha1.FieldValueDefinition, given T, known []T, isData bool, path *field.Path) field.ErrorList {
	if given == "" {
		return exactlyOne(path, choice{"schema", value.Schema != nil}, choice{"targetType", value.TargetType != ""})
	}
	if !slices.Contains(known, given) {
		return field.ErrorList{field.NotSupported(path.Child("type"), given, known)}
	}
	var errs field.ErrorList
	if isData && value.Schema == nil {
		errs = append(errs, field.Required(path.Child("schema"), "data needs a schema"))
	}
	if isData && value.TargetType != "" {
		errs = append(errs, field.Forbidden(path.Child("targetType"), "data has no target type"))
	}
	if !isData && value.TargetType == "" {
		errs = append(errs, field.Required(path.Child("targetType"), "targets need a target type"))
	}
	if !isData && value.Schema != nil {
		errs = append(errs, field.Forbidden(path.Child("schema"), "targets have no schema"))
	}
	return errs
}

func templateExecutors(executors []v1alpha1.TemplateExecutor, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i := range executors {
		executor, path := &executors[i], path.Index(i)
		errs = append(errs, seen.add(executor.Name, path.Child("name"))...)
		switch executor.Type {
		case v1alpha1.GOTemplateType, v1alpha1.SpiffTemplateType:
		case "":
			errs = append(errs, field.Required(path.Child("type"), "give GoTemplate or Spiff"))
		default:
			errs = append(errs, field.NotSupported(path.Child("type"), executor.Type, []v1alpha1.TemplateType{v1alpha1.GOTemplateType, v1alpha1.SpiffTemplateType}))
		}
	}
	return errs
}

func subinstallations(list v1alpha1.SubinstallationTemplateList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range list {
		item, path := &list[i], path.Index(i)
		inline := item.InstallationTemplate != nil && item.Name != ""
		errs = append(errs, exactlyOne(path, choice{"file", item.File != ""}, choice{"an installation template with a name", inline})...)
		if inline && item.File == "" {
			errs = append(errs, InstallationTemplate(item.InstallationTemplate, path)...)
		}
	}
	return errs
}
