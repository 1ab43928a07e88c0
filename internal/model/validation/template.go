package validation

import (
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/siblinggraph"
)

// templateNameMaxLength is short enough for what is added to make the name of an Installation from
// it.
const templateNameMaxLength = v1alpha1.InstallationGenerateNameMaxLength - 1

// InstallationTemplate checks one subinstallation of a blueprint.
func InstallationTemplate(template *v1alpha1.InstallationTemplate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	namePath := path.Child("name")
	switch {
	case template.Name == "":
		errs = append(errs, field.Required(namePath, "give a name"))
	case len(template.Name) > templateNameMaxLength:
		errs = append(errs, field.TooLong(namePath, template.Name, templateNameMaxLength))
	default:
		for _, problem := range utilvalidation.IsDNS1123Label(template.Name) {
			errs = append(errs, field.Invalid(namePath, template.Name, problem))
		}
	}
	if template.Blueprint.Reference == "" && len(template.Blueprint.Filesystem.RawMessage) == 0 {
		errs = append(errs, field.Required(path.Child("blueprint"), "give ref or filesystem"))
	}
	errs = append(errs, templateImports(&template.Imports, path.Child("imports"))...)
	return append(errs, exports(&template.Exports, path.Child("exports"))...)
}

func templateImports(imports *v1alpha1.InstallationImports, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i := range imports.Data {
		item, path := &imports.Data[i], path.Child("data").Index(i)
		if item.DataRef == "" {
			errs = append(errs, field.Required(path.Child("dataRef"), "give the name of an import of the blueprint or of an export of another subinstallation"))
		}
		if item.SecretRef != nil {
			errs = append(errs, field.Forbidden(path.Child("secretRef"), "Secrets can only be imported at a root"))
		}
		if item.ConfigMapRef != nil {
			errs = append(errs, field.Forbidden(path.Child("configMapRef"), "ConfigMaps can only be imported at a root"))
		}
		errs = append(errs, seen.add(item.Name, path.Child("name"))...)
	}
	return append(errs, targetImports(imports.Targets, seen, path.Child("targets"))...)
}

// templateScope stands for that of the parent, which may have no name yet: names of
// templates mean something only among themselves.
const templateScope = "parent"

// InstallationTemplates checks all subinstallations of a blueprint together. The
// imports are those of the blueprint that are in force: a conditional one only
// if the import that it belongs to is given.
func InstallationTemplates(templates []*v1alpha1.InstallationTemplate, imports v1alpha1.ImportDefinitionList) field.ErrorList {
	path := field.NewPath("subinstallations")
	check := &siblingCheck{
		imports: make(map[string]v1alpha1.ImportType),
		graph:   siblinggraph.NewGraph(templateScope, siblinggraph.TemplateUnits(templates)),
	}
	check.addImports(imports)
	var errs field.ErrorList
	seen := names{}
	for i, template := range templates {
		if template.Name != "" {
			errs = append(errs, seen.add(template.Name, path.Index(i).Child("name"))...)
		}
		errs = append(errs, check.exports(&template.Exports, path.Index(i).Child("exports"))...)
		errs = append(errs, check.satisfied(template, path.Index(i).Child("imports"))...)
	}
	return errs
}

// InstallationOrder checks that the subinstallations of a blueprint can run one after the other.
// Those in the errors cannot, nor can those that need something of them; all others can.
func InstallationOrder(templates []*v1alpha1.InstallationTemplate) field.ErrorList {
	path := field.NewPath("subinstallations")
	graph := siblinggraph.NewGraph(templateScope, siblinggraph.TemplateUnits(templates))
	var errs field.ErrorList
	for _, collision := range graph.Collisions() {
		second := collision.Second
		errs = append(errs, field.Forbidden(path.Index(second.Index).Child("exports", second.Path),
			second.Name+" is already exported by subinstallation "+collision.First.Unit+": choose another name"))
	}
	for _, cycle := range graph.Cycles() {
		errs = append(errs, field.Invalid(path, cycle.String(), "the subinstallations wait for each other in a cycle: "+cycle.Explanation()))
	}
	return errs
}

// siblingCheck knows what subinstallations can import: the imports of their
// parent and the exports of each other.
type siblingCheck struct {
	imports map[string]v1alpha1.ImportType
	graph   *siblinggraph.Graph
}

func (c *siblingCheck) addImports(imports v1alpha1.ImportDefinitionList) {
	for i := range imports {
		c.imports[imports[i].Name] = imports[i].Type
		c.addImports(imports[i].ConditionalImports)
	}
}

// exports checks that a template does not export what its parent imports.
func (c *siblingCheck) exports(exports *v1alpha1.InstallationExports, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := func(name string, path *field.Path) {
		if _, ok := c.imports[name]; ok {
			errs = append(errs, field.Forbidden(path, name+" is already an import of the blueprint: choose another name"))
		}
	}
	for i, export := range exports.Data {
		taken(export.DataRef, path.Child("data").Index(i).Child("dataRef"))
	}
	for i, export := range exports.Targets {
		taken(export.Target, path.Child("targets").Index(i).Child("target"))
	}
	return errs
}

// satisfied checks that each import of a template is an import of the parent or
// an export of a sibling.
func (c *siblingCheck) satisfied(template *v1alpha1.InstallationTemplate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, mention := range dataflow.Mentions(&template.Imports) {
		if mention.Written != "" && !c.known(mention) {
			unknown := field.NotFound(path.Child(mention.Path), mention.Written)
			unknown.Detail = "declare it among the imports of the blueprint, let a sibling export it, or correct the name"
			errs = append(errs, unknown)
		}
	}
	return errs
}

// known reports whether the source of an import exists.
func (c *siblingCheck) known(mention dataflow.Mention) bool {
	given := c.imports[mention.Name]
	switch {
	case mention.Direct:
		return true
	case mention.Whole != "":
		return given == mention.Whole
	case mention.IsElement():
		return given == v1alpha1.ImportTypeTargetList || given == v1alpha1.ImportTypeTargetMap
	case mention.Kind == dataflow.KindTarget && given == v1alpha1.ImportTypeTarget, mention.Kind == dataflow.KindDataObject && given == v1alpha1.ImportTypeData:
		return true
	}
	return len(c.graph.Exporters(siblinggraph.Value{Kind: mention.Kind, Object: mention.Object(templateScope)})) > 0
}
