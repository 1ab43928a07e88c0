// Package lint finds mistakes in a blueprint before its first use: those that schemas, templates
// and files would report only when they are needed.
package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/blueprint/schema"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/validation"
)

// maxDepth bounds how deep inline blueprints may be nested.
const maxDepth = 32

// Checker checks blueprints.
type Checker struct {
	// Functions are what templates can call besides the builtin functions.
	Functions template.Functions
	// Component is the component version that the blueprint belongs to. If it is
	// nil, what refers to a component is not checked.
	Component *plan.Component
}

// Files returns what is wrong with the blueprint that has the files.
func (c Checker) Files(ctx context.Context, files fs.FS) []Finding {
	run := &run{Checker: c}
	run.load(ctx, files, inFile(files, v1alpha1.BlueprintFileName), 0)
	return run.findings
}

type run struct {
	Checker
	findings []Finding
}

// one is a blueprint that is checked, and where it is.
type one struct {
	*blueprint.Blueprint
	at    place
	depth int
}

// load reads and checks the blueprint whose description is at a place.
func (r *run) load(ctx context.Context, files fs.FS, at place, depth int) {
	loaded, err := blueprint.Load(files)
	if err != nil {
		r.loadError(at, err)
		return
	}
	b := one{loaded, at, depth}
	r.warnings(b)
	r.schemas(ctx, b)
	r.executions(ctx, b)
	r.subinstallations(ctx, b)
}

// warnings reports what loading warned about. Jobs tolerate these mistakes in blueprints that are
// in use, but their authors should correct them.
func (r *run) warnings(b one) {
	advice := validation.BlueprintAdvice(b.Info)
	mended := map[string]bool{}
	for _, err := range advice {
		mended[err.Error()] = true
	}
	r.unknown(b.at, slices.DeleteFunc(slices.Clone(b.Warnings), func(warning string) bool { return mended[warning] }))
	for _, err := range advice {
		r.fieldError(b.at.within(err.Field), err)
	}
}

func (r *run) executions(ctx context.Context, b one) {
	lists := []struct {
		name      string
		executors []v1alpha1.TemplateExecutor
	}{
		{"importExecutions", b.Info.ImportExecutions},
		{"subinstallationExecutions", b.Info.SubinstallationExecutions},
		{"deployExecutions", b.Info.DeployExecutions},
		{"exportExecutions", b.Info.ExportExecutions},
	}
	for _, list := range lists {
		for i := range list.executors {
			r.fail(b.at.child(list.name).index(i), template.Check(ctx, &list.executors[i], b.Files, r.Functions))
		}
	}
}

// schemas compiles the schemas, and checks the defaults against them.
func (r *run) schemas(ctx context.Context, b one) {
	compiler := &schema.Compiler{Local: b.Info.LocalTypes, Files: b.Files, Default: b.Info.JSONSchemaVersion}
	if c := r.Component; c != nil {
		compiler.Version, compiler.Context, compiler.Finder, compiler.Reader = c.Version, c.Context, c.Session, c.Session
	}
	for _, name := range slices.Sorted(maps.Keys(b.Info.LocalTypes)) {
		definition := b.Info.LocalTypes[name]
		r.schema(ctx, compiler, b.at.child("localTypes").key(name), &definition)
	}
	r.imports(ctx, compiler, b.Info.Imports, b.at.child("imports"))
	for i := range b.Info.Exports {
		r.schema(ctx, compiler, b.at.child("exports").index(i).child("schema"), b.Info.Exports[i].Schema)
	}
}

// schema compiles a schema, and returns nil if it cannot be used. A schema that refers to a
// component cannot be judged without the component.
func (r *run) schema(ctx context.Context, compiler *schema.Compiler, at place, definition *v1alpha1.JSONSchemaDefinition) *schema.Schema {
	if definition == nil {
		return nil
	}
	compiled, err := compiler.Compile(ctx, definition.RawMessage)
	if err == nil {
		return compiled
	}
	if r.Component == nil && errors.Is(err, schema.ErrNoComponent) {
		r.notChecked(at)
	} else {
		r.fail(at, err)
	}
	return nil
}

func (r *run) imports(ctx context.Context, compiler *schema.Compiler, definitions v1alpha1.ImportDefinitionList, at place) {
	for i := range definitions {
		definition, at := &definitions[i], at.index(i)
		r.imports(ctx, compiler, definition.ConditionalImports, at.child("imports"))
		compiled := r.schema(ctx, compiler, at.child("schema"), definition.Schema)
		if len(definition.Default.Value.RawMessage) == 0 {
			continue
		}
		if definition.Required == nil || *definition.Required {
			r.warn(at.child("default"), "it has no effect, because the import is required: set required: false")
		}
		if compiled == nil {
			continue
		}
		value, err := jsonvalue.FromJSON(definition.Default.Value.RawMessage)
		if err == nil {
			err = compiled.Validate(value)
		}
		r.fail(at.child("default", "value"), err)
	}
}

// loadError says what is wrong with a description that could not be loaded. Errors about fields are
// findings of their own.
func (r *run) loadError(at place, err error) {
	var list interface{ Errors() []error }
	if !errors.As(err, &list) {
		r.fail(at, err)
		return
	}
	for _, err := range list.Errors() {
		var wrong *field.Error
		if errors.As(err, &wrong) {
			r.fieldError(at.within(wrong.Field), wrong)
			continue
		}
		r.fail(at, err)
	}
}

func (r *run) fieldError(at place, err *field.Error) {
	r.add(Error, at, err.ErrorBody())
}

func (r *run) fail(at place, err error) {
	if err != nil {
		r.add(Error, at, err.Error())
	}
}

func (r *run) warn(at place, message string) { r.add(Warning, at, message) }

// notChecked reports that something needs a component, which is missing.
func (r *run) notChecked(at place) {
	r.add(Note, at, "not checked, because it refers to a component: give the component to check it, too")
}

// unknown reports what loading warned about; the texts begin with the field where
// there is one.
func (r *run) unknown(at place, warnings []string) {
	for _, warning := range warnings {
		name, rest, found := strings.Cut(warning, ": ")
		if !found || strings.Contains(name, " ") {
			r.warn(at, warning)
			continue
		}
		r.warn(at.within(name), rest)
	}
}

func (r *run) add(severity Severity, at place, message string) {
	r.findings = append(r.findings, Finding{Severity: severity, File: at.file, Line: at.line(), Field: at.field(), Message: message})
}

// errDepth says that inline blueprints are nested too deep.
var errDepth = fmt.Errorf("blueprints are nested more than %d levels deep", maxDepth)
