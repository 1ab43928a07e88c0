// Package check finds what is wrong with a blueprint before anybody uses it: what
// its schemas, templates and files would say only when they are needed.
package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/blueprint"
	"go.landscaper.dev/internal/blueprint/schema"
	"go.landscaper.dev/internal/plain"
	"go.landscaper.dev/internal/plan"
	"go.landscaper.dev/internal/render"
	"go.landscaper.dev/internal/validation"
)

// Severity tells how bad a finding is.
type Severity string

// The severities.
const (
	// Error means that the blueprint cannot work.
	Error Severity = "error"
	// Warning means that something is probably not meant.
	Warning Severity = "warning"
)

// Finding is something that is wrong with a blueprint.
type Finding struct {
	Severity Severity `json:"severity"`
	// Field is the field of blueprint.yaml, or of a blueprint in it.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// String shows the finding in one line.
func (f Finding) String() string {
	if f.Field == "" {
		return fmt.Sprintf("%s: %s", f.Severity, f.Message)
	}
	return fmt.Sprintf("%s: %s: %s", f.Severity, f.Field, f.Message)
}

// maxDepth bounds how deep inline blueprints may be nested.
const maxDepth = 32

// Checker checks blueprints.
type Checker struct {
	// Functions are what templates can call besides the builtin functions.
	Functions render.Functions
	// Compiler compiles schemas; nil checks them without component references.
	Compiler *schema.Compiler
}

// Blueprint returns what is wrong with a blueprint that could be loaded.
func (c Checker) Blueprint(ctx context.Context, b *blueprint.Blueprint) []Finding {
	run := &run{Checker: c}
	run.blueprint(ctx, b, nil, 0)
	return run.findings
}

type run struct {
	Checker
	findings []Finding
}

func (r *run) fail(path *field.Path, err error) {
	if err != nil {
		r.findings = append(r.findings, Finding{Severity: Error, Field: text(path), Message: err.Error()})
	}
}

func text(path *field.Path) string {
	if path == nil {
		return ""
	}
	return path.String()
}

func (r *run) blueprint(ctx context.Context, b *blueprint.Blueprint, path *field.Path, depth int) {
	for _, warning := range b.Warnings {
		r.findings = append(r.findings, Finding{Severity: Warning, Field: text(path), Message: warning})
	}
	child := func(name string) *field.Path {
		if path == nil {
			return field.NewPath(name)
		}
		return path.Child(name)
	}
	r.schemas(ctx, b, child)
	lists := []struct {
		name      string
		executors []v1alpha1.TemplateExecutor
	}{
		{"importExecutions", b.Info.ImportExecutions}, {"subinstallationExecutions", b.Info.SubinstallationExecutions},
		{"deployExecutions", b.Info.DeployExecutions}, {"exportExecutions", b.Info.ExportExecutions},
	}
	for _, list := range lists {
		for i := range list.executors {
			r.fail(child(list.name).Index(i), render.Check(&list.executors[i], b.Files, r.Functions))
		}
	}
	for i := range b.Info.Subinstallations {
		r.subinstallation(ctx, &b.Info.Subinstallations[i], b.Files, child("subinstallations").Index(i), depth)
	}
}

// schemas compiles the schemas, and checks the defaults against them.
func (r *run) schemas(ctx context.Context, b *blueprint.Blueprint, child func(string) *field.Path) {
	compiler := schema.Compiler{}
	if r.Compiler != nil {
		compiler = *r.Compiler
	}
	compiler.Local, compiler.Files = b.Info.LocalTypes, b.Files
	for name, definition := range b.Info.LocalTypes {
		_, err := compiler.Compile(ctx, definition.RawMessage)
		r.schemaError(child("localTypes").Key(name), err)
	}
	r.imports(ctx, &compiler, b.Info.Imports, child("imports"))
	for i := range b.Info.Exports {
		if definition := b.Info.Exports[i].Schema; definition != nil {
			_, err := compiler.Compile(ctx, definition.RawMessage)
			r.schemaError(child("exports").Index(i).Child("schema"), err)
		}
	}
}

func (r *run) imports(ctx context.Context, compiler *schema.Compiler, definitions v1alpha1.ImportDefinitionList, path *field.Path) {
	for i := range definitions {
		definition, path := &definitions[i], path.Index(i)
		r.imports(ctx, compiler, definition.ConditionalImports, path.Child("imports"))
		if definition.Schema == nil {
			continue
		}
		compiled, err := compiler.Compile(ctx, definition.Schema.RawMessage)
		r.schemaError(path.Child("schema"), err)
		if err != nil || len(definition.Default.Value.RawMessage) == 0 {
			continue
		}
		value, err := plain.FromJSON(definition.Default.Value.RawMessage)
		if err == nil {
			err = compiled.Validate(value)
		}
		r.fail(path.Child("default", "value"), err)
	}
}

// schemaError reports a schema that cannot be compiled. One that refers to a
// component cannot be judged without the component.
func (r *run) schemaError(path *field.Path, err error) {
	if r.Compiler == nil && errors.Is(err, schema.ErrNoComponent) {
		r.findings = append(r.findings, Finding{Severity: Warning, Field: text(path), Message: "not checked, because it refers to a component: " + err.Error()})
		return
	}
	r.fail(path, err)
}

// subinstallation checks an installation template, and the blueprint in it.
func (r *run) subinstallation(ctx context.Context, entry *v1alpha1.SubinstallationTemplate, files fs.FS, path *field.Path, depth int) {
	template := entry.InstallationTemplate
	if entry.File != "" {
		var err *field.Error
		if template, err = plan.ReadTemplate(files, entry.File, path.Child("file")); err != nil {
			r.findings = append(r.findings, Finding{Severity: Error, Field: err.Field, Message: err.ErrorBody()})
			return
		}
	}
	if template == nil {
		// The blueprint was not loaded with such an entry.
		return
	}
	for _, err := range validation.InstallationTemplate(template, path) {
		r.findings = append(r.findings, Finding{Severity: Error, Field: err.Field, Message: err.ErrorBody()})
	}
	if len(template.Blueprint.Filesystem.RawMessage) == 0 {
		return
	}
	path = path.Child("blueprint", "filesystem")
	if depth >= maxDepth {
		r.fail(path, fmt.Errorf("blueprints are nested more than %d levels deep", maxDepth))
		return
	}
	tree, err := blueprint.Inline(template.Blueprint.Filesystem)
	if err != nil {
		r.fail(path, err)
		return
	}
	nested, err := blueprint.Load(tree)
	if err != nil {
		r.fail(path, err)
		return
	}
	r.blueprint(ctx, nested, path, depth+1)
}
