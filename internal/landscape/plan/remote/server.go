package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/template/coverage"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/runtime/sandbox"
)

// Maker makes plans in the processes of a pool. It implements plan.Maker.
type Maker struct{ Pool *sandbox.Pool }

// Make implements plan.Maker.
func (m Maker) Make(ctx context.Context, in plan.Input, want plan.Want) (*plan.Made, error) {
	a := &answers{ctx: ctx, functions: in.Functions, states: in.States, component: in.Component, numbers: map[*repository.Version]int{}}
	step := plan.ChildrenStep
	given, err := m.do(ctx, in.Installation, makeOperation, "rendering the blueprint", a, func() (any, error) {
		request, err := a.makeRequest(in, want)
		if request != nil {
			request.Covered = coverage.From(ctx) != nil
		}
		if err != nil {
			step = plan.ImportsStep
		}
		return request, err
	})
	if err != nil {
		return nil, &plan.StepError{Step: step, Cause: err}
	}
	failed := given.Failure.decode(&a.errs)
	if given.Failure != nil && given.Failure.Step == plan.ImportsStep {
		return nil, failed
	}
	all, err := given.decode()
	if err != nil {
		return nil, &plan.StepError{Step: plan.ChildrenStep, Cause: err}
	}
	return all, failed
}

func (a *answers) makeRequest(in plan.Input, want plan.Want) (request *makeRequest, err error) {
	request = &makeRequest{
		Warnings: in.Blueprint.Warnings, Functions: slices.Sorted(maps.Keys(in.Functions)), States: in.States != nil, Tree: in.Tree, NamedTargets: in.NamedTargets, Want: want,
	}
	if request.Installation, err = encodeObject(in.Installation); err != nil {
		return nil, err
	}
	if request.Blueprint, err = memfs.PartsOf(in.Blueprint.Files); err != nil {
		return nil, fmt.Errorf("read the files of the blueprint: %w", err)
	}
	if request.Imports, err = encodeImports(in.Imports); err != nil {
		return nil, err
	}
	request.Component, err = a.request()
	return request, err
}

// Exports implements plan.Maker.
func (m Maker) Exports(ctx context.Context, inst *v1alpha1.Installation, content []byte, with plan.Surroundings, results func() (plan.Results, error)) (*plan.Exports, error) {
	a := &answers{ctx: ctx, functions: with.Functions, states: with.States, numbers: map[*repository.Version]int{}, results: results}
	a.open = func(definition *v1alpha1.ComponentDescriptorDefinition) (*plan.Component, error) {
		return with.Open(ctx, definition)
	}
	given, err := m.do(ctx, inst, exportsOperation, "rendering the exports", a, func() (any, error) {
		raw, err := encodeObject(inst)
		return &exportsRequest{Installation: raw, Content: content, Functions: slices.Sorted(maps.Keys(with.Functions)), States: with.States != nil, NamedTargets: with.NamedTargets, Shown: with.Shown, Covered: coverage.From(ctx) != nil}, err
	})
	if err != nil {
		return nil, err
	}
	if given.Failure != nil {
		return nil, given.Failure.decode(&a.errs)
	}
	return given.Exports.decode()
}

// do carries out one work. What it begins with is made when there is a process for it.
func (m Maker) do(ctx context.Context, inst *v1alpha1.Installation, operation, title string, a *answers, request func() (any, error)) (*made, error) {
	encode := func() ([]byte, error) {
		value, err := request()
		if err != nil {
			return nil, err
		}
		return sandbox.Encode(value)
	}
	raw, err := m.Pool.Do(ctx, sandbox.Work{Tenant: inst.Namespace, Name: operation, Title: title, Encode: encode, Answer: a.answer})
	var ended *sandbox.EndedError
	switch {
	case errors.As(err, &ended):
		return nil, &temporaryError{err}
	case err != nil:
		return nil, err
	}
	given := &made{}
	if err := sandbox.Decode(raw, given); err != nil {
		return nil, err
	}
	coverage.From(ctx).Add(given.Coverage)
	return given, nil
}
