package plan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/uri"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/content/template/mask"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/validation"
)

// ErrNoComponent says that a subinstallation refers to a blueprint of a component and the
// Installation has none.
var ErrNoComponent = errors.New("no component descriptor defined to resolve the blueprint ref: set spec.componentDescriptor of the Installation, or use blueprint.filesystem")

// Subinstallation is a child that is an Installation.
type Subinstallation struct {
	// Name is its name in the blueprint. The writer chooses the name of the object.
	Name string
	// Installation is what the object has to look like.
	Installation *v1alpha1.Installation
	// Template is what it was made from.
	Template *v1alpha1.InstallationTemplate
}

// subinstallations renders the subinstallation executions and adds those that are
// written into the blueprint.
//
// A mistake in a template fails all of them, since what was meant is unknown. A cycle or a
// collision concerns its members only: it is returned apart, and all others may run.
func (p *Plan) subinstallations(ctx context.Context, states *newStates) (subs []Subinstallation, held error, err error) {
	templates, err := p.renderedTemplates(ctx, states)
	if err != nil {
		return nil, nil, err
	}
	static, errs := p.staticTemplates()
	templates = append(templates, static...)
	for _, template := range templates {
		p.dropUnsatisfied(template)
	}
	for i, template := range templates {
		errs = append(errs, validation.InstallationTemplate(template, field.NewPath("subinstallations").Index(i))...)
	}
	if len(errs) == 0 {
		errs = p.checkDirect(templates)
	}
	if len(errs) == 0 {
		errs = validation.InstallationTemplates(templates, p.Imports.InForce(p.in.Blueprint.Info.Imports))
	}
	if len(errs) > 0 {
		return nil, nil, p.invalidSubinstallations(errs)
	}
	for _, template := range templates {
		inst, err := p.installation(ctx, template)
		if err != nil {
			return nil, nil, fmt.Errorf("subinstallation %q: %w", p.subinstallationName(template), err)
		}
		subs = append(subs, Subinstallation{Name: template.Name, Installation: inst, Template: template})
	}
	if errs := validation.InstallationOrder(templates); len(errs) > 0 {
		held = p.invalidSubinstallations(errs)
	}
	return subs, held, nil
}

// checkDirect refuses imports of Targets by their real names: they would reach any Target of the
// namespace. What the Installation imports itself, or a sibling exports under its real name, has
// been given.
func (p *Plan) checkDirect(templates []*v1alpha1.InstallationTemplate) (errs field.ErrorList) {
	if p.in.NamedTargets {
		return nil
	}
	exported := map[string]bool{}
	for _, template := range templates {
		for _, export := range template.Exports.Targets {
			if name, direct := strings.CutPrefix(export.Target, v1alpha1.NonContextifiedPrefix); direct {
				exported[name] = true
			}
		}
	}
	for i, template := range templates {
		for _, mention := range dataflow.Mentions(&template.Imports) {
			if mention.Direct && mention.Kind == dataflow.KindTarget && !exported[mention.Name] && !p.imported(mention.Name) {
				errs = append(errs, field.Forbidden(field.NewPath("subinstallations").Index(i).Child("imports").Child(mention.Path), errNotImported.Error()))
			}
		}
	}
	return errs
}

// invalidSubinstallations says what is wrong with templates. No value of a rendered template is
// shown.
func (p *Plan) invalidSubinstallations(errs field.ErrorList) error {
	if len(p.in.Blueprint.Info.SubinstallationExecutions) > 0 {
		return fmt.Errorf("the subinstallations are not valid: %w", p.quiet(errs))
	}
	return fmt.Errorf("the subinstallations are not valid: %w", errs.ToAggregate())
}

// subinstallationName is how messages call a subinstallation: a template may have taken
// its name from an import.
func (p *Plan) subinstallationName(template *v1alpha1.InstallationTemplate) string {
	if len(p.in.Blueprint.Info.SubinstallationExecutions) > 0 && !p.said(template.Name) {
		return mask.Hidden
	}
	return template.Name
}

