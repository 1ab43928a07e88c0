package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/runtime/sandbox"
)

// handled names what a process is asked for.
const handled = "helm"

// Process renders charts in the processes of a pool. What a chart looks up is asked through the
// pipe.
type Process struct{ Pool *sandbox.Pool }

// request is an Input on its way.
type request struct {
	Chart           *wireChart
	Values          map[string]any
	Name, Namespace string
	Revision        int
	Upgrade         bool
	Capabilities    *common.Capabilities
	SkipSchema      bool
	Lookup          bool
	Want            Want
}

// wireChart is a chart with those in it. Its values have the digits that they were given.
type wireChart struct {
	Chart        []byte
	Values       []byte
	Dependencies []*wireChart
}

// response is a Result on its way, or a failure.
type response struct {
	Result *Result
	Hooks  []byte
	Failed *failure
}

type failure struct {
	Step Step
	Text string
	// Invalid says that the chart or its values cannot work; Answers are the numbers of the
	// answers that are behind it.
	Invalid bool
	Answers []int
}

// found is what a lookup finds, or why it could not.
type found struct {
	Object map[string]any
	Failed *sandbox.AnswerError
}

func encodeChart(chart *helmchart.Chart) (*wireChart, error) {
	bare := *chart
	bare.Values, bare.Raw = nil, nil
	raw, err := json.Marshal(&bare)
	if err != nil {
		return nil, invalid("it cannot be read")
	}
	values, err := json.Marshal(chart.Values)
	if err != nil {
		return nil, invalid("its values.yaml cannot be read")
	}
	encoded := &wireChart{Chart: raw, Values: values}
	for _, dependency := range chart.Dependencies() {
		child, err := encodeChart(dependency)
		if err != nil {
			return nil, err
		}
		encoded.Dependencies = append(encoded.Dependencies, child)
	}
	return encoded, nil
}

func (w *wireChart) decode() (*helmchart.Chart, error) {
	chart := &helmchart.Chart{}
	if err := json.Unmarshal(w.Chart, chart); err != nil {
		return nil, fmt.Errorf("decode a chart: %w", err)
	}
	values, err := jsonvalue.FromJSON(w.Values)
	if err != nil {
		return nil, fmt.Errorf("decode the values of a chart: %w", err)
	}
	chart.Values, _ = values.(map[string]any)
	for _, dependency := range w.Dependencies {
		child, err := dependency.decode()
		if err != nil {
			return nil, err
		}
		chart.AddDependency(child)
	}
	return chart, nil
}

// Render implements Renderer.
func (p Process) Render(ctx context.Context, tenant string, in Input, want Want) (*Result, error) {
	step := RenderStep
	encode := func() (body []byte, err error) {
		defer func() {
			if err != nil {
				step = MergeStep
			}
		}()
		chart, err := encodeChart(in.Chart)
		if err != nil {
			return nil, err
		}
		return sandbox.Encode(&request{
			Chart: chart, Values: in.Values, Name: in.Name, Namespace: in.Namespace, Revision: in.Revision, Upgrade: in.Upgrade,
			Capabilities: in.Capabilities, SkipSchema: in.SkipSchema, Lookup: in.Lookup != nil, Want: want,
		})
	}
	var answered sandbox.Answered
	raw, err := p.Pool.Do(ctx, sandbox.Work{Tenant: tenant, Name: handled, Title: "rendering the chart", Encode: encode, Answer: func(body []byte) ([]byte, error) {
		return answerLookup(ctx, in.Lookup, body, &answered)
	}})
	if err != nil {
		return &Result{}, &StepError{step, judged(err)}
	}
	r := &response{Result: &Result{}}
	if err := sandbox.Decode(raw, r); err != nil {
		return &Result{}, &StepError{RenderStep, err}
	}
	if len(r.Hooks) > 0 {
		if err := json.Unmarshal(r.Hooks, &r.Result.Hooks); err != nil {
			return r.Result, &StepError{SortStep, fmt.Errorf("decode hooks: %w", err)}
		}
	}
	return r.Result, r.Failed.decode(&answered)
}

// judged makes what a chart took too much of its own mistake.
func judged(err error) error {
	var exceeded *sandbox.ExceededError
	if errors.As(err, &exceeded) {
		return invalid(err.Error())
	}
	return err
}

// answerLookup answers one lookup.
func answerLookup(ctx context.Context, lookup Lookup, body []byte, answered *sandbox.Answered) ([]byte, error) {
	var args [4]string
	if err := sandbox.Decode(body, &args); err != nil {
		return nil, err
	}
	var answer found
	object, err := lookup(ctx, args[0], args[1], args[2], args[3])
	if answer.Object = object; err != nil {
		answer = found{Failed: &sandbox.AnswerError{Text: err.Error(), Number: answered.Add(err)}}
	}
	return sandbox.Encode(answer)
}

func (f *failure) decode(answered *sandbox.Answered) error {
	switch {
	case f == nil:
		return nil
	case f.Invalid:
		return &StepError{f.Step, &Invalid{f.Text}}
	}
	return &StepError{f.Step, answered.Restore(f.Text, f.Answers)}
}

// Handlers are what the process does for a Process.
func Handlers() map[string]sandbox.Handler { return map[string]sandbox.Handler{handled: renderHere} }

func renderHere(ctx context.Context, body []byte, ask sandbox.Ask) ([]byte, error) {
	r := &request{}
	if err := sandbox.Decode(body, r); err != nil {
		return nil, err
	}
	chart, err := r.Chart.decode()
	if err != nil {
		return nil, err
	}
	in := Input{
		Chart: chart, Values: r.Values, Name: r.Name, Namespace: r.Namespace, Revision: r.Revision, Upgrade: r.Upgrade,
		Capabilities: r.Capabilities, SkipSchema: r.SkipSchema,
	}
	if r.Lookup {
		in.Lookup = askLookup(ask)
	}
	result, err := Here{}.Render(ctx, "", in, r.Want)
	answer := &response{Result: result, Failed: encodeFailure(err)}
	hooks := result.Hooks
	result.Hooks = nil
	if len(hooks) > 0 {
		if answer.Hooks, err = json.Marshal(hooks); err != nil {
			return nil, fmt.Errorf("encode hooks: %w", err)
		}
	}
	return sandbox.Encode(answer)
}

func askLookup(ask sandbox.Ask) Lookup {
	return func(_ context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
		body, err := sandbox.Encode([4]string{apiVersion, kind, namespace, name})
		if err != nil {
			return nil, err
		}
		raw, err := ask(body)
		if err != nil {
			return nil, err // the server's own words
		}
		var answer found
		if err := sandbox.Decode(raw, &answer); err != nil {
			return nil, err
		}
		if answer.Failed != nil {
			return nil, answer.Failed
		}
		return answer.Object, nil
	}
}

func encodeFailure(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error(), Answers: sandbox.AnswersIn(err)}
	var step *StepError
	if errors.As(err, &step) {
		f.Step = step.Step
	}
	var wrong *Invalid
	if errors.As(err, &wrong) {
		f.Invalid, f.Text = true, wrong.reason
	}
	return f
}
