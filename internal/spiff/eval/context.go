package eval

import (
	slashpath "path"

	"go.landscaper.dev/internal/spiff/value"
)

// context is the value of __ctx.
func (e *env) context() value.Value {
	t := e.site.task
	name := e.doc.name
	resolved := name
	if e.Resolve != nil {
		resolved = e.Resolve(name)
	}
	b := value.NewBuilder(10)
	b.SetValue("VERSION", value.Text(e.Version))
	b.SetValue("FILE", value.Text(name))
	b.SetValue("DIR", value.Text(slashpath.Dir(name)))
	b.SetValue("RESOLVED_FILE", value.Text(resolved))
	b.SetValue("RESOLVED_DIR", value.Text(slashpath.Dir(resolved)))
	steps := t.path.steps(true)
	if t.host != nil {
		steps = steps[:len(steps)-1]
	}
	b.SetValue("PATH", texts(steps))
	b.SetValue("PATHNAME", value.Data(joinSteps(steps)))
	b.SetValue("STUBPATH", texts(t.stubPath.steps(true)))
	if outer := e.outerDocuments(); len(outer) > 0 {
		b.Set("OUTER", value.New(value.NewList(outer)))
	}
	if bindings := e.outermostBindings(); bindings != nil {
		b.Set("BINDINGS", bindings)
	} else {
		b.SetValue("BINDINGS", value.NewList(nil))
	}
	return b.Map()
}

// outerDocuments lists the roots of the outer documents, nearest first; the
// bindings come last.
func (e *env) outerDocuments() []*value.Node {
	var roots []*value.Node
	for outer := e.doc.outer; outer != nil; outer = outer.doc.outer {
		roots = append(roots, outer.doc.root)
	}
	if bindings := e.outermostBindings(); bindings != nil {
		roots = append(roots, bindings)
	}
	return roots
}

func (e *env) outermostBindings() *value.Node {
	doc := e.doc
	for doc.outer != nil {
		doc = doc.outer.doc
	}
	return doc.bindings
}

func texts(list []string) *value.List {
	values := make([]value.Value, len(list))
	for i, s := range list {
		values[i] = value.Data(s) // steps can be keys from outside
	}
	return value.ListOf(values...)
}

func joinSteps(steps []string) string {
	text := ""
	for i, s := range steps {
		if i > 0 {
			text += "."
		}
		text += s
	}
	return text
}
