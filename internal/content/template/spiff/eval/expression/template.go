package expression

import (
	"errors"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// valueTemplate makes the template of a single value.
func (e *Env) valueTemplate(m *work.TemplateMarker) (value.Value, error) {
	if m.Body == nil {
		return nil, outcome.Fail("empty template value")
	}
	t := &scope.Template{
		Content: value.Text("((" + m.Source + "))"),
		Printed: value.Data("(( &template (" + m.Source + ") ))"),
		Place:   e.Scope,
	}
	return t, nil
}

func (e *Env) instantiate(x *syntax.Instantiate) (value.Value, error) {
	v, err := e.Whole(x.Operand)
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	t, ok := v.(*scope.Template)
	if !ok {
		return nil, outcome.Fail("template value required, but %s is %s", syntax.Describe(x.Operand), value.A(v))
	}
	return e.Instance(t, syntax.Describe(x.Operand))
}

// Instance evaluates a copy of the template content at the current place.
func (e *Env) Instance(t *scope.Template, name string) (value.Value, error) {
	level := e.Site.Task.Slot
	level.Scope = e.Scope.WithSelf(t)
	level.Override, level.Inner, level.Host, level.InDefault = false, false, nil, false
	v, err := e.Content(t.Content, level)
	if failed, ok := errors.AsType[*outcome.Failure](err); ok {
		return nil, &outcome.Failure{Issue: outcome.Issue{
			Message: "resolution of template '" + name + "' failed",
			Nested:  outcome.Nested(failed.Issue),
		}}
	}
	return v, err
}
