package plan

import (
	"context"
	"fmt"
	"maps"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/model/dataflow"
)

// Results are what the children of an Installation have brought about, as plain
// values.
type Results struct {
	// DeployItems are the exports of the items, by their names.
	DeployItems map[string]any
	// DataObjects and Targets are those of the Installation's own scope, by key:
	// its imports and the exports of its subinstallations.
	DataObjects, Targets map[string]any
	// Scope are the objects behind Targets, with all elements of lists and maps.
	Scope []*v1alpha1.Target
	// Replaced are exports in the place of those that the children lead to; nil without such.
	Replaced map[string]any
}

// Exports are the objects with the exports of an Installation.
type Exports struct {
	// Values are the exports of the blueprint and of the mappings, by name.
	Values map[string]any
	// Exports are the objects for what the Installation publishes.
	dataflow.Exports
	States   []State
	Warnings []string
}

// Exports renders the export executions, checks what they give and maps it.
func (p *Plan) Exports(ctx context.Context, results Results) (*Exports, error) {
	if results.Replaced != nil {
		return p.finishExports(ctx, results.Replaced)
	}
	p, err := p.withResults(results)
	if err != nil {
		return nil, err
	}
	rendered := map[string]any{}
	states := &newStates{}
	for i := range p.in.Blueprint.Info.ExportExecutions {
		var result struct {
			Exports map[string]any `json:"exports"`
		}
		if _, err := p.execute(ctx, template.ExportExecution, &p.in.Blueprint.Info.ExportExecutions[i], states, &result); err != nil {
			return nil, err
		}
		dataflow.MergeExports(rendered, result.Exports)
	}
	exports, err := p.finishExports(ctx, rendered)
	if err != nil {
		return nil, err
	}
	if err := p.checkReferences(exports.Values, results.Scope); err != nil {
		return nil, err
	}
	exports.States = states.list
	return exports, nil
}

// finishExports checks the exports of the blueprint, maps them, and makes the objects that the
// Installation exports.
func (p *Plan) finishExports(ctx context.Context, rendered map[string]any) (*Exports, error) {
	inst := p.in.Installation
	values, warnings, err := dataflow.CheckExports(ctx, inst.Name, p.in.Blueprint.Info.Exports, rendered, p.compile)
	if err != nil {
		return nil, err // names each export
	}
	more, err := dataflow.ApplyExportMappings(ctx, inst, values, evaluate)
	if err != nil {
		return nil, fmt.Errorf("spec.exportDataMappings: %w", err)
	}
	objects, err := dataflow.MakeExports(inst, values)
	if err != nil {
		return nil, err // names each export
	}
	return &Exports{Values: values, Exports: objects, Warnings: append(warnings, more...)}, nil
}

// withResults returns a plan with what only export executions see.
func (p *Plan) withResults(results Results) (*Plan, error) {
	values := map[string]any{
		bindDeployItems: orEmpty(results.DeployItems), bindDataObjects: orEmpty(results.DataObjects), bindTargets: orEmpty(results.Targets),
	}
	with := *p
	with.bindings = maps.Clone(p.bindings)
	maps.Copy(with.bindings, values)
	with.bindings[bindValues] = values
	// In this phase the reference is that of the Installation, as it is written.
	return &with, with.bindDescriptorDef(nil)
}

func orEmpty(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	return values
}
