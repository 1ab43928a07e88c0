package eval

import (
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
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
func (e *env) marked(x *syntax.Marked) (value.Value, error) {
	in := e.info()
	var marker *templateMarker
	for _, m := range x.Markers {
		if m.Name == "template" {
			marker = &templateMarker{body: x.Body, source: x.Source}
		}
		in.flags |= markerFlags[m.Name]
	}
	v, err := e.markedValue(x, marker)
	if err != nil {
		return nil, err
	}
	if _, isTemplate := v.(*template); in.flags.Has(value.Dynamic) && !isTemplate && marker == nil {
		return nil, fail("&dynamic needs a template")
	}
	return v, e.defineTags(x)
}

func (e *env) markedValue(x *syntax.Marked, marker *templateMarker) (value.Value, error) {
	switch {
	case marker != nil && e.site.task.host != nil:
		e.info().template = marker
		return value.Null{}, nil
	case marker != nil:
		return e.valueTemplate(marker)
	case x.Body == nil:
		return value.Null{}, nil
	}
	return e.whole(x.Body)
}

// defineTags gives the node its tags; for an insert key that is the host.
func (e *env) defineTags(x *syntax.Marked) error {
	for _, m := range x.Markers {
		if m.Name != "tag" {
			continue
		}
		n := e.site.node
		if host := e.site.task.host; host != nil {
			n = host
		}
		if err := e.doc.tags.define(m.Tag, n, e.site.task.reportPath(), m.Global); err != nil {
			return err
		}
	}
	return nil
}

// reportPath is the path of the node, for an insert key the path of its host.
func (t *task) reportPath() *path {
	if t.host != nil {
		return t.path.parent
	}
	return t.path
}
