package expression

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

var markerFlags = map[string]value.Flags{
	"temporary": value.Temporary,
	"local":     value.Local,
	"state":     value.State,
	"inject":    value.Inject,
	"default":   value.Default,
	"dynamic":   value.Dynamic,
}

// marked evaluates an expression with markers in front.
func (e *Env) marked(x *syntax.Marked) (value.Value, error) {
	in := e.Info()
	var marker *work.TemplateMarker
	for _, m := range x.Markers {
		if m.Name == "template" {
			marker = &work.TemplateMarker{Body: x.Body, Source: x.Source}
		}
		in.Flags |= markerFlags[m.Name]
	}
	v, err := e.markedValue(x, marker)
	if err != nil {
		return nil, err
	}
	if _, isTemplate := v.(*scope.Template); in.Flags.Has(value.Dynamic) && !isTemplate && marker == nil {
		return nil, outcome.Fail("&dynamic needs a template")
	}
	return v, e.defineTags(x)
}

func (e *Env) markedValue(x *syntax.Marked, marker *work.TemplateMarker) (value.Value, error) {
	switch {
	case marker != nil && e.Site.Task.Host != nil:
		e.Info().Template = marker
		return value.Null{}, nil
	case marker != nil:
		return e.valueTemplate(marker)
	case x.Body == nil:
		return value.Null{}, nil
	}
	return e.Whole(x.Body)
}

// defineTags gives the node its tags; for an insert key that is the host.
func (e *Env) defineTags(x *syntax.Marked) error {
	for _, m := range x.Markers {
		if m.Name != "tag" {
			continue
		}
		n := e.Site.Node
		if host := e.Site.Task.Host; host != nil {
			n = host
		}
		if err := e.Doc.Tags.Define(m.Tag, n, e.Site.Task.ReportPath(), m.Global); err != nil {
			return err
		}
	}
	return nil
}
