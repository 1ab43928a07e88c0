// Package plan works out what an Installation brings up: from its blueprint and
// its imports to its children. Nothing here reads or writes a cluster, so that the
// controller and the command line get the same answer.
package plan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/blueprint"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/plain"
	"go.landscaper.dev/internal/render"
	"go.landscaper.dev/internal/validation"
)

// Plan is what an Installation brings up.
type Plan struct {
	// DeployItems are the items of its Execution.
	DeployItems v1alpha1.DeployItemTemplateList
	// TargetCopies are the imported Targets in its own scope.
	TargetCopies []*v1alpha1.Target
}

// Make works out the plan.
func Make(ctx context.Context, inst *v1alpha1.Installation, blueprint *blueprint.Blueprint, imports dataflow.Imports) (*Plan, error) {
	bindings, err := bindings(inst, imports)
	if err != nil {
		return nil, err
	}
	plan := &Plan{TargetCopies: dataflow.TargetCopies(inst, blueprint.Info.Imports, imports)}
	for i := range blueprint.Info.DeployExecutions {
		items, err := deployItems(ctx, inst, &blueprint.Info.DeployExecutions[i], blueprint.Files, bindings, imports)
		if err != nil {
			return nil, err
		}
		plan.DeployItems = append(plan.DeployItems, items...)
	}
	if errs := validation.DeployItemTemplates(plan.DeployItems, field.NewPath("deployItems")); len(errs) > 0 {
		return nil, fmt.Errorf("error validating deployitem templates: %w", errs.ToAggregate())
	}
	return plan, nil
}

// bindings returns what templates see.
func bindings(inst *v1alpha1.Installation, imports dataflow.Imports) (map[string]any, error) {
	values := make(map[string]any, len(imports.Targets))
	for name, target := range imports.Targets {
		value, err := asValue(target)
		if err != nil {
			return nil, fmt.Errorf("import %q: %w", name, err)
		}
		values[name] = value
	}
	definition, err := asValue(inst.Spec.Blueprint)
	if err != nil {
		return nil, err
	}
	bindings := map[string]any{"imports": values, "cd": nil, "components": nil, "blueprint": definition, "blueprintDef": definition}
	if inst.Spec.ComponentDescriptor != nil {
		component, err := asValue(inst.Spec.ComponentDescriptor)
		if err != nil {
			return nil, err
		}
		bindings["componentDescriptorDef"] = component
	}
	return bindings, nil
}

// asValue returns an object in the form in which templates see it: as JSON.
func asValue(object any) (any, error) {
	value, err := plain.Of(object)
	if err != nil {
		return nil, fmt.Errorf("prepare for templates: %w", err)
	}
	return value, nil
}

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

func deployItems(ctx context.Context, inst *v1alpha1.Installation, executor *v1alpha1.TemplateExecutor, files fs.FS, bindings map[string]any, imports dataflow.Imports) (v1alpha1.DeployItemTemplateList, error) {
	engine := &render.Engine{Files: files}
	output, err := engine.Execute(ctx, render.Input{Phase: render.DeployExecution, Executor: executor, Bindings: bindings})
	if err != nil {
		return nil, fmt.Errorf("unable to template executions: %w", err)
	}
	var result struct {
		DeployItems []itemSpecification `json:"deployItems"`
	}
	if err := output.Decode(&result); err != nil {
		return nil, fmt.Errorf("unable to template executions: %w", err)
	}
	items := make(v1alpha1.DeployItemTemplateList, 0, len(result.DeployItems))
	for i := range result.DeployItems {
		item := &result.DeployItems[i]
		target, err := item.Target.resolve(inst.Namespace, imports)
		if err != nil {
			return nil, fmt.Errorf("invalid deployitem specification %q: %w", item.Name, err)
		}
		items = append(items, v1alpha1.DeployItemTemplate{
			Name: item.Name, Type: item.Type, Target: target, Labels: item.Labels, Configuration: item.Configuration,
			DependsOn: item.DependsOn, Timeout: item.Timeout, UpdateOnChangeOnly: item.UpdateOnChangeOnly, OnDelete: item.OnDelete,
		})
	}
	return items, nil
}

func (r *targetReference) resolve(namespace string, imports dataflow.Imports) (*v1alpha1.ObjectReference, error) {
	switch {
	case r == nil:
		return nil, nil
	case r.Index != nil:
		return nil, fmt.Errorf("targetlist import %q not found", r.Import)
	case r.Key != nil:
		return nil, fmt.Errorf("targetmap import %q not found", r.Import)
	case r.Import != "":
		target, ok := imports.Targets[r.Import]
		if !ok {
			return nil, fmt.Errorf("target import %q not found", r.Import)
		}
		return &v1alpha1.ObjectReference{Name: target.Name, Namespace: namespace}, nil
	case r.Name != "":
		return &v1alpha1.ObjectReference{Name: r.Name, Namespace: namespace}, nil
	}
	return nil, errors.New("empty target reference: give import or name")
}
