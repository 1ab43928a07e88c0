package render

import (
	"context"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Want says what is needed of a chart besides its values.
type Want struct {
	// Templates renders them.
	Templates bool
	// Exports are to be read from Chart, Capabilities, Release and Values.
	Exports []deployer.Export
}

// Result is what a chart and its values make.
type Result struct {
	// Warnings name what is probably not meant.
	Warnings []string
	// Definitions are the files of the folders crds, of those charts that the values do not
	// disable, in the order of Helm.
	Definitions []File
	// Exports are the values that were asked for, and WithoutExports says why they cannot be read: large values
	// and wide paths are the work of a process, too.
	Exports        map[string]any
	WithoutExports string
	// Notes is the text for the user, and Sorted what the templates make.
	Notes string
	Sorted
}

// Step is a step of rendering, by the reason that an item gives when it fails.
type Step = reasons.Reason

// The steps.
const (
	MergeStep  = reasons.PrepareHelmValues
	RenderStep = reasons.RenderHelmValues
	SortStep   = reasons.DecodeHelmTemplatedObjects
	// DocumentStep has no reason of its own.
	DocumentStep Step = ""
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

// Renderer renders charts for tenants. Its error is a *StepError; the warnings until then are
// there.
type Renderer interface {
	Render(ctx context.Context, tenant string, in Input, want Want) (*Result, error)
}

// Here is the Renderer of this process. It is for tests, and for callers that trust the chart: nothing
// but its steps and its time is bounded, and what takes all memory takes that of this process.
type Here struct{}

// Render implements Renderer.
func (Here) Render(ctx context.Context, _ string, in Input, want Want) (*Result, error) {
	result := &Result{}
	values, err := Merge(ctx, in)
	if err != nil {
		return result, &StepError{MergeStep, err}
	}
	result.Warnings, result.Definitions = values.Warnings, values.Definitions()
	if want.Templates {
		output, err := Render(ctx, in, values)
		if err != nil {
			return result, &StepError{RenderStep, err}
		}
		sorted, err := output.Sort()
		if err != nil {
			return result, &StepError{SortStep, err}
		}
		result.Notes, result.Sorted = output.Notes, *sorted
	}
	if len(want.Exports) == 0 {
		return result, nil
	}
	document, err := values.document()
	if err != nil {
		return result, &StepError{DocumentStep, err}
	}
	if result.Exports, err = export.Given(want.Exports, document); err != nil {
		result.WithoutExports = err.Error()
	}
	return result, nil
}
