// Package eval evaluates documents of the spiff language: it settles the nodes
// of a document in the order in which they need each other, merges the stubs in
// and reports every node that got no value.
package eval

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// document is one document being processed.
type document struct {
	name      string
	root      *value.Node
	rootLevel *scope // the fields of a root that is a map
	stubs     []*value.Node
	bindings  *value.Node
	outer     *env // place of a nested merge in its outer document
	tags      *tagTable
	// final is set for the template: nobody will merge with its result.
	final bool
}

// rootScope returns the fields of the root, or nil if it is no map (yet).
func (d *document) rootScope() *scope {
	if d.rootLevel == nil && d.root != nil {
		if m, ok := d.root.Value.(*value.Map); ok && d.root.Work == nil {
			d.rootLevel = &scope{owner: d.root, fields: m}
		}
	}
	return d.rootLevel
}

// start places the content of a document.
func (r *run) start(d *document, content *value.Node) {
	d.tags.announce(content, nil)
	d.root = r.place(content, slot{
		doc: d, stubs: stubsOf(d.stubs), override: true, inner: true,
	})
}

// maxRounds bounds how often a document is evaluated again because tags were
// defined by expressions nobody announced.
const maxRounds = 10

// process evaluates a document completely. The error is an *Errors with all
// nodes that have no value, or an *Abort.
func (r *run) process(d *document, content *value.Node) (value.Value, error) {
	r.start(d, content)
	for round := 0; ; round++ {
		known := d.tags.defined
		if err := r.settleAll(d.root); err != nil {
			return nil, err
		}
		nodes := r.report(d.root)
		if len(nodes) == 0 {
			break
		}
		if d.tags.defined == known || round == maxRounds || !waitsForTag(nodes) {
			return nil, &Errors{Nodes: nodes}
		}
		reset(d.root)
	}
	var v value.Value
	err := r.drive(d.root, func(n *value.Node) (err error) {
		v, err = r.deep(n)
		return err
	})
	if err != nil {
		var abort *Abort
		if errors.As(err, &abort) {
			return nil, abort
		}
		return nil, &Errors{Nodes: []Node{{Class: Local, Message: err.Error(), Source: d.name}}}
	}
	return v, nil
}

// waitsForTag tells whether a node failed because a tag was unknown.
func waitsForTag(nodes []Node) bool {
	for _, n := range nodes {
		if n.Class == Local && strings.Contains(n.Expression, "::") {
			return true
		}
	}
	return false
}

// reset makes all nodes without a value ready for another evaluation.
func reset(n *value.Node) {
	t, ok := n.Work.(*task)
	if ok {
		t.deepErr = nil
		if t.state == blocked {
			t.state, t.err, t.inserts = fresh, nil, nil
			return
		}
	}
	switch v := n.Value.(type) {
	case *value.List:
		for _, item := range v.Items {
			reset(item)
		}
	case *value.Map:
		for _, item := range v.Items {
			reset(item)
		}
	}
}

// Input is the content of one document with its name.
type Input struct {
	Name    string
	Content *value.Node
}

// Prepared are stubs after their own processing, with the tags they define.
type Prepared struct {
	roots  []*value.Node
	global map[string]*tag
}

// Prepare processes stubs from the last one to the first, each one with the
// ones behind it as its stubs.
func Prepare(ctx context.Context, config *Config, stubs []Input, bindings value.Value, tags map[string]value.Value) (p *Prepared, err error) {
	defer guard(&err)
	r := newRun(ctx, config)
	p = &Prepared{global: map[string]*tag{}}
	for name, v := range tags {
		p.global[name] = &tag{node: value.New(v), path: "predefined"}
	}
	for i := len(stubs) - 1; i >= 0; i-- {
		root, err := r.prepare(stubs[i], p.roots, bindings, p.global)
		if err != nil {
			return nil, err
		}
		p.roots = append([]*value.Node{root}, p.roots...)
	}
	return p, nil
}

func (r *run) prepare(stub Input, behind []*value.Node, bindings value.Value, global map[string]*tag) (*value.Node, error) {
	d := &document{name: stub.Name, stubs: behind, tags: newTagTable(global), bindings: bindingNode(bindings)}
	v, err := r.process(d, stub.Content)
	if err != nil {
		return nil, err
	}
	return &value.Node{Value: dropFlagged(v, value.Local), Source: d.root.Source, Flags: d.root.Flags}, nil
}

func bindingNode(v value.Value) *value.Node {
	if v == nil {
		return nil
	}
	return value.New(v)
}

// Stream processes the documents of a template with prepared stubs.
type Stream struct {
	config   *Config
	prepared *Prepared
	bindings value.Value
	tags     *tagTable
}

// NewStream starts a stream of template documents.
func NewStream(config *Config, prepared *Prepared, bindings value.Value) *Stream {
	global := make(map[string]*tag, len(prepared.global))
	for k, t := range prepared.global {
		global[k] = t
	}
	return &Stream{config: config, prepared: prepared, bindings: bindings, tags: newTagTable(global)}
}

// Result is a processed template document.
type Result struct {
	// Value is the content, still with its markers.
	Value value.Value
	// Root are the markers of the document root.
	Root value.Flags
	// Failed are the nodes without a value, if they were asked to be left in.
	Failed []Node
}

// Process evaluates the next document. With partial set, nodes without a value
// stay in the result as their text.
func (s *Stream) Process(ctx context.Context, doc Input, partial bool) (result *Result, err error) {
	defer guard(&err)
	r := newRun(ctx, s.config)
	s.tags.doc++
	s.tags.candidates = map[string][][]syntax.Step{}
	d := &document{
		name: doc.Name, stubs: s.prepared.roots, tags: s.tags, final: true,
		bindings: bindingNode(s.bindings),
	}
	v, err := r.process(d, doc.Content)
	var failed *Errors
	if partial && errors.As(err, &failed) {
		return &Result{Value: partialValue(d.root), Root: d.root.Flags, Failed: failed.Nodes}, nil
	}
	if err != nil {
		return nil, err
	}
	number := strconv.Itoa(s.tags.doc)
	s.tags.local["doc."+number] = &tag{node: value.New(dropFlagged(v, 0)), path: "document " + number, doc: s.tags.doc}
	return &Result{Value: v, Root: d.root.Flags}, nil
}

// ErrInternal is in the chain of an error that a defect of the engine caused.
var ErrInternal = errors.New("internal error")

// guard turns a panic into an error: whatever a template does, the process
// that evaluates it goes on.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = &Abort{Err: fmt.Errorf("%w: %v", ErrInternal, p)}
	}
}
