package eval

import (
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// merge evaluates a merge expression.
func (e *env) merge(x *syntax.Merge) (value.Value, error) {
	in, t := e.info(), e.site.task
	in.key = x.On
	where, found := t.stubPath, t.stubs
	if x.Redirect {
		if len(x.Path) == 1 && x.Path[0].Key == "none" {
			in.none, in.merged = true, false
			return value.Null{}, nil
		}
		where = pathOf(x.Path)
		found = stubsOf(e.doc.stubs).follow(x.Path)
		in.redirect = &redirect{path: where, stubs: found}
	}
	n := found.first()
	if n == nil || value.IsUndefined(n.Value) {
		return nil, fail("'%s' not found in any stub", e.shownStub(where))
	}
	in.merged = true
	in.replace = x.Replace
	in.flags |= n.Flags
	return n.Value, nil
}
