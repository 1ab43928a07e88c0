package template

import (
	"context"
	"fmt"
	"strings"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/template/gotemplate"
)

func (e *Engine) config() gotemplate.Config {
	return gotemplate.Config{Files: e.Files, Functions: e.Functions.GoTemplate, Limits: gotemplate.Limits{Duration: e.timeout(), Steps: e.steps}}
}

// goTemplate renders a Go template.
func (e *Engine) goTemplate(ctx context.Context, s source, in Input, state any) (*Output, error) {
	bindings := in.Bindings
	if in.Phase != ImportExecution {
		bindings = make(map[string]any, len(in.Bindings)+1)
		for name, value := range in.Bindings {
			bindings[name] = value
		}
		bindings["state"] = map[string]any{}
		if state != nil {
			bindings["state"] = state
		}
	}
	rendered, err := e.config().Render(ctx, s.goTemplate(), bindings)
	if err != nil {
		return nil, describe(err, s, bindings)
	}
	if missing := rendered.Missing(); len(missing) > 0 && in.Phase != ImportExecution {
		return nil, missingError(s, in.Phase, rendered, missing, bindings)
	}
	return goTemplateOutput(s, rendered, in, state)
}

// goTemplateOutput takes what a template printed. An output that is not a document fails when it is
// decoded.
func goTemplateOutput(s source, rendered *gotemplate.Result, in Input, state any) (*Output, error) {
	out := &Output{source: s, rendered: rendered}
	out.parse(rendered.Text)
	if in.Phase == ImportExecution {
		return out, nil
	}
	next, err := newState(state, out.Field("state"))
	if err != nil {
		return nil, fmt.Errorf("%s: unable to store state: %w", s.what(), err)
	}
	out.state = next
	return out, nil
}

func (o *Output) parse(text []byte) {
	raw, err := yamltext.ToJSON(text, yamltext.Lenient())
	if err == nil {
		err = o.take(raw)
	}
	o.broken = err
}

// maxMissing bounds the places that a message shows.
const maxMissing = 10

// missingError explains that a template printed "<no value>".
func missingError(s source, phase Phase, rendered *gotemplate.Result, missing []gotemplate.Missing, bindings map[string]any) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: template %q contains fields with %q:", s.what(), phase, "no value")
	out.WriteString(" a name is misspelt, or a value does not exist")
	for i, m := range missing {
		if i == maxMissing {
			fmt.Fprintf(&out, "\nand %d more", len(missing)-maxMissing)
			break
		}
		fmt.Fprintf(&out, "\nline %d:%d", m.Line, m.Column)
		if m.Action != "" {
			fmt.Fprintf(&out, ", printed by {{ %s }} in %s:%d", clip(m.Action), m.Source, m.At)
		}
		out.WriteString("\n" + snippet(rendered.Line, m.Line, m.Column))
	}
	out.WriteString("\ntemplate input:\n" + types(bindings))
	return &describedError{message: bounded(out.String())}
}
