package plan

import (
	"context"
	"fmt"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/content/template/componentfunc"
	"go.landscaper.dev/internal/model/dataflow"
)

// construct maps, defaults and checks the imports.
func (p *Plan) construct(ctx context.Context) error {
	inst := p.in.Installation
	mapped, warnings, err := dataflow.ApplyImportMappings(ctx, inst, p.in.Blueprint.Info.Imports, p.in.Imports, evaluate)
	if err != nil {
		return fmt.Errorf("spec.importDataMappings: %w", err)
	}
	p.Warnings = append(p.Warnings, warnings...)
	p.Imports, err = dataflow.Construct(ctx, inst.Name, p.in.Blueprint.Info.Imports, p.in.Imports, mapped, p.compile)
	return err // names each import
}

// evaluate computes a data mapping, which may use pure functions only.
func evaluate(ctx context.Context, name string, document v1alpha1.AnyJSON, bindings map[string]any) (any, error) {
	return template.Mapping(ctx, name, document, bindings, componentfunc.Pure()) // names the mapping
}

// ImportError is what import executions found wrong with the imports, or why they
// could not be rendered.
type ImportError struct {
	Messages []string
	// Cause is why an execution could not be rendered.
	Cause error
}

// Error implements error.
func (e *ImportError) Error() string {
	if e.Cause != nil {
		return "unable to template executions: " + e.Cause.Error()
	}
	return "import validation failed: " + e.Text()
}

// Unwrap returns why an execution could not be rendered.
func (e *ImportError) Unwrap() error { return e.Cause }

// Text is what a condition shows: all messages in one line.
func (e *ImportError) Text() string {
	if e.Cause != nil {
		return "Unable to template executions"
	}
	return strings.Join(e.Messages, ", ")
}

// runImportExecutions computes further values and lets the author check the
// imports. Each execution sees what those before it have computed.
func (p *Plan) runImportExecutions(ctx context.Context) error {
	for i := range p.in.Blueprint.Info.ImportExecutions {
		var result struct {
			Bindings map[string]any `json:"bindings"`
			Errors   []string       `json:"errors"`
		}
		if _, err := p.execute(ctx, template.ImportExecution, &p.in.Blueprint.Info.ImportExecutions[i], nil, &result); err != nil {
			return &ImportError{Cause: err}
		}
		if len(result.Errors) > 0 {
			return &ImportError{Messages: result.Errors}
		}
		if err := p.Imports.Bind(result.Bindings); err != nil {
			return fmt.Errorf("import execution %q: %w", p.in.Blueprint.Info.ImportExecutions[i].Name, err)
		}
		if err := p.checkReplaced(); err != nil {
			return fmt.Errorf("import execution %q: %w", p.in.Blueprint.Info.ImportExecutions[i].Name, err)
		}
		p.bindings[bindImports] = p.Imports.Map()
	}
	return nil
}
