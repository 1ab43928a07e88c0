package console

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
)

// Page is the page of an Installation.
type Page struct {
	Frame
	// Missing says that there is no such Installation; then there is nothing else.
	Missing bool `json:"missing,omitempty"`
	// Row is the Installation itself, and Above what it is a part of, the root first.
	Row
	Above []Object `json:"above,omitempty"`
	// Ways are why it is not ready: each leads from the Installation to a cause.
	Ways [][]Hop `json:"ways,omitempty"`
	// PlanWait says what the next job waits for whose plan may be stored; empty if none waits. PlanAhead
	// says that it waits for a time: most of these jobs need no approval, and have no plan.
	PlanWait  string `json:"planWait,omitempty"`
	PlanAhead bool   `json:"planAhead,omitempty"`
	// Tree is what belongs to it.
	Tree *Branch `json:"tree,omitempty"`
	// Flow is how values flow between its children; nil without any.
	Flow *flowview.Scope `json:"flow,omitempty"`
	// Imports and Exports are its values.
	Imports []Value `json:"imports,omitempty"`
	Exports []Value `json:"exports,omitempty"`
	// Items are all DeployItems of the tree.
	Items []Item `json:"items,omitempty"`
	// Jobs are its jobs, the newest first.
	Jobs []Job `json:"jobs,omitempty"`
	// Timeline is the current or last job.
	Timeline *Timeline `json:"timeline,omitempty"`
	// Events are what happened in the tree, the newest first.
	Events []inspect.Entry `json:"events,omitempty"`
}

// Hop is an object on the way to a cause, with what it says.
type Hop struct {
	Object
	Why string `json:"why,omitempty"`
	// Beside says that the object is a sibling of the one before it, which waits for its exports.
	Beside bool `json:"beside,omitempty"`
}

// Branch is an object of the tree.
type Branch struct {
	Object
	Target   string    `json:"target,omitempty"`
	Why      string    `json:"why,omitempty"`
	Warnings string    `json:"warnings,omitempty"`
	Children []*Branch `json:"children,omitempty"`
}

// Item is a DeployItem.
type Item struct {
	Object
	Type   string `json:"type"`
	Target string `json:"target,omitempty"`
	// Error is the last error that the item publishes; a later success leaves none.
	Error     string       `json:"error,omitempty"`
	Operation string       `json:"operation,omitempty"`
	Codes     []string     `json:"codes,omitempty"`
	ErrorTime *metav1.Time `json:"errorTime,omitempty"`
}

// page returns the page of an Installation.
func (s *state) page(namespace, name string) Page {
	p := Page{Frame: s.frame()}
	node := s.installations[types.NamespacedName{Namespace: namespace, Name: name}]
	if node == nil {
		p.Missing, p.Namespace, p.Name = true, namespace, name
		return p
	}
	p.Row, p.Above, p.Tree = s.row(node), s.lineage(node), s.branch(node)
	for _, cause := range inspect.Causes(node) {
		p.Ways = append(p.Ways, s.way(node, cause))
	}
	if scope := flowview.Of([]*inspect.Node{node}); len(scope.Units) > 0 {
		p.Flow = scope.Units[0].Inside
	}
	p.PlanWait, p.PlanAhead = planWait(node)
	p.Imports, p.Exports = s.values(node)
	node.Walk(func(below *inspect.Node) {
		if below.DeployItem != nil {
			p.Items = append(p.Items, s.item(below))
		}
	})
	p.Jobs, p.Timeline = s.jobsOf(node), s.timeline(node)
	p.Events = inspect.EventsOf(node, s.snapshot.Events)
	slices.Reverse(p.Events)
	p.Events = p.Events[:min(len(p.Events), shown)]
	return p
}

func (s *state) branch(node *inspect.Node) *Branch {
	b := &Branch{Object: s.object(node), Target: node.Target, Why: node.Why(), Warnings: node.Warnings}
	for _, child := range node.Children {
		b.Children = append(b.Children, s.branch(child))
	}
	return b
}

func (s *state) item(node *inspect.Node) Item {
	i := Item{Object: s.object(node), Type: string(node.DeployItem.Spec.Type), Target: node.Target}
	if last := node.LastError; last != nil {
		i.Error, i.Operation, i.ErrorTime = cmp.Or(last.Message, last.Reason), last.Operation, &last.LastUpdateTime
		for _, code := range last.Codes {
			i.Codes = append(i.Codes, string(code))
		}
	}
	return i
}

// way returns the hops from an Installation to a cause. A cause that waits for exports of siblings
// leads on to the first of them that is not ready, and to its cause.
func (s *state) way(from *inspect.Node, cause inspect.Cause) []Hop {
	seen := map[*inspect.Node]bool{}
	hops := s.down(from, cause.Node, cause.Message, seen)
	at := cause.Node
	for {
		beside := s.awaited(at)
		if beside == nil || seen[beside] {
			return hops
		}
		at, cause = beside, inspect.Cause{Node: beside}
		if causes := inspect.Causes(beside); len(causes) > 0 {
			at, cause = causes[0].Node, causes[0]
		}
		below := s.down(beside, at, cause.Message, seen)
		below[0].Beside = true
		hops = append(hops, below...)
	}
}

// down returns the hops from a node to one below it, which has the last word.
func (s *state) down(from, to *inspect.Node, message string, seen map[*inspect.Node]bool) []Hop {
	var hops []Hop
	for node := to; node != nil; node = s.above[node] {
		seen[node] = true
		hop := Hop{Object: s.object(node), Why: node.Why()}
		if node == to {
			hop.Why = cmp.Or(message, hop.Why)
		}
		hops = append([]Hop{hop}, hops...)
		if node == from {
			break
		}
	}
	return hops
}

// awaited returns an item that comes before an item, or the sibling that an Installation waits for.
func (s *state) awaited(node *inspect.Node) *inspect.Node {
	if before := node.ItemsBefore(); len(before) > 0 {
		return s.itemBefore(node, before)
	}
	return inspect.Awaited(node, s.above[node], s.siblings(node))
}

// siblings are the Installations of the same scope, the node included.
func (s *state) siblings(node *inspect.Node) []*inspect.Node {
	among := s.forest
	if parent := s.above[node]; parent != nil {
		among = parent.Children
	}
	return slices.DeleteFunc(slices.Clone(among), func(sibling *inspect.Node) bool {
		return sibling.Installation == nil || sibling.Namespace != node.Namespace
	})
}
