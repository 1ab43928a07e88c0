// Package plan works out what an Installation brings up: from its blueprint and
// its imports to its children and its exports. Nothing here reads or writes a
// cluster, so that the controller and the command line get the same answer.
package plan

import (
	"context"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/blueprint/schema"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/content/template/componentfunc"
	"go.landscaper.dev/internal/model/dataflow"
)

// schemaVersionAnnotation of a blueprint chooses the schema in which templates see
// component descriptors.
const schemaVersionAnnotation = "ocmSchemaVersion"

// Component is the component version that an Installation refers to.
type Component struct {
	Session componentfunc.Session
	Version *repository.Version
	// Context is where component references are looked for.
	Context descriptor.Typed
	// Reference is the reference after defaults and overwrites. It is not set for
	// an inline descriptor.
	Reference *v1alpha1.ComponentDescriptorReference

	// reader reads the resource that is the blueprint.
	reader *access.Reader
}

// Input is what the children of an Installation follow from.
type Input struct {
	Installation *v1alpha1.Installation
	Blueprint    *blueprint.Blueprint
	// Component is nil without a component.
	Component *Component
	Imports   dataflow.Imports
	// Functions reach clusters and tokens; the caller provides them.
	Functions map[string]template.Function
	// Tree is what the rest of the tree has taken already.
	Tree Usage
	// States are what executors stored in earlier jobs; nil is nothing.
	States States
	// NamedTargets lets blueprints use any Target and Secret of the namespace by its name, not only
	// what the Installation was given.
	NamedTargets bool
}

// Plan is an Installation whose imports are known and checked. Its children and
// exports follow from it.
//
// The order in a job is New, Children, Copies and Stored; after a crash before the children have
// got the job, the order begins again with New. The steps after the children, perhaps in another
// process, begin with Reopen.
type Plan struct {
	// Imports are the values by the names of the blueprint, after defaults, mappings
	// and import executions.
	Imports dataflow.Values
	// Warnings list probable mistakes.
	Warnings []string

	in        Input
	component *componentfunc.Component
	compile   dataflow.Compile
	engine    *template.Engine
	bindings  map[string]any
	// outputs are what was rendered so far; they know what templates say literally.
	outputs []*template.Output
	// mentioned are words that occur in the blueprint.
	mentioned map[string]bool
	// names are those of the imported Targets, once they were asked for.
	names map[string]bool
	// secrets are those that the Installation gives to the blueprint.
	secrets []v1alpha1.LocalSecretReference
}

// New works out and checks the imports.
//
// The bindings are made after the imports are complete and before import executions run:
// these add to the imports, and each sees what those before it have added.
func New(ctx context.Context, in Input) (*Plan, error) {
	p := &Plan{in: in, mentioned: mentioned(in.Blueprint.Files, bindComponents, stateWord)}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	if err := p.construct(ctx); err != nil {
		return nil, err
	}
	p.secrets = p.givenSecrets()
	if err := p.bind(ctx); err != nil {
		return nil, err
	}
	return p, p.runImportExecutions(ctx)
}

// prepare sets up what templates and schemas may use.
func (p *Plan) prepare() error {
	blueprint := p.in.Blueprint
	p.Warnings = append(p.Warnings, blueprint.Warnings...)
	options := componentfunc.Options{Schema: blueprint.Info.Annotations[schemaVersionAnnotation]}
	compiler := schema.Compiler{Local: blueprint.Info.LocalTypes, Files: blueprint.Files, Default: blueprint.Info.JSONSchemaVersion}
	if c := p.in.Component; c != nil {
		options.Session, options.Version, options.Context = c.Session, c.Version, c.Context
		compiler.Version, compiler.Context, compiler.Finder, compiler.Reader = c.Version, c.Context, c.Session, c.Session
	}
	functions, err := componentfunc.New(options)
	if err != nil {
		return fmt.Errorf("component functions of templates: %w", err)
	}
	p.component = functions
	p.compile = func(ctx context.Context, definition v1alpha1.JSONSchemaDefinition) (dataflow.Validator, error) {
		return compiler.Compile(ctx, definition.RawMessage)
	}
	p.engine = &template.Engine{Files: blueprint.Files, Functions: Functions(functions, p.in.Functions)}
	return nil
}

// Functions are what templates can call besides the builtin functions: those for a
// component, which may be nil, and those that reach clusters.
func Functions(component *componentfunc.Component, clusters map[string]template.Function) template.Functions {
	if component == nil {
		// Without a component there is nothing that could go wrong.
		component, _ = componentfunc.New(componentfunc.Options{})
	}
	return template.Functions{GoTemplate: joined(component.GoTemplate(), clusters), Spiff: joined(component.Spiff(), clusters)}
}

func joined(maps ...map[string]template.Function) map[string]template.Function {
	all := map[string]template.Function{}
	for _, functions := range maps {
		for name, function := range functions {
			all[name] = function
		}
	}
	return all
}
