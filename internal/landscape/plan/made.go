package plan

import (
	"context"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
)

// Step is a step on the way from an Installation to what it brings up.
type Step string

// The steps, in their order.
const (
	ImportsStep  Step = "imports"
	ChildrenStep Step = "children"
	CopiesStep   Step = "copies"
	StoreStep    Step = "store"
	ExportsStep  Step = "exports"
)

// StepError says which step has failed.
type StepError struct {
	Step  Step
	Cause error
}

// Error implements error.
func (e *StepError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Cause }

// failedIn says in which step an error occurred; nil for none.
func failedIn(step Step, err error) error {
	if err == nil {
		return nil
	}
	return &StepError{Step: step, Cause: err}
}

// Made is what a job begins with.
type Made struct {
	// Warnings list probable mistakes in the imports, Later those that rendering has found.
	Warnings, Later []string
	Children        *Children
	// Copies are the imports as objects in the scope of the Installation.
	Copies dataflow.Exports
	// Stored is what the exports need when the job ends; nil without exports.
	Stored []byte
	// Exports are known at once if there are no children, and were asked for.
	Exports *Exports
	// Imports and Bindings are what templates see, if they were asked for.
	Imports, Bindings map[string]any
}

// Want says what is needed besides what every job begins with.
type Want struct {
	// Alone asks for the exports, if there are no children.
	Alone bool
	// Shown asks for what people are shown: Imports, Bindings, the values of Exports, and which
	// subinstallation needs which other one.
	Shown bool
	// Replaced says that the exports are given: there are no children, and Stored is there in
	// any case.
	Replaced bool
}

// Maker makes what jobs begin and end with.
type Maker interface {
	// Make works out what a job begins with. Its error is a *StepError; the warnings until then
	// are there, unless it is the imports that have failed.
	Make(ctx context.Context, in Input, want Want) (*Made, error)
	// Exports continues with what the job has stored. Results are asked for when the
	// stored plan has been found to be good.
	Exports(ctx context.Context, inst *v1alpha1.Installation, content []byte, with Surroundings, results func() (Results, error)) (*Exports, error)
}

// Here is the Maker of this process. It is for tests, and for callers that trust the blueprint:
// nothing but the steps and the time of a template is bounded, and what takes all memory takes that
// of this process. Others use the package remote.
type Here struct{}

// Make implements Maker.
func (Here) Make(ctx context.Context, in Input, want Want) (*Made, error) {
	p, err := New(ctx, in)
	if err != nil {
		return nil, failedIn(ImportsStep, err)
	}
	made := &Made{Warnings: p.Warnings}
	if want.Shown {
		made.Imports, made.Bindings = p.Imports.Map(), p.bindings
	}
	known := len(p.Warnings)
	err = p.make(ctx, made, want)
	made.Later = p.Warnings[known:]
	return made, err
}

func (p *Plan) make(ctx context.Context, made *Made, want Want) (err error) {
	if want.Replaced {
		made.Stored, err = p.store()
		return failedIn(StoreStep, err)
	}
	if made.Children, err = p.Children(ctx); err != nil {
		return failedIn(ChildrenStep, err)
	}
	if made.Copies, err = p.Copies(); err != nil {
		return failedIn(CopiesStep, err)
	}
	if made.Stored, _, err = p.Stored(); err != nil {
		return failedIn(StoreStep, err)
	}
	if !want.Alone || len(made.Children.Subinstallations)+len(made.Children.DeployItems) > 0 {
		return nil
	}
	// The scope has the imports only.
	results := Results{Scope: made.Copies.Targets}
	if results.DataObjects, results.Targets, err = dataflow.ScopeValues(made.Copies.DataObjects, made.Copies.Secrets, made.Copies.Targets); err != nil {
		return failedIn(ExportsStep, err)
	}
	made.Exports, err = p.Exports(ctx, results)
	return failedIn(ExportsStep, err)
}

// Exports implements Maker.
func (Here) Exports(ctx context.Context, inst *v1alpha1.Installation, content []byte, with Surroundings, results func() (Results, error)) (*Exports, error) {
	reopened, err := Reopen(ctx, inst, content, with)
	if err != nil {
		return nil, err
	}
	given, err := results()
	if err != nil {
		return nil, err
	}
	return reopened.Exports(ctx, given)
}
