// Package work holds what an evaluation works on: documents, what is left to do at
// their nodes, the tags that they define, and what all parts of one evaluation share.
package work

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Document is one document being processed.
type Document struct {
	Name      string
	Root      *value.Node
	RootLevel *scope.Level // the fields of a root that is a map
	Stubs     []*value.Node
	Bindings  *value.Node
	Outer     *Surroundings // place of a nested merge in its outer document
	Tags      *TagTable
	// Final is set for the template: no other document merges with its result.
	Final bool
}

// RootScope returns the fields of the root, or nil if the root is not a map (yet).
func (d *Document) RootScope() *scope.Level {
	if d.RootLevel == nil && d.Root != nil {
		if m, ok := d.Root.Value.(*value.Map); ok && d.Root.Work == nil {
			d.RootLevel = &scope.Level{Owner: d.Root, Fields: m}
		}
	}
	return d.RootLevel
}

// Slot is a place in the document that is being built.
type Slot struct {
	Doc      *Document
	Scope    *scope.Level
	Path     *place.Path // as reported
	StubPath *place.Path // as looked up in the stubs
	Stubs    *place.Stubs
	// Override allows a stub value to replace the node, Inner the fields below.
	Override, Inner bool
	// InDefault is set below a map that is marked as default.
	InDefault bool
	// Host is the map or list that an insert expression belongs to.
	Host *value.Node
}

// State is the progress of a task.
type State uint8

// The states of a task.
const (
	Fresh   State = iota
	Running       // further up in the chain of evaluations
	Done          // top level settled
	Blocked       // failed or pending, see err
)

// Task is the work left on a node: an expression to evaluate, a map or list
// to complete.
type Task struct {
	Slot
	Raw   value.Value
	State State
	Err   error
	// DeepErr keeps why the content below a settled top level is not finished.
	DeepErr error
	Info    *Info
	// Inserts are the insert keys of the node, kept for the report; Insert is
	// the work of the last one.
	Inserts []*value.Node
	Insert  *Task
	// Expr, Expression and Refers are what the report shows.
	Expr               syntax.Expr
	Expression, Refers string
	Reevaluated        int
}

// Info collects what an expression says about the node hosting it.
type Info struct {
	Flags    value.Flags
	Merged   bool // the value came from the stubs
	None     bool // stub override is switched off
	Replace  bool
	Prefer   bool
	Redirect *Redirect
	Key      string // key field for a list
	Template *TemplateMarker
}

// Redirect is the place in the stubs that replaces the implied one.
type Redirect struct {
	Path  *place.Path
	Stubs *place.Stubs
}

// ReportPath is the path of the node, for an insert key the path of its host.
func (t *Task) ReportPath() *place.Path {
	if t.Host != nil {
		return t.Path.Parent
	}
	return t.Path
}

// Shown is the expression as the report shows it.
func (t *Task) Shown() string {
	if t.Expression == "" && t.Expr != nil {
		return "(( " + syntax.String(t.Expr) + " ))"
	}
	return t.Expression
}

// Leaves reports whether nothing can happen in a structure of that shape.
func (s Slot) Leaves(shape value.Shape) bool {
	return !shape.Active && s.Stubs == nil && (!s.Doc.Final || !shape.Marked)
}

// Site is the node that an expression belongs to. Calls and mappings stay at
// the site of the outermost expression.
type Site struct {
	Node *value.Node
	Task *Task
}

// Surroundings are what an expression sees: its document, the names that are visible,
// and the node that it belongs to.
type Surroundings struct {
	Doc   *Document
	Scope *scope.Level
	Site  *Site
}

// TemplateMarker is a template marker found in an expression.
type TemplateMarker struct {
	Body   syntax.Expr
	Source string
}

// Info is what the expression says about its node.
func (s *Surroundings) Info() *Info { return s.Site.Task.Info }
