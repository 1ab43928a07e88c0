package template

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template/coverage"
	"go.landscaper.dev/internal/runtime/sandbox"
)

// Function is a function that templates can call. Arguments and result are plain values. The text
// of its error is shown, except for values of the bindings.
type Function = func(ctx context.Context, args []any) (any, error)

// Functions are added to the builtin functions of the engines. In a Go template
// they win over builtin ones of the same name, in spiff they may not have one.
type Functions struct{ GoTemplate, Spiff map[string]Function }

// Phase is what an execution is for.
type Phase string

// The phases.
const (
	ImportExecution          Phase = "import execution"
	SubinstallationExecution Phase = "subinstallation execution"
	DeployExecution          Phase = "deploy execution"
	ExportExecution          Phase = "export execution"
)

// maxDuration bounds one execution. Functions of the caller may use the network.
// It ends a function that waits for a server, and what computes within its steps.
const maxDuration = 30 * time.Second

// Engine renders the executions of a blueprint. It can be used by any number of
// goroutines at the same time.
type Engine struct {
	// Files are the files of the blueprint.
	Files fs.FS
	// Functions are added to the builtin ones.
	Functions Functions
	// Timeout ends an execution; 0 means 30 seconds.
	Timeout time.Duration

	// steps bounds Go templates in tests; 0 means the default.
	steps int
}

// Input is what one execution works with.
type Input struct {
	Phase    Phase
	Executor *v1alpha1.TemplateExecutor
	// Bindings are plain values. A template gets a copy: nothing that it does is seen
	// by another one.
	Bindings map[string]any
	// State is the document that the executor stored, as YAML or JSON; nil without one. Import
	// executions have no state.
	State []byte
}

// Execute renders an execution. Its steps and its time are bounded here, and what else it takes by
// the process that it runs in: see the package sandbox.
func (e *Engine) Execute(ctx context.Context, in Input) (*Output, error) {
	source, err := sourceOf(in.Executor, e.Files)
	if err != nil {
		return nil, err
	}
	state, err := loadState(source, in)
	if err != nil {
		return nil, err
	}
	sandbox.At(ctx, source.what())
	coverage.From(ctx).Hit(source.whole())
	if in.Executor.Type == v1alpha1.SpiffTemplateType {
		return e.spiff(ctx, source, in, state)
	}
	return e.goTemplate(ctx, source, in, state)
}

func (e *Engine) timeout() time.Duration {
	if e.Timeout > 0 {
		return e.Timeout
	}
	return maxDuration
}

// Check parses the template of an executor without executing it: the template
// exists, its syntax is right, and a Go template calls only functions that exist.
func Check(ctx context.Context, executor *v1alpha1.TemplateExecutor, files fs.FS, functions Functions) error {
	source, err := sourceOf(executor, files)
	if err != nil {
		return err
	}
	coverage.From(ctx).Know(source.whole())
	e := &Engine{Files: files, Functions: functions}
	if executor.Type == v1alpha1.SpiffTemplateType {
		return checkSpiff(source)
	}
	if err := e.config().Check(ctx, source.goTemplate()); err != nil {
		return describe(err, source, nil)
	}
	return nil
}

// whole is the template as one branch: spiff has no others.
func (s source) whole() coverage.Branch {
	return coverage.Branch{Template: s.name(), Text: "the template"}
}

// what names an execution in messages.
func (s source) what() string {
	if s.file != "" {
		return fmt.Sprintf("template execution %q (file %q)", s.execution, s.file)
	}
	return fmt.Sprintf("template execution %q", s.execution)
}
