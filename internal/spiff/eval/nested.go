package eval

import (
	"errors"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// mergeCall evaluates merge(template, stub…): a cascade of its own inside the
// current document.
func (e *env) mergeCall(args []syntax.Expr) (value.Value, error) {
	nodes, undefined, err := e.items(itemsOf(args))
	if err != nil || undefined {
		return value.Undefined{}, err
	}
	if l, ok := nodes[0].Value.(*value.List); ok && len(nodes) == 1 {
		nodes = l.Items
	}
	if len(nodes) == 0 {
		return nil, fail("merge: the list is empty")
	}
	contents := make([]*value.Node, len(nodes))
	for i, n := range nodes {
		switch v := n.Value.(type) {
		case *value.Map:
			contents[i] = value.New(v)
		case *template:
			contents[i] = value.New(v.content)
		}
		if contents[i] == nil || value.TypeName(contents[i].Value) != "map" {
			return nil, fail("merge: argument %d must be a map or a map template, but is %s", i+1, value.A(n.Value))
		}
	}
	if err := e.run.call(); err != nil {
		return nil, err
	}
	defer func() { e.run.calls-- }()
	return e.mergeContents(contents)
}

func (e *env) mergeContents(contents []*value.Node) (value.Value, error) {
	var roots []*value.Node
	for i := len(contents) - 1; i > 0; i-- {
		d := &document{name: e.doc.name, stubs: roots, outer: e, tags: newTagTable(e.doc.tags.global)}
		v, err := e.nestedDocument(d, contents[i])
		if err != nil {
			return nil, err
		}
		root := &value.Node{Value: dropFlagged(v, value.Local), Flags: d.root.Flags}
		roots = append([]*value.Node{root}, roots...)
	}
	d := &document{name: e.doc.name, stubs: roots, outer: e, tags: newTagTable(e.doc.tags.global), final: true}
	v, err := e.nestedDocument(d, contents[0])
	if err != nil {
		return nil, err
	}
	return dropFlagged(v, value.Temporary|value.Local), nil
}

// nestedDocument evaluates one document of a nested merge. As long as it waits
// for something outside, so does the merge.
func (e *env) nestedDocument(d *document, content *value.Node) (value.Value, error) {
	if err := e.step(value.ShapeOf(content.Value).Size / 4); err != nil {
		return nil, err
	}
	v, err := e.process(d, content)
	var failed *Errors
	if !errors.As(err, &failed) {
		return v, err
	}
	first := failed.Nodes[0]
	if first.Class != Local {
		return nil, &Pending{Class: first.Class, Issue: Issue{Message: first.Message}}
	}
	return nil, &Failure{Issue: Issue{
		Message: "merge: " + first.Message,
		Nested:  nestedIssues(failed.Nodes, first.Nested),
	}}
}

// ownDocument evaluates content as a document whose absolute references stay
// inside.
func (r *run) ownDocument(content *value.Node, level slot) (value.Value, error) {
	level.doc.tags = newTagTable(level.doc.tags.global)
	return r.content(content.Value, level)
}
