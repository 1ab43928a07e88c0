package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/content/template/mask"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/validation"
)

// itemSpecification is what a template writes for a deploy item.
type itemSpecification struct {
	Name               string                   `json:"name"`
	Type               v1alpha1.DeployItemType  `json:"type"`
	Target             *targetReference         `json:"target"`
	Labels             map[string]string        `json:"labels"`
	Configuration      *runtime.RawExtension    `json:"config"`
	DependsOn          []string                 `json:"dependsOn"`
	Timeout            *v1alpha1.Duration       `json:"timeout"`
	UpdateOnChangeOnly bool                     `json:"updateOnChangeOnly"`
	OnDelete           *v1alpha1.OnDeleteConfig `json:"onDelete"`
}

// targetReference names a Target by the import that holds it, or by itself.
type targetReference struct {
	Name   string  `json:"name"`
	Import string  `json:"import"`
	Index  *int    `json:"index"`
	Key    *string `json:"key"`
}

// knownFields are the fields of the parts of a deploy item.
var knownFields = struct{ item, target, onDelete []string }{
	namesOf[itemSpecification](), namesOf[targetReference](), namesOf[v1alpha1.OnDeleteConfig](),
}

func namesOf[T any]() []string {
	return slices.Sorted(maps.Keys(yamltext.Fields(reflect.TypeFor[T]())))
}

// unknownFields returns warnings about fields of rendered items that have no
// effect. They are a frequent mistake: configuration instead of config.
func unknownFields(execution string, output *template.Output) []string {
	var warnings []string
	warn := func(i int, part string, names, known []string) {
		for _, name := range names {
			if !slices.ContainsFunc(known, func(field string) bool { return strings.EqualFold(field, name) }) {
				warnings = append(warnings, fmt.Sprintf("deploy execution %q: deployItems[%d]%s has an unknown field %q, which has no effect%s", execution, i, part, output.Show(name), suggest.DidYouMean(name, known)))
			}
		}
	}
	for i, names := range output.FieldsOf("deployItems") {
		warn(i, "", names, knownFields.item)
	}
	var parts []struct {
		Target   template.FieldNames `json:"target"`
		OnDelete template.FieldNames `json:"onDelete"`
	}
	output.Look("deployItems", &parts)
	for i, part := range parts {
		warn(i, ".target", part.Target, knownFields.target)
		warn(i, ".onDelete", part.OnDelete, knownFields.onDelete)
	}
	return warnings
}

// deployItems renders all deploy executions.
func (p *Plan) deployItems(ctx context.Context, states *newStates) (v1alpha1.DeployItemTemplateList, error) {
	var items v1alpha1.DeployItemTemplateList
	for i := range p.in.Blueprint.Info.DeployExecutions {
		executor := &p.in.Blueprint.Info.DeployExecutions[i]
		var result struct {
			DeployItems []itemSpecification `json:"deployItems"`
		}
		output, err := p.execute(ctx, template.DeployExecution, executor, states, &result)
		if err != nil {
			return nil, fmt.Errorf("unable to template executions: %w", err)
		}
		p.outputs = append(p.outputs, output)
		p.Warnings = append(p.Warnings, unknownFields(executor.Name, output)...)
		for j := range result.DeployItems {
			item, err := result.DeployItems[j].resolve(p, output.Show)
			if err == nil {
				err = p.give(ctx, &item)
			}
			if err != nil {
				return nil, fmt.Errorf("invalid deployitem specification %q: %w", output.Show(result.DeployItems[j].Name), err)
			}
			items = append(items, item)
		}
	}
	errs := validation.DeployItemTemplates(items, field.NewPath("deployItems"))
	for i := range items {
		errs = append(errs, checkName(items[i].Name, field.NewPath("deployItems").Index(i).Child("name"))...)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("error validating deployitem templates: %w", p.quiet(errs))
	}
	return items, nil
}

// quiet returns errors about something rendered. The mask is for names in the reasons:
// mostly those of the blueprint, which help.
func (p *Plan) quiet(errs field.ErrorList) error {
	return errors.New(mask.New(p.bindings).Hide(validation.Rendered(errs, p.said).ToAggregate().Error()))
}

// said reports whether a template says a text literally.
func (p *Plan) said(text string) bool {
	return slices.ContainsFunc(p.outputs, func(output *template.Output) bool { return output.Says(text) })
}

// checkName refuses a name that the DeployItem could not have: it becomes a label
// and a part of the object's name.
func checkName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return nil // has been told
	}
	problems := utilvalidation.IsDNS1123Subdomain(name)
	if len(name) > utilvalidation.LabelValueMaxLength {
		problems = append(problems, utilvalidation.MaxLenError(utilvalidation.LabelValueMaxLength))
	}
	if len(problems) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, strings.Join(problems, ", "))}
}

// resolve finds the Target of an item. Show says how errors name what is rendered.
func (i *itemSpecification) resolve(p *Plan, show func(string) string) (v1alpha1.DeployItemTemplate, error) {
	target, err := i.Target.resolve(p, show)
	return v1alpha1.DeployItemTemplate{
		Name: i.Name, Type: i.Type, Target: target, Labels: i.Labels, Configuration: i.Configuration,
		DependsOn: i.DependsOn, Timeout: i.Timeout, UpdateOnChangeOnly: i.UpdateOnChangeOnly, OnDelete: i.OnDelete,
	}, err
}

func (r *targetReference) resolve(p *Plan, show func(string) string) (*v1alpha1.ObjectReference, error) {
	if r == nil {
		return nil, nil
	}
	if r.Index == nil && r.Key == nil && r.Import == "" {
		if r.Name == "" {
			return nil, errors.New("empty target reference: give import or name")
		}
		if !p.in.NamedTargets && !p.imported(r.Name) {
			return nil, fmt.Errorf("target.name: %w", errNotImported)
		}
		return &v1alpha1.ObjectReference{Name: r.Name, Namespace: p.in.Installation.Namespace}, nil
	}
	target, err := r.find(p.in.Imports, show)
	if err != nil {
		return nil, err
	}
	return &v1alpha1.ObjectReference{Name: target.Name, Namespace: target.Namespace}, nil
}

func (r *targetReference) find(imports dataflow.Imports, show func(string) string) (*v1alpha1.Target, error) {
	switch {
	case r.Index != nil:
		list, ok := imports.TargetLists[r.Import]
		if !ok {
			return nil, fmt.Errorf("targetlist import %q not found", show(r.Import))
		}
		if *r.Index < 0 || *r.Index >= len(list) {
			return nil, fmt.Errorf("index out of bounds: targetlist import %q has %d elements", show(r.Import), len(list))
		}
		return list[*r.Index], nil
	case r.Key != nil:
		targets, ok := imports.TargetMaps[r.Import]
		if !ok {
			return nil, fmt.Errorf("targetmap import %q not found", show(r.Import))
		}
		target, ok := targets[*r.Key]
		if !ok {
			return nil, fmt.Errorf("key %q not found in targetmap import %q: it has %d other keys", show(*r.Key), show(r.Import), len(targets))
		}
		return target, nil
	}
	target, ok := imports.Targets[r.Import]
	if !ok {
		return nil, fmt.Errorf("target import %q not found: the Installation imports the Targets %q", show(r.Import), slices.Sorted(maps.Keys(imports.Targets)))
	}
	return target, nil
}
