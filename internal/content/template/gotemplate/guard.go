package gotemplate

import (
	"fmt"
	"reflect"
	"strconv"
	"text/template"
	"text/template/parse"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// text/template cannot be interrupted, and a loop over a large number calls
// nothing and prints nothing. Therefore the parsed template gets calls of the
// functions below: one at the beginning of every loop body and of every named
// template, one behind what a loop ranges over, and one behind everything that is
// printed. Authors cannot call them: they are added after parsing.
const (
	enterName = "__enter"
	leaveName = "__leave"
	roundName = "__round"
	rangeName = "__range"
	printName = "__print"
)

// guard puts the checks into a parsed program.
func (r *renderer) guard(p *program) {
	g := &guard{renderer: r, program: p}
	for _, t := range p.template.Templates() {
		if t.Tree == nil || t.Root == nil {
			continue
		}
		g.tree(t)
	}
	p.template.Funcs(r.guards())
}

// guards are the functions that only guards call.
func (r *renderer) guards() template.FuncMap {
	return template.FuncMap{enterName: r.enter, leaveName: r.leave, roundName: r.round, rangeName: r.ranged, printName: r.print, coverName: r.covered}
}

// tree puts the checks into one named template.
func (g *guard) tree(t *template.Template) {
	g.list(t.Root)
	nodes := append([]parse.Node{check(enterName, t.Root.Pos)}, t.Root.Nodes...)
	t.Root.Nodes = append(nodes, check(leaveName, t.Root.Pos))
}

type guard struct {
	*renderer
	program *program
}

func (g *guard) list(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		g.node(node)
	}
}

func (g *guard) node(node parse.Node) {
	switch node := node.(type) {
	case *parse.TextNode:
		if len(node.Text) > 0 {
			g.literals[&node.Text[0]] = place{program: g.program, offset: node.Pos}
			g.program.literals = append(g.program.literals, &node.Text[0])
		}
	case *parse.ActionNode:
		if len(node.Pipe.Decl) == 0 {
			g.prints = append(g.prints, place{program: g.program, offset: node.Pos, text: node.Pipe.String()})
			appendCall(node.Pipe, printName, len(g.prints)-1)
		}
	case *parse.IfNode:
		g.branch(&node.BranchNode)
	case *parse.WithNode:
		g.branch(&node.BranchNode)
	case *parse.RangeNode:
		g.branch(&node.BranchNode)
		appendCall(node.Pipe, rangeName, len(node.Pipe.Decl))
		node.List.Nodes = append([]parse.Node{check(roundName, node.Pos)}, node.List.Nodes...)
	}
}

func (g *guard) branch(node *parse.BranchNode) {
	g.list(node.List)
	g.list(node.ElseList)
	g.cover(node)
}

// appendCall makes the value of a pipeline the last argument of a function.
func appendCall(pipe *parse.PipeNode, name string, argument int) {
	number := &parse.NumberNode{NodeType: parse.NodeNumber, Pos: pipe.Pos, IsInt: true, Int64: int64(argument), Text: strconv.Itoa(argument)}
	pipe.Cmds = append(pipe.Cmds, command(pipe.Pos, parse.NewIdentifier(name).SetPos(pipe.Pos), number))
}

// check is {{ if FUNCTION }}{{ end }}, which prints nothing.
func check(name string, pos parse.Pos) parse.Node {
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{command(pos, parse.NewIdentifier(name).SetPos(pos))}}
	return &parse.IfNode{BranchNode: parse.BranchNode{
		NodeType: parse.NodeIf, Pos: pos, Pipe: pipe, List: &parse.ListNode{NodeType: parse.NodeList, Pos: pos},
	}}
}

func command(pos parse.Pos, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: args}
}

func (r *renderer) enter() (bool, error) {
	if r.calls++; r.calls > maxCalls {
		return false, &failure.Refusal{Reason: fmt.Sprintf("named templates call each other more than %d levels deep", maxCalls)}
	}
	return false, r.Step()
}

func (r *renderer) leave() bool {
	r.calls--
	return false
}

func (r *renderer) round() (bool, error) { return false, r.Step() }

// ranged checks what a loop ranges over. text/template would print the value in
// its error.
func (r *renderer) ranged(variables int, value any) (any, error) {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid, reflect.Array, reflect.Slice, reflect.Map:
		return value, nil
	case reflect.Int, reflect.Int64:
		if variables > 1 {
			return nil, &failure.Refusal{Reason: "range over a number has only one variable"}
		}
		return value, nil
	}
	return nil, &failure.Refusal{Reason: fmt.Sprintf("range can't iterate over a value of type %s", operand.TypeName(value))}
}

// print returns what is printed for a value, and notes where something is printed
// that does not exist.
func (r *renderer) print(number int, value any) (string, error) {
	if err := r.Step(); err != nil {
		return "", err
	}
	if value == nil {
		if r.set != nil {
			return "", nil
		}
		r.out.missing(number)
		return noValue, nil
	}
	if text, isText := value.(string); isText {
		return text, nil
	}
	switch kind := reflect.TypeOf(value).Kind(); kind {
	case reflect.Chan, reflect.Func:
		return "", &failure.Refusal{Reason: fmt.Sprintf("can't print a value of type %s", operand.TypeName(value))}
	}
	return fmt.Sprint(operand.Digits(value)), nil
}
