package reference

import (
	slashpath "path"

	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// contextMap is the value of __ctx.
func (f *Finder) contextMap() value.Value {
	t := f.Site.Task
	name := f.Doc.Name
	resolved := name
	if f.Resolve != nil {
		resolved = f.Resolve(name)
	}
	b := value.NewBuilder(10)
	b.SetValue("VERSION", value.Text(f.Version))
	b.SetValue("FILE", value.Text(name))
	b.SetValue("DIR", value.Text(slashpath.Dir(name)))
	b.SetValue("RESOLVED_FILE", value.Text(resolved))
	b.SetValue("RESOLVED_DIR", value.Text(slashpath.Dir(resolved)))
	steps := t.Path.Steps(true)
	if t.Host != nil {
		steps = steps[:len(steps)-1]
	}
	b.SetValue("PATH", texts(steps))
	b.SetValue("PATHNAME", value.Data(joinSteps(steps)))
	b.SetValue("STUBPATH", texts(t.StubPath.Steps(true)))
	if outer := f.outerDocuments(); len(outer) > 0 {
		b.Set("OUTER", value.New(value.NewList(outer)))
	}
	if bindings := f.outermostBindings(); bindings != nil {
		b.Set("BINDINGS", bindings)
	} else {
		b.SetValue("BINDINGS", value.NewList(nil))
	}
	return b.Map()
}

// outerDocuments lists the roots of the outer documents, nearest first; the
// bindings come last.
func (f *Finder) outerDocuments() []*value.Node {
	var roots []*value.Node
	for outer := f.Doc.Outer; outer != nil; outer = outer.Doc.Outer {
		roots = append(roots, outer.Doc.Root)
	}
	if bindings := f.outermostBindings(); bindings != nil {
		roots = append(roots, bindings)
	}
	return roots
}

func (f *Finder) outermostBindings() *value.Node { return f.outermost().Bindings }

// outermost is the document that all others are nested in.
func (f *Finder) outermost() *work.Document {
	doc := f.Doc
	for doc.Outer != nil {
		doc = doc.Outer.Doc
	}
	return doc
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
