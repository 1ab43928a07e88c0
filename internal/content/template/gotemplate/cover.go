package gotemplate

import (
	"strconv"
	"strings"
	"text/template/parse"

	"go.landscaper.dev/internal/content/template/coverage"
)

// coverName is the function that records a branch. It is called at its beginning, as a guard is.
const coverName = "__cover"

// cover records both branches of a control structure, also the one that is not written.
func (g *guard) cover(node *parse.BranchNode) {
	if g.coverage == nil || g.program.computed || g.set != nil {
		return
	}
	text := map[parse.NodeType]string{parse.NodeIf: "if ", parse.NodeWith: "with ", parse.NodeRange: "range "}[node.NodeType] + node.Pipe.String()
	line := 1 + strings.Count(g.program.Text[:min(int(node.Pos), len(g.program.Text))], "\n")
	if node.ElseList == nil {
		node.ElseList = &parse.ListNode{NodeType: parse.NodeList, Pos: node.Pos}
	}
	g.record(node.List, coverage.Branch{Template: g.program.Name, Line: line, Text: text})
	g.record(node.ElseList, coverage.Branch{Template: g.program.Name, Line: line, Text: "else of " + text})
}

// record puts a call at the beginning of a branch.
func (g *guard) record(list *parse.ListNode, b coverage.Branch) {
	g.coverage.Know(b)
	g.branches = append(g.branches, b)
	call := check(coverName, list.Pos).(*parse.IfNode) // check makes one
	number := len(g.branches) - 1
	argument := &parse.NumberNode{NodeType: parse.NodeNumber, Pos: list.Pos, IsInt: true, Int64: int64(number), Text: strconv.Itoa(number)}
	call.Pipe.Cmds[0].Args = append(call.Pipe.Cmds[0].Args, argument)
	list.Nodes = append([]parse.Node{call}, list.Nodes...)
}

// covered records that a branch is executed.
func (r *renderer) covered(number int) bool {
	r.coverage.Hit(r.branches[number])
	return false
}
