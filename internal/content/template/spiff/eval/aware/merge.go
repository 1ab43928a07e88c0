package aware

import (
	"errors"

	"go.landscaper.dev/internal/content/template/spiff/eval/expression"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// mergeCall evaluates merge(template, stub…): a cascade of its own inside the
// current document.
func mergeCall(e *expression.Env, args []syntax.Expr) (value.Value, error) {
	nodes, undefined, err := e.Items(expression.ItemsOf(args))
	if err != nil || undefined {
		return value.Undefined{}, err
	}
	if l, ok := nodes[0].Value.(*value.List); ok && len(nodes) == 1 {
		nodes = l.Items
	}
	if len(nodes) == 0 {
		return nil, outcome.Fail("merge: the list is empty")
	}
	contents := make([]*value.Node, len(nodes))
	for i, n := range nodes {
		switch v := n.Value.(type) {
		case *value.Map:
			contents[i] = value.New(v)
		case *scope.Template:
			contents[i] = value.New(v.Content)
		}
		if contents[i] == nil || value.TypeName(contents[i].Value) != "map" {
			return nil, outcome.Fail("merge: argument %d must be a map or a map template, but is %s", i+1, value.A(n.Value))
		}
	}
	if err := e.EnterCall(); err != nil {
		return nil, err
	}
	defer e.LeaveCall()
	return mergeContents(e, contents)
}

func mergeContents(e *expression.Env, contents []*value.Node) (value.Value, error) {
	var roots []*value.Node
	for i := len(contents) - 1; i > 0; i-- {
		d := &work.Document{Name: e.Doc.Name, Stubs: roots, Outer: &e.Surroundings, Tags: work.NewTagTable(e.Doc.Tags.Global)}
		v, err := nestedDocument(e, d, contents[i])
		if err != nil {
			return nil, err
		}
		root := &value.Node{Value: value.DropFlagged(v, value.Local), Flags: d.Root.Flags}
		roots = append([]*value.Node{root}, roots...)
	}
	d := &work.Document{Name: e.Doc.Name, Stubs: roots, Outer: &e.Surroundings, Tags: work.NewTagTable(e.Doc.Tags.Global), Final: true}
	v, err := nestedDocument(e, d, contents[0])
	if err != nil {
		return nil, err
	}
	return value.DropFlagged(v, value.Temporary|value.Local), nil
}

// nestedDocument evaluates one document of a nested merge. As long as it waits
// for something outside, so does the merge.
func nestedDocument(e *expression.Env, d *work.Document, content *value.Node) (value.Value, error) {
	v, err := e.Process(d, content)
	var failed *outcome.Errors
	if !errors.As(err, &failed) {
		return v, err
	}
	first := failed.Nodes[0]
	if first.Class != outcome.Local {
		return nil, &outcome.Pending{Class: first.Class, Issue: outcome.Issue{Message: first.Message}}
	}
	return nil, &outcome.Failure{Issue: outcome.Issue{
		Message: "merge: " + first.Message,
		Nested:  outcome.NestedIssues(failed.Nodes, first.Nested),
	}}
}
