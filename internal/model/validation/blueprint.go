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

// Blueprint checks the description of a blueprint after its defaults were set: what no Landscaper
// could use. Templates in files are not checked.
func Blueprint(blueprint *v1alpha1.Blueprint) field.ErrorList {
	errs := importDefinitions(blueprint.Imports, field.NewPath("imports"))
	errs = append(errs, exportDefinitions(blueprint.Exports, field.NewPath("exports"))...)
	for _, execution := range executions(blueprint) {
		errs = append(errs, templateExecutors(execution.list, field.NewPath(execution.name))...)
	}
	return append(errs, subinstallations(blueprint.Subinstallations, field.NewPath("subinstallations"))...)
}

func importDefinitions(imports v1alpha1.ImportDefinitionList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range imports {
		item, path := &imports[i], path.Index(i)
		if isHistoric(item.Type) {
			errs = append(errs, historicImport(item.Type, path.Child("type")))
			continue
		}
		errs = append(errs, valueDefinition(item.FieldValueDefinition, item.Type, importTypes, item.Type == v1alpha1.ImportTypeData, path)...)
		errs = append(errs, importDefinitions(item.ConditionalImports, path.Child("imports"))...)
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
	for i := range exports {
		item, path := &exports[i], path.Index(i)
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
	for i := range executors {
		executor, path := &executors[i], path.Index(i)
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

// BlueprintAdvice reports what is probably a mistake, although blueprints in use have it and the
// published controllers render them: names that are missing or not unique, and conditions that are
// always true.
func BlueprintAdvice(blueprint *v1alpha1.Blueprint) field.ErrorList {
	errs := importAdvice(blueprint.Imports, names{}, field.NewPath("imports"))
	exports := names{}
	for i := range blueprint.Exports {
		errs = append(errs, exports.add(blueprint.Exports[i].Name, field.NewPath("exports").Index(i).Child("name"))...)
	}
	for _, execution := range executions(blueprint) {
		seen := names{}
		for i := range execution.list {
			// Without a name it has a state like any other: that of no name.
			if name := execution.list[i].Name; name != "" {
				errs = append(errs, seen.add(name, field.NewPath(execution.name).Index(i).Child("name"))...)
			}
		}
	}
	return errs
}

func importAdvice(imports v1alpha1.ImportDefinitionList, seen names, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range imports {
		item, path := &imports[i], path.Index(i)
		errs = append(errs, seen.add(item.Name, path.Child("name"))...)
		if len(item.ConditionalImports) > 0 && (item.Required == nil || *item.Required) {
			errs = append(errs, field.Forbidden(path.Child("imports"), "these imports have no condition: only an import with required: false can be missing"))
		}
		errs = append(errs, importAdvice(item.ConditionalImports, seen, path.Child("imports"))...)
	}
	return errs
}

type executionList struct {
	name string
	list []v1alpha1.TemplateExecutor
}

func executions(blueprint *v1alpha1.Blueprint) []executionList {
	return []executionList{
		{"importExecutions", blueprint.ImportExecutions},
		{"deployExecutions", blueprint.DeployExecutions},
		{"exportExecutions", blueprint.ExportExecutions},
		{"subinstallationExecutions", blueprint.SubinstallationExecutions},
	}
}
