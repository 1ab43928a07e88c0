package expression

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// merge evaluates a merge expression.
func (e *Env) merge(x *syntax.Merge) (value.Value, error) {
	in, t := e.Info(), e.Site.Task
	in.Key = x.On
	where, found := t.StubPath, t.Stubs
	if x.Redirect {
		if len(x.Path) == 1 && x.Path[0].Key == "none" {
			in.None, in.Merged = true, false
			return value.Null{}, nil
		}
		where = place.PathOf(x.Path)
		found = place.StubsOf(e.Doc.Stubs).Follow(x.Path)
		in.Redirect = &work.Redirect{Path: where, Stubs: found}
	}
	n := found.First()
	if n == nil || value.IsUndefined(n.Value) {
		return nil, outcome.Fail("'%s' not found in any stub", e.ShownStub(where))
	}
	in.Merged = true
	in.Replace = x.Replace
	in.Flags |= n.Flags
	return n.Value, nil
}
