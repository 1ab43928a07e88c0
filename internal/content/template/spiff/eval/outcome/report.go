package outcome

import (
	"fmt"
	"strings"
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
	At         int32
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