func (p *Plan) renderedTemplates(ctx context.Context, states *newStates) ([]*v1alpha1.InstallationTemplate, error) {
	var templates []*v1alpha1.InstallationTemplate
	for i := range p.in.Blueprint.Info.SubinstallationExecutions {
		executor := &p.in.Blueprint.Info.SubinstallationExecutions[i]
		var result struct {
			Subinstallations []*v1alpha1.InstallationTemplate `json:"subinstallations"`
		}
		output, err := p.execute(ctx, template.SubinstallationExecution, executor, states, &result)
		if err != nil {
			return nil, fmt.Errorf("unable to template subinstallations: %w", err)
		}
		p.outputs = append(p.outputs, output)
		for j, template := range result.Subinstallations {
			if err := checkHeader(template); err != nil {
				return nil, fmt.Errorf("unable to decode installation template %d of execution %q: %w", j, executor.Name, err)
			}
		}
		templates = append(templates, result.Subinstallations...)
	}
	return templates, nil
}

// staticTemplates returns the templates that are in the blueprint or in its files.
func (p *Plan) staticTemplates() ([]*v1alpha1.InstallationTemplate, field.ErrorList) {
	var templates []*v1alpha1.InstallationTemplate
	var errs field.ErrorList
	for i := range p.in.Blueprint.Info.Subinstallations {
		entry := &p.in.Blueprint.Info.Subinstallations[i]
		path := field.NewPath("subinstallations").Index(i)
		template := entry.InstallationTemplate
		if entry.File != "" {
			var err *field.Error
			if template, err = ReadTemplate(p.in.Blueprint.Files, entry.File, path.Child("file")); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		if template == nil {
			errs = append(errs, field.Required(path, fmt.Sprintf("neither a inline installation template nor a file is defined in index %d", i)))
			continue
		}
		templates = append(templates, template.DeepCopy())
	}
	return templates, errs
}

// ReadTemplate reads an installation template from a file of a blueprint.
func ReadTemplate(files fs.FS, name string, at *field.Path) (*v1alpha1.InstallationTemplate, *field.Error) {
	content, err := fs.ReadFile(files, memfs.Clean(name))
	if err != nil {
		return nil, field.NotFound(at, name)
	}
	template := &v1alpha1.InstallationTemplate{}
	if err := yamltext.Unmarshal(content, yamltext.Lenient(), template); err != nil {
		return nil, field.Invalid(at, name, fmt.Sprintf("unable to decode installation template: %v", err))
	}
	if err := checkHeader(template); err != nil {
		return nil, field.Invalid(at, name, fmt.Sprintf("unable to decode installation template: %v", err))
	}
	return template, nil
}

// checkHeader accepts a template without a header, but not with a wrong one.
func checkHeader(template *v1alpha1.InstallationTemplate) error {
	if template == nil {
		return errors.New("the entry is empty")
	}
	if template.Kind != "" && template.Kind != "InstallationTemplate" {
		return errors.New("kind is not InstallationTemplate")
	}
	if template.APIVersion != "" && template.APIVersion != v1alpha1.GroupVersion.String() {
		return fmt.Errorf("apiVersion is not %s", v1alpha1.GroupVersion)
	}
	return nil
}

// dropUnsatisfied removes imports that refer to imports of the parent which may be
// missing and are: the blueprint of the child has to cope without them, too. A list
// or map of single Targets stays: what is left of it would be another one.
func (p *Plan) dropUnsatisfied(template *v1alpha1.InstallationTemplate) {
	missing := p.Imports.Missing(p.in.Blueprint.Info.Imports)
	if len(missing) == 0 {
		return
	}
	dropped := map[string]bool{}
	for _, mention := range dataflow.Mentions(&template.Imports) {
		if !mention.Direct && missing[mention.Name] {
			dropped[mention.Import] = true
		}
	}
	template.Imports.Data = slices.DeleteFunc(slices.Clone(template.Imports.Data), func(item v1alpha1.DataImport) bool { return dropped[item.Name] })
	template.Imports.Targets = slices.DeleteFunc(slices.Clone(template.Imports.Targets), func(item v1alpha1.TargetImport) bool {
		return dropped[item.Name] && item.Targets == nil && item.TargetMap == nil
	})
}

// installation builds the object of a child.
func (p *Plan) installation(ctx context.Context, template *v1alpha1.InstallationTemplate) (*v1alpha1.Installation, error) {
	parent := p.in.Installation
	inst := &v1alpha1.Installation{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   parent.Namespace,
			Labels:      map[string]string{v1alpha1.EncompassedByLabel: parent.Name},
			Annotations: map[string]string{v1alpha1.SubinstallationNameAnnotation: template.Name},
		},
		Spec: v1alpha1.InstallationSpec{
			Context: parent.Spec.Context, Verification: parent.Spec.Verification.DeepCopy(),
			Imports: template.Imports, ImportDataMappings: template.ImportDataMappings,
			Exports: template.Exports, ExportDataMappings: template.ExportDataMappings,
			Optimization: template.Optimization,
		},
	}
	for _, inherited := range []string{v1alpha1.CacheHelmChartsAnnotation, v1alpha1.LeaveEarlierClusterAnnotation} {
		if value, ok := parent.Annotations[inherited]; ok {
			inst.Annotations[inherited] = value
		}
	}
	if len(template.Blueprint.Filesystem.RawMessage) > 0 {
		inst.Spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{Filesystem: template.Blueprint.Filesystem}
		if written := parent.Spec.ComponentDescriptor; !written.IsEmpty() {
			inst.Spec.ComponentDescriptor = written.DeepCopy()
		}
		return inst, nil
	}
	resource, definition, err := p.referencedBlueprint(ctx, template.Blueprint.Reference)
	if err != nil {
		return nil, fmt.Errorf("blueprint.ref: %w", err)
	}
	inst.Spec.Blueprint.Reference = &v1alpha1.RemoteBlueprintReference{ResourceName: resource}
	inst.Spec.ComponentDescriptor = definition
	return inst, nil
}

