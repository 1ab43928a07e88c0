package eval

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// Node is a node without a value in an error report.
type Node struct {
	Path       string
	RefPath    string
	Expression string
	Source     string
	Class      Class
	Message    string
	Nested     []Issue
	line       int32
}

// Line is the report line of the node.
func (n Node) Line() string {
	return fmt.Sprintf("%s\tin %s\t%s\t(%s)\t%c%s", indent(n.Expression, "\t"), n.Source, n.Path, n.RefPath,
		n.Class, indent(n.Message, "\t"))
}

// indent keeps the lines of a text and indents all but the first.
func indent(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }

// Errors is the report of all nodes without a value.
type Errors struct{ Nodes []Node }

// Error is the text form of the report.
func (e *Errors) Error() string {
	var b strings.Builder
	b.WriteString("unresolved nodes:")
	for _, n := range e.Nodes {
		b.WriteString("\n\t" + n.Line())
		writeNested(&b, n.Nested, 2)
	}
	return b.String()
}

func writeNested(b *strings.Builder, issues []Issue, level int) {
	tabs := strings.Repeat("\t", level)
	for _, issue := range issues {
		b.WriteString("\n" + tabs + indent(issue.Message, tabs))
		writeNested(b, issue.Nested, level+1)
	}
}

// report lists the nodes below n that have no value: local failures first,
// then what waits, then what follows from failures; in document order.
func (r *run) report(n *value.Node) []Node {
	w := &reporter{run: r}
	w.walk(n, 0)
	rank := map[Class]int{Local: 0, Waiting: 1, Follower: 2}
	sort.SliceStable(w.nodes, func(i, j int) bool {
		a, b := w.nodes[i], w.nodes[j]
		if a.Class != b.Class {
			return rank[a.Class] < rank[b.Class]
		}
		return a.line < b.line
	})
	return w.nodes
}

type reporter struct {
	*run
	nodes []Node
}

func (w *reporter) walk(n *value.Node, line int32) {
	if n.Line > 0 {
		line = n.Line
	}
	t, _ := n.Work.(*task)
	if t != nil && t.state == blocked {
		w.blocked(n, t, line)
		return
	}
	if t == nil && !value.IsOpen(n.Value) {
		return
	}
	switch v := n.Value.(type) {
	case *value.List:
		for _, item := range v.Items {
			w.walk(item, line)
		}
	case *value.Map:
		for _, item := range v.Items {
			w.walk(item, line)
		}
	}
}

func (w *reporter) blocked(n *value.Node, t *task, line int32) {
	found := len(w.nodes)
	for _, insert := range t.inserts {
		w.walk(insert, line)
	}
	if len(w.nodes) > found {
		return
	}
	node := Node{
		Path: t.path.report(w.Settings.Sensitive), RefPath: t.refers, Expression: t.shown(),
		Class: Local, line: line, Source: t.doc.name,
	}
	if n.Source != nil {
		node.Source = n.Source.Name
	}
	if pending, ok := errors.AsType[*Pending](t.err); ok {
		node.Class, node.Message, node.Nested = pending.Class, pending.Issue.Message, pending.Issue.Nested
	} else if failed, ok := errors.AsType[*Failure](t.err); ok {
		node.Message, node.Nested = failed.Issue.Message, failed.Issue.Nested
	} else {
		node.Message = t.err.Error()
	}
	if node.Message == "" {
		node.Message = "failed without a message"
	}
	w.nodes = append(w.nodes, node)
}

// shown is the expression as the report shows it.
func (t *task) shown() string {
	if t.expression == "" && t.expr != nil {
		return "(( " + syntax.String(t.expr) + " ))"
	}
	return t.expression
}
