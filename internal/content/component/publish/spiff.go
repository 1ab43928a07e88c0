package publish

import (
	"bytes"
	"context"
	"fmt"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/template/spiff"
)

// template evaluates a spiff template. It sees the values of the input as inputvalues
// and the variables of the constructor file as values, and nothing of this machine.
func (p *publication) template(ctx context.Context, input *Input) (content, error) {
	fail := func(err error) (content, error) {
		return content{}, fmt.Errorf("input of type %q: %w", input.Type, err)
	}
	text, err := readInput(p.options.Directory, input.Path)
	if err != nil {
		return fail(err)
	}
	documents, err := spiff.Parse(text, input.Path)
	if err != nil {
		return fail(err)
	}
	merged, err := input.bindings(p.options.Directory, p.options.Variables)
	if err != nil {
		return fail(err)
	}
	engine, err := spiff.New(spiff.Config{Access: spiff.AccessNone})
	if err != nil {
		return fail(err)
	}
	var out bytes.Buffer
	for i, document := range documents {
		result, err := engine.Process(ctx, document, merged, spiff.Options{})
		if err != nil {
			return fail(fmt.Errorf("evaluate the template %s: %w", input.Path, err))
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		if err := result.WriteYAML(&out); err != nil {
			return fail(err)
		}
	}
	return input.finish(out.Bytes(), "application/octet-stream")
}

// bindings are what a template sees beside itself.
func (i *Input) bindings(base string, variables map[string]string) (spiff.Input, error) {
	texts := map[string]any{}
	for name, value := range variables {
		texts[name] = value
	}
	found := spiff.Input{Bindings: map[string]any{"values": texts}}
	if i.Values != nil {
		own, err := jsonvalue.FromJSON(i.Values)
		if err != nil {
			return found, fmt.Errorf("values: %w", err)
		}
		found.Bindings["inputvalues"] = own
	}
	for _, name := range i.Libraries {
		text, err := readInput(base, name)
		if err != nil {
			return found, fmt.Errorf("library %s: %w", name, err)
		}
		library, err := spiff.ParseOne(text, name)
		if err != nil {
			return found, fmt.Errorf("library %s: %w", name, err)
		}
		found.Stubs = append(found.Stubs, library)
	}
	return found, nil
}