// referencedBlueprint finds the resource behind a cd:// reference, and says how
// the child refers to the component version that has it: as it is written in the
// component reference, because overwrites are applied when the child resolves it.
func (p *Plan) referencedBlueprint(ctx context.Context, reference string) (string, *v1alpha1.ComponentDescriptorDefinition, error) {
	if p.in.Component == nil {
		return "", nil, ErrNoComponent
	}
	parsed, err := uri.Parse(reference)
	if err != nil {
		return "", nil, err // names the reference
	}
	written := &lastReference{Finder: p.in.Component.Session}
	parsed.Context = p.in.Component.Context
	_, resource, err := parsed.Resource(ctx, written, p.in.Component.Version)
	if err != nil {
		return "", nil, fmt.Errorf("unable to resolve blueprint ref in component descriptor %s: %w", p.in.Component.Version.Name, component.Advise(err))
	}
	if written.reference == nil {
		return resource.Name, p.in.Installation.Spec.ComponentDescriptor.DeepCopy(), nil
	}
	return resource.Name, written.definition(p.in), nil
}

// lastReference remembers the last component reference that was followed.
type lastReference struct {
	uri.Finder
	reference *descriptor.Reference
}

// Referenced implements uri.Finder.
func (l *lastReference) Referenced(ctx context.Context, from *repository.Version, reference *descriptor.Reference, context descriptor.Typed) (*repository.Version, error) {
	l.reference = reference
	return l.Finder.Referenced(ctx, from, reference, context) // says what it looked for
}

func (l *lastReference) definition(in Input) *v1alpha1.ComponentDescriptorDefinition {
	if nested := l.reference.Label(descriptor.NestedLabel); nested != nil {
		inline := v1alpha1.NewAnyJSON(nested)
		return &v1alpha1.ComponentDescriptorDefinition{Inline: &inline}
	}
	definition := &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{
		ComponentName: l.reference.ComponentName, Version: l.reference.Version,
	}}
	if !in.Component.Context.IsZero() {
		definition.Reference.RepositoryContext = &v1alpha1.UnstructuredTypedObject{}
		definition.Reference.RepositoryContext.Raw = []byte(in.Component.Context)
	}
	return definition
}
