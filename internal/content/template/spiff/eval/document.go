// Package eval evaluates documents of the spiff language: stubs from the last one to the first,
// then the template with them, and what is left of a result when it is printed. Its subpackages,
// each of which needs only those before it:
//
//   - outcome: how the evaluation of a node ends, and the report of those without a value
//   - worklimit: how long an evaluation may go on
//   - embedded: the expressions in the texts of a document
//   - place: where something stands, in the document and in the stubs
//   - scope: which names are visible, and the values that remember them
//   - work: what is left to do at each node, and what one evaluation shares
//   - reference: which node a name or a path addresses
//   - operator: what operators make of two values
//   - expression: the value of an expression
//   - aware: functions that look at their arguments as expressions
//   - control: the control structures of YAML maps
//   - settle: nodes in the order in which they need each other
package eval

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/settle"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Input is the content of one document with its name.
type Input struct {
	Name    string
	Content *value.Node
}

// Prepared are stubs after their own processing, with the tags they define.
type Prepared struct {
	roots  []*value.Node
	global map[string]*work.Tag
}

// Prepare processes stubs from the last one to the first, each one with the
// ones behind it as its stubs.
func Prepare(ctx context.Context, config *work.Config, stubs []Input, bindings value.Value, tags map[string]value.Value) (p *Prepared, err error) {
	defer guard(&err)
	r := settle.New(ctx, config)
	p = &Prepared{global: map[string]*work.Tag{}}
	for name, v := range tags {
		p.global[name] = &work.Tag{Node: value.New(v), Path: "predefined"}
	}
	for i := len(stubs) - 1; i >= 0; i-- {
		root, err := prepare(r, stubs[i], p.roots, bindings, p.global)
		if err != nil {
			return nil, err
		}
		p.roots = append([]*value.Node{root}, p.roots...)
	}
	return p, nil
}

func prepare(r *settle.Runner, stub Input, behind []*value.Node, bindings value.Value, global map[string]*work.Tag) (*value.Node, error) {
	d := &work.Document{Name: stub.Name, Stubs: behind, Tags: work.NewTagTable(global), Bindings: bindingNode(bindings)}
	v, err := r.Process(d, stub.Content)
	if err != nil {
		return nil, err
	}
	return &value.Node{Value: value.DropFlagged(v, value.Local), Source: d.Root.Source, Flags: d.Root.Flags}, nil
}

func bindingNode(v value.Value) *value.Node {
	if v == nil {
		return nil
	}
	return value.New(v)
}

// Stream processes the documents of a template with prepared stubs.
type Stream struct {
	config   *work.Config
	prepared *Prepared
	bindings value.Value
	tags     *work.TagTable
}

// NewStream starts a stream of template documents.
func NewStream(config *work.Config, prepared *Prepared, bindings value.Value) *Stream {
	global := make(map[string]*work.Tag, len(prepared.global))
	for k, t := range prepared.global {
		global[k] = t
	}
	return &Stream{config: config, prepared: prepared, bindings: bindings, tags: work.NewTagTable(global)}
}

// Result is a processed template document.
type Result struct {
	// Value is the content, still with its markers.
	Value value.Value
	// Root are the markers of the document root.
	Root value.Flags
	// Failed are the nodes without a value, if they were asked to be left in.
	Failed []outcome.Node
}

// Process evaluates the next document. With partial set, nodes without a value
// stay in the result as their text.
func (s *Stream) Process(ctx context.Context, doc Input, partial bool) (result *Result, err error) {
	defer guard(&err)
	r := settle.New(ctx, s.config)
	s.tags.Doc++
	s.tags.Candidates = map[string][][]syntax.Step{}
	d := &work.Document{
		Name: doc.Name, Stubs: s.prepared.roots, Tags: s.tags, Final: true,
		Bindings: bindingNode(s.bindings),
	}
	v, err := r.Process(d, doc.Content)
	var failed *outcome.Errors
	if partial && errors.As(err, &failed) {
		return &Result{Value: partialValue(d.Root), Root: d.Root.Flags, Failed: failed.Nodes}, nil
	}
	if err != nil {
		return nil, err
	}
	number := strconv.Itoa(s.tags.Doc)
	s.tags.Local["doc."+number] = &work.Tag{Node: value.New(value.DropFlagged(v, 0)), Path: "document " + number, Doc: s.tags.Doc}
	return &Result{Value: v, Root: d.Root.Flags}, nil
}

// ErrInternal is in the chain of an error that a defect of the engine caused.
var ErrInternal = errors.New("internal error")

// guard turns a panic into an error: whatever a template does, the process that evaluates it
// continues.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = &outcome.Abort{Err: fmt.Errorf("%w: %v", ErrInternal, p)}
	}
}
