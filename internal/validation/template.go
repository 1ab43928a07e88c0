package validation

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
)

// templateNameMaxLength leaves room for what is added to make the name of an
// Installation from it.
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
	errs = append(errs, exactlyOne(path.Child("blueprint"), choice{"ref", template.Blueprint.Reference != ""},
		choice{"filesystem", len(template.Blueprint.Filesystem.RawMessage) > 0})...)
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

// InstallationTemplates checks all subinstallations of a blueprint together. The
// imports are those of the blueprint that are in force: a conditional one only
// if the import that it belongs to is given.
func InstallationTemplates(templates []*v1alpha1.InstallationTemplate, imports v1alpha1.ImportDefinitionList) field.ErrorList {
	path := field.NewPath("subinstallations")
	check := &siblingCheck{imports: make(map[string]v1alpha1.ImportType), data: make(map[string]string), targets: make(map[string]string)}
	check.addImports(imports)
	var errs field.ErrorList
	seen := names{}
	for i, template := range templates {
		if template.Name != "" {
			errs = append(errs, seen.add(template.Name, path.Index(i).Child("name"))...)
		}
		errs = append(errs, check.addExports(template, path.Index(i).Child("exports"))...)
	}
	edges := make(map[string][]string, len(templates))
	order := make([]string, 0, len(templates))
	for i, template := range templates {
		errs = append(errs, check.satisfied(template, path.Index(i).Child("imports"))...)
		order = append(order, template.Name)
		edges[template.Name] = check.predecessors(template)
	}
	for _, cycle := range Cycles(order, edges) {
		errs = append(errs, field.Invalid(path, strings.Join(cycle, " -> "), "the subinstallations wait for each other in a circle"))
	}
	return errs
}

// siblingCheck knows what subinstallations can import: the imports of their
// parent and the exports of each other.
type siblingCheck struct {
	imports map[string]v1alpha1.ImportType
	// data and targets map the name of an export to the template that makes it.
	data, targets map[string]string
}

func (c *siblingCheck) addImports(imports v1alpha1.ImportDefinitionList) {
	for i := range imports {
		c.imports[imports[i].Name] = imports[i].Type
		c.addImports(imports[i].ConditionalImports)
	}
}

func (c *siblingCheck) addExports(template *v1alpha1.InstallationTemplate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, export := range template.Exports.Data {
		errs = append(errs, c.addExport(c.data, export.DataRef, template.Name, path.Child("data").Index(i).Child("dataRef"))...)
	}
	for i, export := range template.Exports.Targets {
		errs = append(errs, c.addExport(c.targets, export.Target, template.Name, path.Child("targets").Index(i).Child("target"))...)
	}
	return errs
}

func (c *siblingCheck) addExport(exports map[string]string, name, template string, path *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	if _, ok := c.imports[name]; ok {
		return field.ErrorList{field.Forbidden(path, name+" is already an import of the blueprint: choose another name")}
	}
	if other, ok := exports[name]; ok {
		return field.ErrorList{field.Forbidden(path, name+" is already exported by subinstallation "+other+": choose another name")}
	}
	exports[name] = template
	return nil
}

// satisfied checks that each import of a template is an import of the parent or
// an export of a sibling.
func (c *siblingCheck) satisfied(template *v1alpha1.InstallationTemplate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	missing := func(path *field.Path, name string) {
		errs = append(errs, field.NotFound(path, name))
	}
	for i, item := range template.Imports.Data {
		if item.DataRef != "" && !c.hasData(item.DataRef) {
			missing(path.Child("data").Index(i).Child("dataRef"), item.DataRef)
		}
	}
	for i, item := range template.Imports.Targets {
		path := path.Child("targets").Index(i)
		for _, name := range targetNames(item) {
			if name != "" && !c.hasTarget(name) {
				missing(path, name)
			}
		}
		if ref := item.TargetListReference; ref != "" && c.imports[ref] != v1alpha1.ImportTypeTargetList {
			missing(path.Child("targetListRef"), ref)
		}
		if ref := item.TargetMapReference; ref != "" && c.imports[ref] != v1alpha1.ImportTypeTargetMap {
			missing(path.Child("targetMapRef"), ref)
		}
	}
	return errs
}

func (c *siblingCheck) hasData(name string) bool {
	if strings.HasPrefix(name, v1alpha1.NonContextifiedPrefix) {
		return true
	}
	_, exported := c.data[name]
	return exported || c.imports[name] == v1alpha1.ImportTypeData
}

var elementReference = regexp.MustCompile(`^(.*)\[(.*)\]$`)

func (c *siblingCheck) hasTarget(name string) bool {
	if strings.HasPrefix(name, v1alpha1.NonContextifiedPrefix) {
		return true
	}
	if element := elementReference.FindStringSubmatch(name); element != nil {
		list := c.imports[element[1]]
		return list == v1alpha1.ImportTypeTargetList || list == v1alpha1.ImportTypeTargetMap
	}
	_, exported := c.targets[name]
	return exported || c.imports[name] == v1alpha1.ImportTypeTarget
}

// predecessors returns the siblings whose exports a template imports.
func (c *siblingCheck) predecessors(template *v1alpha1.InstallationTemplate) []string {
	var siblings []string
	add := func(exports map[string]string, name string) {
		if sibling, ok := exports[name]; ok && !slices.Contains(siblings, sibling) {
			siblings = append(siblings, sibling)
		}
	}
	for _, item := range template.Imports.Data {
		add(c.data, item.DataRef)
	}
	for _, item := range template.Imports.Targets {
		for _, name := range targetNames(item) {
			add(c.targets, name)
		}
	}
	return siblings
}

// targetNames returns the names of single Targets that an import refers to, in a
// stable order.
func targetNames(item v1alpha1.TargetImport) []string {
	list := slices.Clone(item.Targets)
	if item.Target != "" {
		list = append(list, item.Target)
	}
	for _, key := range slices.Sorted(maps.Keys(item.TargetMap)) {
		list = append(list, item.TargetMap[key])
	}
	return list
}
