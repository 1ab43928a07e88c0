package remote

import (
	"context"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/content/template/coverage"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/runtime/sandbox"
)

// Handlers are what the process does for a Maker.
func Handlers() map[string]sandbox.Handler {
	return map[string]sandbox.Handler{makeOperation: makeHere, exportsOperation: exportsHere}
}

func newSession(ask sandbox.Ask) *session {
	return &session{ask: ask, versions: map[int]*repository.Version{}, numbers: map[*repository.Version]int{}}
}

func (s *session) functions(names []string) map[string]template.Function {
	functions := make(map[string]template.Function, len(names))
	for _, name := range names {
		functions[name] = s.function(name)
	}
	return functions
}

func makeHere(ctx context.Context, body []byte, ask sandbox.Ask) ([]byte, error) {
	request := &makeRequest{}
	if err := sandbox.Decode(body, request); err != nil {
		return nil, err
	}
	in, err := newSession(ask).input(request)
	if err != nil {
		return nil, err
	}
	ctx, recorder := covering(ctx, request.Covered)
	given, failed := plan.Here{}.Make(ctx, in, request.Want)
	m := &made{}
	if given != nil {
		if m, err = encodeMade(given, request.Want.Shown); err != nil {
			return nil, err
		}
	}
	m.Failure, m.Coverage = encodeFailure(failed), recorder.Counts()
	return sandbox.Encode(m)
}

// covering lets what is rendered be recorded if the caller asks for it; else the recorder is nil.
func covering(ctx context.Context, wanted bool) (context.Context, *coverage.Recorder) {
	if !wanted {
		return ctx, nil
	}
	recorder := coverage.NewRecorder()
	return coverage.With(ctx, recorder), recorder
}

func (s *session) input(request *makeRequest) (in plan.Input, err error) {
	in = plan.Input{Installation: &v1alpha1.Installation{}, Functions: s.functions(request.Functions), Tree: request.Tree, NamedTargets: request.NamedTargets}
	if request.States {
		in.States = states{s}
	}
	if err := request.Installation.decode(in.Installation); err != nil {
		return in, err
	}
	files, err := request.Blueprint.Tree()
	if err != nil {
		return in, fmt.Errorf("read the files of the blueprint: %w", err)
	}
	if in.Blueprint, err = blueprint.Load(files); err != nil {
		return in, err // names what is wrong
	}
	in.Blueprint.Warnings = request.Warnings
	if in.Imports, err = request.Imports.decode(); err != nil {
		return in, err
	}
	in.Component, err = s.component(request.Component)
	return in, err
}

func exportsHere(ctx context.Context, body []byte, ask sandbox.Ask) ([]byte, error) {
	request := &exportsRequest{}
	if err := sandbox.Decode(body, request); err != nil {
		return nil, err
	}
	s, inst := newSession(ask), &v1alpha1.Installation{}
	if err := request.Installation.decode(inst); err != nil {
		return nil, err
	}
	with := plan.Surroundings{Functions: s.functions(request.Functions), Open: s.open, NamedTargets: request.NamedTargets}
	if request.States {
		with.States = states{s}
	}
	ctx, recorder := covering(ctx, request.Covered)
	given, failed := plan.Here{}.Exports(ctx, inst, request.Content, with, s.results)
	m := &made{Failure: encodeFailure(failed), Coverage: recorder.Counts()}
	var err error
	if m.Exports, err = encodeExports(given, request.Shown); err != nil {
		return nil, err
	}
	return sandbox.Encode(m)
}

// open implements plan.Surroundings.
func (s *session) open(_ context.Context, definition *v1alpha1.ComponentDescriptorDefinition) (*plan.Component, error) {
	raw, err := encodeObject(definition)
	if err != nil {
		return nil, err
	}
	r, err := s.put(&question{Open: raw})
	if err != nil {
		return nil, err // the server's own words
	}
	return s.component(r.Component)
}

// results asks for what the children have brought about.
func (s *session) results() (plan.Results, error) {
	r, err := s.put(&question{Results: true})
	if err != nil {
		return plan.Results{}, err // the server's own words
	}
	return r.Results.decode()
}
