package cases

import (
	"context"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/content/template/clusterfunc"
	"go.landscaper.dev/internal/content/template/coverage"
	"go.landscaper.dev/internal/landscape/plan"
)

// Know adds all branches of the blueprint that a file tests to a recorder: those of its templates, and whether
// each import that may be missing is given. Files that templates include are known when they are executed.
func (f *File) Know(ctx context.Context, recorder *coverage.Recorder) error {
	if f.Test.Blueprint == "" {
		return nil // the templates of a landscape are known when they are executed
	}
	loaded, done, err := f.load()
	if err != nil {
		return err // names the blueprint
	}
	defer done()
	ctx = coverage.With(ctx, recorder)
	functions := plan.Functions(nil, clusterfunc.Functions(clusterfunc.Options{}))
	info := loaded.Info
	for _, list := range [][]v1alpha1.TemplateExecutor{info.ImportExecutions, info.SubinstallationExecutions, info.DeployExecutions, info.ExportExecutions} {
		for i := range list {
			if err := template.Check(ctx, &list[i], loaded.Files, functions); err != nil {
				return fmt.Errorf("blueprint %s: %w", f.Directory, err)
			}
		}
	}
	conditions(info.Imports, func(name string) {
		recorder.Know(given(name))
		recorder.Know(missing(name))
	})
	return nil
}

// conditions calls a function for each import that may be missing, the conditional ones included.
func conditions(list v1alpha1.ImportDefinitionList, do func(name string)) {
	for _, definition := range list {
		if definition.Required != nil && !*definition.Required {
			do(definition.Name)
		}
		conditions(definition.ConditionalImports, do)
	}
}

func given(name string) coverage.Branch {
	return coverage.Branch{Template: v1alpha1.BlueprintFileName, Text: "import " + name + " is given"}
}

func missing(name string) coverage.Branch {
	return coverage.Branch{Template: v1alpha1.BlueprintFileName, Text: "import " + name + " is not given"}
}

// record records which imports a case gives.
func (f *File) record(recorder *coverage.Recorder, one *Case) error {
	if recorder == nil || f.Test.Blueprint == "" {
		return nil
	}
	loaded, done, err := f.load()
	if err != nil {
		return err // names the blueprint
	}
	defer done()
	values := f.values(one)
	conditions(loaded.Info.Imports, func(name string) {
		b := missing(name)
		if _, has := values[name]; has {
			b = given(name)
		}
		recorder.Hit(b)
	})
	return nil
}
